// The guided tour: a corridor of five cells, recorded from the real planner, one key press per step.

import { linked } from "./explain.js";
import { CELL_BYTES, FLAGS, KNOWN } from "./link.js";
import { MazeView } from "./maze.js";
import { QueueView } from "./queue.js";
import { Recording } from "./recording.js";
import { $, brief, element, fixed, namer, put, rough, signed } from "./shown.js";
import { STEPS } from "./tour-steps.js";

const SEEN = "backsweep-tour";

const remembered = () => {
  try {
    return localStorage.getItem(SEEN) !== null;
  } catch {
    return true; // Without storage the tour would open every time.
  }
};

/** Shows cells in color as soon as they have a value, even if not every action was tried; without a trail. */
function colored(agent, recording) {
  const cells = agent.cells.slice();
  const values = valuesOf(recording);
  const low = Math.min(0, ...values);
  values.forEach((value, cell) => {
    const place = Math.round((65535 * (value - low)) / (10 - low));
    if (value !== 0) cells.set([place >> 8, place & 255, cells[CELL_BYTES * cell + FLAGS] | KNOWN], CELL_BYTES * cell);
  });
  return { ...agent, cells, trail: [] };
}

const valuesOf = (recording) => [0, 1, 2, 3].map((cell) => recording.cell(cell).agents[0].value);
const factsOf = ({ backups, additions, in_full }) => ({ n: backups.length, cells: new Set(backups.map(([cell]) => cell)).size, small: additions, full: in_full });
const longest = (frame) => frame.agents[0].urgent[0]?.[1] ?? 0;

export class Tour {
  /** `ask` returns the recordings; `wait` holds the maze while the tour is read; `arrive` starts it, or the race, at the end. */
  constructor({ colors, figure_3 }, { ask, wait, arrive }) {
    Object.assign(this, { ask, wait, arrive, place: 0, wanted: null });
    const score = (cycles) => fixed(figure_3.find((point) => point.planner === "reversed_full_backups" && point.cycles === cycles)?.score, 1);
    this.scores = { one: score(1), ten: score(10) };
    this.view = new MazeView($("tour-maze"), colors);
    this.view.hasValues = false; // They stand in the notes.
    this.queue = new QueueView($("tour-queue"), $("tour-waiting"), 5);
    this.name = namer(5, 1);
    $("tour-next").addEventListener("click", () => (this.place === STEPS.length - 1 ? this.leave("race") : this.go(this.place + 1)));
    $("tour-back").addEventListener("click", () => this.go(this.place - 1));
    $("tour-skip").addEventListener("click", () => this.leave(this.place === STEPS.length - 1 ? "maze" : null));
    $("tour").addEventListener("close", () => {
      this.remember();
      this.arrive(this.wanted);
      $("maze-0").focus({ preventScroll: true });
    });
    $("tour-open").addEventListener("click", () => this.open());
    window.addEventListener("resize", () => $("tour").open && this.fit());
  }

  /** Opens the tour for somebody who has not seen it, or if the address asks for it. */
  offer(query) {
    const wanted = new URLSearchParams(query).get("tour");
    // Whoever follows a link to a scene wants to see that scene.
    const isScene = ["maze", "planner", "seed"].some((name) => new URLSearchParams(query).has(name));
    if (wanted === "1" || (wanted !== "0" && !isScene && !remembered())) this.open();
  }

  remember() {
    try {
      localStorage.setItem(SEEN, "seen");
    } catch {
      // It is offered again next time.
    }
  }

  async open() {
    this.wait();
    if (!this.recordings) {
      const { walk, slip } = await this.ask();
      this.recordings = { walk: new Recording(walk), slip: new Recording(slip) };
      const { slip: last } = this.recordings;
      last.go(last.length - 1);
      this.planned = valuesOf(last);
    }
    if (!$("tour").open) $("tour").showModal();
    this.wanted = null;
    this.shown = null;
    this.go(0);
    $("tour-next").focus();
  }

  /** Closes the tour, for the maze or for the race. */
  leave(wanted) {
    this.wanted = wanted;
    $("tour").close();
  }

  go(place) {
    this.place = Math.max(0, place);
    const step = STEPS[this.place];
    const recording = this.recordings[step.of];
    const frame = recording.go(step.frame);
    const isFresh = this.shown !== step.of;
    if (isFresh) this.view.setMaze(recording.scene.maze);
    this.shown = step.of;
    const agent = colored(frame.agents[0], recording);
    const report = frame.cycles[0] ?? null;
    // The picture and the table both show the Q of going right.
    const isTold = step.look === undefined;
    const shown = isTold && report ? { ...report, backups: report.backups.filter(([, action]) => action === 1) } : null;
    this.view.setAgent(agent, shown, isFresh);
    const values = valuesOf(recording);
    this.view.notes = values.map((value) => `V ${rough(+value.toFixed(2))}`);
    this.view.cursor = step.look ?? null;
    this.fit();
    // One scale of bars for all steps, so that they can be seen to shrink.
    const most = Math.max(...recording.frames.map(longest));
    this.queue.show({ urgent: agent.urgent, total: agent.queue, report: isTold ? report : null, name: this.name, most });
    this.showNumbers(recording, isTold ? report : null, step.isCompared ? this.planned : null);
    const text = typeof step.text === "function" ? step.text({ ...this.scores, ...factsOf(report), before: rough(most), now: brief(longest(frame)), late: brief(Math.max(...values.map((value, cell) => Math.abs(value - this.planned[cell])))) }) : step.text;
    put($("tour-title"), step.title);
    $("tour-text").replaceChildren(...linked(text));
    put($("tour-place"), `Step ${this.place + 1} of ${STEPS.length}`);
    put($("tour-next"), step.isLast ? "Race" : "Next");
    put($("tour-skip"), step.isLast ? "To the maze, no race" : "Skip the tour");
    $("tour-back").disabled = this.place === 0;
    this.draw(1000);
  }

  /** The value of each cell, and the Q of going right, with what the cycle changed; then the value that others use, or other values to compare with. */
  showNumbers(recording, report, compared) {
    const table = $("tour-numbers");
    put($("tour-others"), compared ? "V if the queue were empty" : "U: the V that others use");
    const rows = [0, 1, 2, 3].map((cell) => {
      const { value, q, relied_on } = recording.cell(cell).agents[0];
      const told = report?.backups.find(([changed, action]) => changed === cell && action === 1);
      const row = element("tr", undefined, told ? "told" : report?.popped === cell ? "popped" : "");
      row.append(element("th", `Cell ${cell + 1}`), element("td", rough(+value.toFixed(2))), element("td", `${rough(+q[1].toFixed(2))}${told ? ` (${signed(+told[2].toFixed(2))})` : ""}`), element("td", rough(+(compared?.[cell] ?? relied_on).toFixed(2))));
      row.firstChild.scope = "row";
      return row;
    });
    table.tBodies[0].replaceChildren(...rows);
  }

  fit() {
    this.view.fit($("tour-stage").clientWidth, 200, 120);
    this.draw(0);
  }

  draw(elapsed) {
    if ($("tour").open) this.view.draw(elapsed);
  }
}
