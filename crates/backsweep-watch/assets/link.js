// The link to the engine: orders go there, frames come back.

const token = document.querySelector('meta[name="backsweep-token"]').content;

/** What there is to choose from. */
export async function about() {
  return (await fetch("/api/about")).json();
}

/** Gives an order; resolves to the frame that shows its result, rejects with one line of text. */
export async function order(order) {
  const answer = await fetch("/api/order", {
    method: "POST",
    headers: { "content-type": "application/json", "x-backsweep-token": token },
    body: JSON.stringify(order),
  });
  const text = await answer.text();
  if (answer.ok) return JSON.parse(text);
  let line = text.trim();
  try {
    line = JSON.parse(text).error;
  } catch {
    // The guard answers in plain text.
  }
  throw new Error(line || `the server answered ${answer.status}`);
}

/** Everything about one cell. */
export async function cell(index) {
  const answer = await fetch(`/api/cell/${index}`);
  return answer.ok ? answer.json() : null;
}

/** Calls back with every scene and frame, and when the link is lost or found again. */
export function listen({ onScene, onFrame, onLost }) {
  const source = new EventSource("/api/frames");
  source.addEventListener("scene", (event) => onScene(JSON.parse(event.data)));
  source.addEventListener("frame", (event) => onFrame(decode(JSON.parse(event.data))));
  source.addEventListener("error", () => onLost());
}

function bytes(text) {
  return Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
}

function decode(frame) {
  for (const agent of frame.agents) {
    agent.cells = bytes(agent.cells);
    for (const curve of [agent.returns, agent.work]) {
      curve.means = new Float32Array(bytes(curve.means).buffer);
    }
  }
  return frame;
}

/** How a cell of a frame is laid out. */
export const CELL_BYTES = 5;
export const KNOWN = 16;
export const VISITED = 32;
