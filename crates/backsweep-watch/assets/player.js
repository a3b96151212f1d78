// A page without a server: it plays a recorded run, with the same callbacks as a live one.

import { Recording, unpack } from "./recording.js";
import { $ } from "./shown.js";

const RATE = 20; // frames per second

/** The recording of this page as a source of frames, or null if the page has a server. */
export async function recordedSource() {
  const stored = $("recording");
  if (!stored) return null;
  const data = await unpack(stored.textContent);
  return new Player(data);
}

class Player {
  constructor(data) {
    this.known = { ...data.about, max_viewers: 0 };
    this.recording = new Recording(data);
    this.place = 0;
    this.running = false;
    this.number = 0;
    this.life = 1;
  }

  async about() {
    return this.known;
  }

  async cell(index) {
    return this.recording.cell(index);
  }

  async order(order) {
    const last = this.recording.length - 1;
    if (order.do === "run") {
      if (this.place === last) this.seek(0);
      this.running = true;
    } else if (order.do === "pause") this.running = false;
    else if (order.do === "step") {
      this.running = false;
      this.seek(Math.min(last, this.place + 1));
    } else if (order.do === "reset") {
      this.running = false;
      this.seek(0);
    } else throw new Error("This page shows a recorded run. To change anything, start `backsweep watch`.");
    this.show();
    return { number: this.number };
  }

  seek(place) {
    if (place < this.place) this.life += 1;
    this.place = place;
  }

  show() {
    const frame = this.recording.go(this.place);
    if (frame.maze !== this.maze) this.showScene(frame.maze);
    this.number += 1;
    $("scrub").value = this.place;
    $("scrub").setAttribute("aria-valuetext", `${frame.agents[0].steps.toLocaleString("en")} steps`);
    this.onFrame({ ...frame, number: this.number, life: this.life, running: this.running, courses: [], closed: false, undo: false });
  }

  listen({ onScene, onFrame, onState }) {
    this.onFrame = onFrame;
    $("scrub").max = this.recording.length - 1;
    $("scrub").addEventListener("input", () => {
      this.running = false;
      this.seek(Number($("scrub").value));
      this.show();
    });
    onState("open");
    this.showScene = (maze) => {
      this.maze = maze;
      onScene({ scene: { ...this.recording.scene, maze }, layout: this.recording.layout, results: { trials: [], runs: [] } });
    };
    this.show();
    let last = performance.now();
    let due = 0;
    const tick = (now) => {
      if (this.running) {
        due += ((now - last) / 1000) * RATE;
        if (due >= 1) {
          this.place = Math.min(this.recording.length - 1, this.place + Math.floor(due));
          due %= 1;
          if (this.place === this.recording.length - 1) this.running = false;
          this.show();
        }
      }
      last = now;
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }
}
