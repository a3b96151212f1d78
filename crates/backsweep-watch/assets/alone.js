// A page without a server: the engine runs in a worker of this page.

import { decode } from "./link.js";

const worker = new Worker("worker.js", { name: "engine" });
const asked = new Map();
let count = 0;
let listener = null;

/** Asks the worker; resolves to its answer, rejects with one line of text. */
export function ask(what, value) {
  return new Promise((resolve, reject) => {
    count += 1;
    asked.set(count, { resolve, reject });
    worker.postMessage({ id: count, what, value });
  });
}

function settle({ id, value, error }) {
  const { resolve, reject } = asked.get(id) ?? {};
  asked.delete(id);
  if (error === undefined) resolve?.(value);
  else reject?.(new Error(error));
}

worker.addEventListener("message", ({ data }) => {
  if (data.shown === undefined) return settle(data);
  const { scene, frame, answers } = JSON.parse(data.shown);
  if (scene) listener?.onScene(scene);
  if (frame) {
    listener?.onFrame(decode(frame));
    // The next one is not sent before this one was taken: a page that is busy gets a later one instead of a longer line.
    worker.postMessage({ what: "next" });
  }
  for (const { sender: id, error, ...value } of answers) settle({ id, value, error });
});
worker.addEventListener("error", (event) => {
  listener?.onState("failed");
  for (const id of [...asked.keys()]) settle({ id, error: event.message || "The engine cannot be loaded." });
});
// Nobody looks at a hidden page, so it need not work.
const see = () => worker.postMessage({ what: document.visibilityState === "hidden" ? "rest" : "wake" });
document.addEventListener("visibilitychange", see);

/** The engine as a source of frames. */
export const source = {
  about: () => ask("about"),
  tour: () => ask("tour"),
  order: (order) => ask("order", order),
  cell: (index) => ask("cell", index),
  values: () => ask("values"),
  listen({ onScene, onFrame, onState }) {
    listener = { onScene, onFrame, onState };
    onState("open");
    worker.postMessage({ what: "next" });
    see();
  },
};

// Once loaded, the page opens without a network too. Where a browser forbids that, it needs one.
navigator.serviceWorker?.register("offline.js").catch(() => {});
