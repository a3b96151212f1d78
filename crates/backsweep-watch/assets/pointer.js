// Inspecting and painting with a pointer. Inspecting is the default; to paint, choose a brush.

import { $ } from "./shown.js";

const NAMES = { wall: "a wall", free: "free", start: "the start", goal: "the goal" };

export class Pointer {
  /** `label` is the card of the cell pointed at; `send` sends a command; `isRace` says whether both mazes share a cursor. */
  constructor(views, { label, algorithm, name, send, say, isRace, canPaint }) {
    Object.assign(this, { views, label, algorithm, name, send, say, isRace, canPaint });
    this.stroke = null;
    this.strokes = 0;
    views.forEach((view) => this.listen(view));
    window.addEventListener("pointerup", () => (this.stroke = null));
    // The card belongs to a place on the screen, which moves when the page scrolls.
    window.addEventListener("scroll", () => label.cell !== null && this.point(label.view, null, false), { passive: true });
  }

  get brush() {
    return this.canPaint ? document.querySelector('input[name="brush"]:checked').value : "look";
  }

  point(view, cell, speak) {
    this.views.forEach((other) => {
      other.cursor = other === view || this.isRace() ? cell : null;
      other.dirty = true;
    });
    this.label.point(view, cell, speak);
    this.algorithm.point(cell);
  }

  paint(cell, brush, stroke) {
    const name = this.name(cell);
    this.send(() => ({ do: "paint", cell, brush, stroke }), { done: () => this.say(`${name} is now ${NAMES[brush] ?? `a cell with reward ${brush.reward}`}`) });
  }

  /** The first cell decides whether a stroke builds or removes walls. Returns the stroke, or null when inspecting. */
  press(view, cell) {
    const { brush } = this;
    if (cell === null || brush === "look") return null;
    const reward = brush === "reward" ? { reward: $("reward").valueAsNumber } : null;
    if (Number.isNaN(reward?.reward)) return null;
    const kind = reward ?? (brush === "toggle" ? (view.cells[cell] === "#" ? "free" : "wall") : brush);
    this.strokes += 1;
    // Other viewers draw too, so the number must be unique.
    const stroke = Math.floor(performance.timeOrigin % 1e9) * 1000 + (this.strokes % 1000);
    this.paint(cell, kind, stroke);
    return { view, kind, last: cell, stroke };
  }

  listen(view) {
    const { canvas } = view;
    canvas.addEventListener("pointermove", (event) => {
      if (event.pointerType === "touch") return; // It scrolls; a tap shows the card.
      const cell = view.at(event.clientX, event.clientY);
      if (cell !== this.label.cell || view !== this.label.view) this.point(view, cell, false);
      const { stroke } = this;
      if (stroke && stroke.view === view && cell !== null && cell !== stroke.last && stroke.kind !== "start" && stroke.kind !== "goal") {
        stroke.last = cell;
        if (!"SG".includes(view.cells[cell])) this.paint(cell, stroke.kind, stroke.stroke);
      }
    });
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || event.pointerType === "touch") return;
      this.stroke = this.press(view, view.at(event.clientX, event.clientY));
    });
    // A finger may be scrolling: it paints when it was a tap.
    canvas.addEventListener("click", (event) => {
      if (event.pointerType !== "touch") return;
      const cell = view.at(event.clientX, event.clientY);
      this.point(view, cell, false);
      this.press(view, cell);
    });
    canvas.addEventListener("pointerleave", (event) => {
      if (event.pointerType !== "touch") this.point(view, null, false);
    });
    canvas.addEventListener("blur", () => this.point(view, null, false));
  }

  /** A stroke by keyboard: one cell. Without a brush it says how to choose one. */
  pressKey(view) {
    if (this.brush !== "look") this.press(view, view.cursor);
    else {
      this.say("Choose a brush to paint: wall, start, goal or reward.");
      $("brush-hint").classList.add("called");
      setTimeout(() => $("brush-hint").classList.remove("called"), 1500);
    }
  }
}
