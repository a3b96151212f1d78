// Breaking the world: a wall on the path or a shortcut, undo, and the table of recovery times.

import { $, count, element, put } from "./shown.js";

const CAUSES = { wall: "wall", shortcut: "shortcut", change: "the world’s own" };

export class Breaking {
  /** `send` sends a command, `say` speaks to a screen reader, `titles` are the planners' titles. */
  constructor({ send, say, titles }) {
    this.titles = titles;
    this.trials = "";
    const order = (make, done) => () => send(make, { done: () => say(done) });
    this.wall = order(() => ({ do: "break", what: "wall" }), "A wall was built on the path of the agent.");
    this.shortcut = order(() => ({ do: "break", what: "shortcut" }), "A shortcut was opened.");
    this.undo = order(() => ({ do: "undo" }), "The last change to the world was undone.");
    $("break-wall").addEventListener("click", this.wall);
    $("break-shortcut").addEventListener("click", this.shortcut);
    $("undo").addEventListener("click", this.undo);
  }

  showFrame(frame) {
    if ($("undo").disabled === frame.undo) $("undo").disabled = !frame.undo;
  }

  /** The latest first; courses that did not follow a break are left out. */
  showTrials(trials) {
    const key = JSON.stringify(trials);
    if (key === this.trials) return;
    this.trials = key;
    const rows = trials.filter(({ cause }) => cause in CAUSES).slice(-8).reverse();
    $("trials").hidden = rows.length === 0;
    const body = $("trials").tBodies[0];
    body.replaceChildren(
      ...rows.map((trial) => {
        const row = element("tr");
        const steps = trial.reached ? (trial.steps === 0 ? "no effect" : count(trial.steps)) : `not in ${count(trial.steps)}`;
        row.append(element("td", CAUSES[trial.cause]), element("td", this.titles[trial.planner]), element("td", trial.exploration), element("td", steps));
        return row;
      }),
    );
    put($("trials").caption, "Steps to recover");
  }
}
