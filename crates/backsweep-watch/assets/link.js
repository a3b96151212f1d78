// Requests to the server, and how frames are packed.

const meta = (name) => document.querySelector(`meta[name="backsweep-${name}"]`).content;
const token = meta("token");

/** The name of the run of the server that this page came from. */
export const session = meta("session");
/** Whether the user opened this page directly (typed, pasted, reloaded) and not through a link on another page. */
export const isTyped = meta("arrival") === "typed";

/** Which server this is, and what there is to choose from. */
export async function about(signal) {
  return (await fetch("/api/about", { signal })).json();
}

/** The recordings of the guided tour. */
export async function tour() {
  return (await fetch("/api/tour")).json();
}

/** Sends a command; resolves to the frame that shows its result, rejects with one line of text. */
export async function order(order) {
  const request = {
    method: "POST",
    headers: { "content-type": "application/json", "x-backsweep-token": token },
    body: JSON.stringify(order),
  };
  const answer = await fetch("/api/order", request).catch(() => {
    throw new Error("The server is not responding. Is `backsweep watch` still running?");
  });
  const text = await answer.text();
  if (answer.ok) return JSON.parse(text);
  let line = text.trim();
  try {
    line = JSON.parse(text).error;
  } catch {
    // The guard answers in plain text.
  }
  throw new Error(line || `The server answered with status ${answer.status}.`);
}

/** Everything about one cell. */
export async function cell(index) {
  const answer = await fetch(`/api/cell/${index}`);
  return answer.ok ? answer.json() : null;
}

/** How a cell of a frame is laid out: V in two bytes, flags, best directions as bits, change. */
export const CELL_BYTES = 5;
export const [FLAGS, BEST, CHANGE] = [2, 3, 4];
export const KNOWN = 1;
export const VISITED = 2;
export const QUEUED = 4;

/** The bytes of a base64 text. A plain loop: a frame of 10,000 cells has 50,000 of them, sixty times per second. */
export function bytes(text) {
  const raw = atob(text);
  const list = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) list[i] = raw.charCodeAt(i);
  return list;
}

/** The bytes cell by cell, from all first bytes, all second ones and so on. */
function byCell(planes) {
  const cells = new Uint8Array(planes.length);
  for (let k = 0, from = 0; k < CELL_BYTES; k++) {
    for (let to = k; to < cells.length; to += CELL_BYTES) cells[to] = planes[from++];
  }
  return cells;
}

/** Unpacks a frame as it was sent or recorded. */
export function decode(frame) {
  for (const agent of frame.agents) {
    agent.cells = byCell(bytes(agent.cells));
    for (const curve of [agent.returns, agent.work]) {
      curve.means = new Float32Array(bytes(curve.means).buffer);
    }
  }
  return frame;
}
