// The stream of frames: open while the page is visible, reopened when it breaks, with a reason whenever it is closed.
//
// A browser opens at most six connections to one server, and a stream holds one for as long as it lasts. Hidden pages
// therefore release theirs, and pages of one browser share four places, which leaves two connections for commands.

import { about, decode, session } from "./link.js";

const PLACES = 4;
const SILENCE = 6000; // milliseconds without a heartbeat after which the server counts as lost
const DEAD = 30000; // milliseconds after which the connection itself is closed
const RETRY = 1500; // milliseconds between attempts

const sleep = (time) => new Promise((resolve) => setTimeout(resolve, time));
const isHidden = () => document.visibilityState === "hidden";

/** Calls back with every scene and frame, and with the state of the link: open, hidden, crowded, full or lost. */
export async function listen({ onScene, onFrame, onState, onRestart }) {
  for (;;) {
    if (isHidden()) {
      onState("hidden");
      await shown();
    }
    const release = await place(() => onState("crowded"));
    if (release === null) continue; // hidden while it waited
    const isRestarted = await stream({ onScene, onFrame, onState });
    release();
    if (isRestarted) return onRestart();
    if (isHidden()) continue;
    try {
      const server = await about(AbortSignal.timeout(SILENCE));
      if (server.session !== session) return onRestart();
      onState(server.free_seats === 0 ? "full" : "lost");
    } catch {
      onState("lost");
    }
    await sleep(RETRY);
  }
}

function shown() {
  return new Promise((resolve) => {
    const look = () => {
      if (isHidden()) return;
      document.removeEventListener("visibilitychange", look);
      resolve();
    };
    document.addEventListener("visibilitychange", look);
    look();
  });
}

/** Takes one of this browser's places; resolves to a function that releases it, or to null if the page was hidden first. */
async function place(onWait) {
  if (!navigator.locks) return () => {}; // Only pages of this machine or over HTTPS have locks.
  while (!isHidden()) {
    for (let k = 0; k < PLACES; k++) {
      const release = await new Promise((resolve) => {
        navigator.locks.request(`backsweep-stream-${k}`, { ifAvailable: true }, (lock) => {
          if (lock === null) return resolve(null);
          return new Promise((done) => resolve(done));
        });
      });
      if (release) return release;
    }
    onWait();
    await sleep(RETRY / 3);
  }
  return null;
}

/** Resolves when the stream has ended: the page was hidden or the connection broke (false), or another run of the server answered (true). */
function stream({ onScene, onFrame, onState }) {
  return new Promise((resolve) => {
    const source = new EventSource("/api/frames");
    let heard = performance.now();
    let state = null;
    const become = (next) => {
      if (next !== state) onState((state = next));
    };
    const on = (name, take) =>
      source.addEventListener(name, (event) => {
        heard = performance.now();
        become("open");
        take?.(JSON.parse(event.data));
      });
    on("scene", (event) => (event.session === session ? onScene(event) : end(true)));
    on("frame", (frame) => onFrame(decode(frame)));
    source.addEventListener("beat", () => {
      heard = performance.now();
      become("open");
    });
    const end = (isRestarted = false) => {
      clearInterval(watch);
      document.removeEventListener("visibilitychange", hide);
      source.close();
      resolve(isRestarted);
    };
    const hide = () => isHidden() && end();
    document.addEventListener("visibilitychange", hide);
    source.addEventListener("error", () => end());
    const watch = setInterval(() => {
      const silence = performance.now() - heard;
      if (silence > DEAD) end();
      else if (silence > SILENCE) become("lost");
    }, 500);
  });
}
