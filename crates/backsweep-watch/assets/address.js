// The address holds the scene. One that came from elsewhere and would replace what somebody is watching is asked about.

import { isTyped } from "/link.js";
import { fromQuery, isSame, toQuery } from "/scene.js";
import { $, counted } from "/shown.js";

export class Address {
  /** `now` gives scene, layout, frame and theme; `send` gives an order; `problem` shows one line. */
  constructor(known, { now, send, problem }) {
    Object.assign(this, { known, now, send });
    this.asked = location.search;
    this.shared = null;
    try {
      this.shared = fromQuery(this.asked, known);
    } catch (error) {
      problem(error.message);
    }
    // Whether the address still holds a scene that was not decided on, and must not be overwritten.
    this.undecided = this.shared !== null;
    $("ask-show").addEventListener("click", () => $("ask").close("show"));
    $("ask-keep").addEventListener("click", () => $("ask").close("keep"));
    $("ask").addEventListener("close", () => ($("ask").returnValue === "show" ? this.showShared() : this.decide()));
  }

  /** Writes the scene into the address. */
  show() {
    const { scene, frame, theme, layout } = this.now();
    if (!scene || !frame || this.undecided) return;
    const query = `?${toQuery(scene, { running: frame.running, theme, layout, mazes: this.known.mazes })}`;
    if (query !== location.search) history.replaceState(null, "", query);
    remember(query);
  }

  showShared() {
    const run = new URLSearchParams(this.asked).get("run");
    // Paused first, so that a paused scene is seen from its first step.
    if (run === "0") this.send(() => ({ do: "pause" }));
    this.send(() => ({ do: "scene", scene: this.shared, restart: true }));
    if (run === "1") this.send(() => ({ do: "run" }));
    this.decide();
  }

  decide() {
    this.send(null).then(() => {
      this.undecided = false;
      this.show();
    });
  }

  onFirstFrame() {
    if (!this.undecided) return;
    const { scene, frame, layout } = this.now();
    const isOwn = isTyped || isRemembered(this.asked);
    if (isSame(this.shared, scene, layout)) this.decide();
    else if (isOwn && !frame.touched) this.showShared();
    else {
      const steps = counted(frame.agents[0].steps, "step");
      $("ask-text").textContent = `It would replace the scene that is running here, and what was learned in ${steps} would be lost.`;
      $("ask").showModal();
    }
  }
}

// What the address of this tab was when the page last wrote it: a reload comes with the same one. Some browsers forbid it.
function remember(query) {
  try {
    sessionStorage.setItem("backsweep-address", query);
  } catch {
    // Then the page asks when it would not have to.
  }
}

function isRemembered(query) {
  try {
    return sessionStorage.getItem("backsweep-address") === query;
  } catch {
    return false;
  }
}
