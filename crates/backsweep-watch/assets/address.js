// The address holds the scene. The page asks before an external link replaces a scene that somebody is watching.

import { isTyped } from "./link.js";
import { fromQuery, isSame, stepsOf, stepsTaken, toQuery } from "./scene.js";
import { $, counted } from "./shown.js";

export class Address {
  /** `now` returns scene, layout, frame and theme; `send` sends a command; `problem` shows one line. */
  constructor(known, { now, send, problem }) {
    Object.assign(this, { known, now, send });
    this.asked = location.search;
    this.shared = null;
    try {
      this.shared = fromQuery(this.asked, known);
    } catch (error) {
      problem(error.message);
    }
    // Whether the address holds a scene that is still undecided and must not be overwritten.
    this.undecided = this.shared !== null;
    if (this.undecided) document.body.dataset.arriving = "true"; // For tests.
    $("ask-show").addEventListener("click", () => $("ask").close("show"));
    $("ask-keep").addEventListener("click", () => $("ask").close("keep"));
    $("ask").addEventListener("close", () => ($("ask").returnValue === "show" ? this.showShared() : this.decide()));
  }

  /** Writes the scene into the address. */
  show() {
    const { scene, frame, theme, layout, lesson } = this.now();
    if (!scene || !frame || this.undecided) return;
    const query = `?${toQuery(scene, { running: frame.running, step: stepsTaken(scene, frame), theme, layout, lesson, mazes: this.known.mazes })}`;
    if (query !== location.search) history.replaceState(null, "", query);
    remember(query);
  }

  /** Writes it when the agent has stopped taking steps: a browser allows only so many changes of the address. */
  showSoon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.show(), 250);
  }

  showShared() {
    const run = new URLSearchParams(this.asked).get("run");
    // Pause first, so that a paused scene is shown from its first step.
    if (run === "0") this.send(() => ({ do: "pause" }));
    this.send(() => ({ do: "scene", scene: this.shared, restart: true }));
    // A scene that runs here already is not restarted by that.
    if (run === "0") this.send(() => ({ do: "reset" }));
    const count = stepsOf(this.asked);
    if (count > 0) this.send(() => ({ do: "step", count }));
    if (run === "1") this.send(() => ({ do: "run" }));
    this.decide();
  }

  decide() {
    this.send(null).then(() => {
      this.undecided = false;
      delete document.body.dataset.arriving;
      this.show();
    });
  }

  onFirstFrame() {
    if (!this.undecided) return;
    const { scene, frame, layout } = this.now();
    const isOwn = isTyped || isRemembered(this.asked);
    const isRunningAsked = new URLSearchParams(this.asked).get("run") !== "0";
    const isThere = isSame(this.shared, scene, layout) && (isRunningAsked || !frame.running) && stepsOf(this.asked) <= frame.agents[0].steps;
    if (isOwn && !frame.touched && !isThere) this.showShared();
    else if (isSame(this.shared, scene, layout)) this.decide();
    else {
      const steps = counted(frame.agents[0].steps, "step");
      $("ask-text").textContent = `It would replace the scene that is running here, and what was learned in ${steps} would be lost.`;
      delete document.body.dataset.arriving;
      $("ask").showModal();
    }
  }
}

// The address of this tab when the page last wrote it: a reload has the same one. Some browsers forbid storing it.
function remember(query) {
  try {
    sessionStorage.setItem("backsweep-address", query);
  } catch {
    // Then the page asks more often than necessary.
  }
}

function isRemembered(query) {
  try {
    return sessionStorage.getItem("backsweep-address") === query;
  } catch {
    return false;
  }
}
