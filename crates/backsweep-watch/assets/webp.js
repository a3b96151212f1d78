// An animated WebP: the browser encodes each picture, and this file puts them into one container (RIFF, as in the WebP
// container specification).

const ascii = (text) => [...text].map((c) => c.charCodeAt(0));
const number = (value, bytes) => Array.from({ length: bytes }, (_, i) => (value >>> (8 * i)) & 255);

function chunk(name, parts) {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  return [ascii(name), number(length, 4), ...parts, ...(length % 2 ? [[0]] : [])];
}

/** The chunks of a still picture that hold its pixels. */
function pixels(bytes) {
  const found = [];
  for (let at = 12; at + 8 <= bytes.length; ) {
    const name = String.fromCharCode(...bytes.subarray(at, at + 4));
    const length = new DataView(bytes.buffer, bytes.byteOffset + at + 4, 4).getUint32(0, true);
    const end = at + 8 + length + (length % 2);
    if (name === "VP8 " || name === "VP8L" || name === "ALPH") found.push(bytes.subarray(at, end));
    at = end;
  }
  return found;
}

/** Still pictures of one size as an animation that shows each for `duration` milliseconds, forever. */
export function animate(stills, { width, height, duration }) {
  const size = [...number(width - 1, 3), ...number(height - 1, 3)];
  const frames = stills.flatMap((still) => chunk("ANMF", [[0, 0, 0, 0, 0, 0], size, number(duration, 3), [0b10], ...pixels(still)]));
  const body = [ascii("WEBP"), ...chunk("VP8X", [[0b10, 0, 0, 0], size]), ...chunk("ANIM", [[0, 0, 0, 255], [0, 0]]), ...frames];
  const length = body.reduce((sum, part) => sum + part.length, 0);
  return new Blob([ascii("RIFF"), number(length, 4), ...body].map((part) => Uint8Array.from(part)), { type: "image/webp" });
}
