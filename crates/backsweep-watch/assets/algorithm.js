// The algorithm beside the maze. After a step or a cycle its lines light up one after another, with the numbers of that step or
// cycle; each term stands for cells of the maze, and a cell for the terms that it is part of.

import { $, calm, capital, counted, element, precisely, put, rough, signed } from "./shown.js";

const LINE_TIME = 420; // milliseconds per line

// [term|text] is a term that stands for cells. Lines before "cycle" are a step; the others are repeated for each cycle.
const STEP = ["Act: take a in [s|s], get r, go to [next|s′]", "Count it: N, R̂ and P̂ of [s|(s, a)]"];
const QUEUE = "Queue [s|s] with priority";
const POP = "Pop [x|x], the most urgent cell";
const LINES = {
  reversed_full_backups: {
    step: [...STEP, "Correct [s|Q(s, a)] for what was counted", `V(s) ← max Q(s, ·). ${QUEUE} |V(s) − U(s)|`],
    cycle: [POP, "ΔV ← V(x) − U(x), then U(x) ← V(x)", "For all [y|(y, b)] seen to lead to [x|x]:", "  Small backup: [y|Q(y, b)] ← Q(y, b) + γ P̂ ΔV", "  V(y) ← max Q(y, ·). Queue [queued|y] with |V(y) − U(y)|"],
  },
  small_backups: {
    step: [...STEP, "Correct [s|Q(s, a)] for what was counted", `${QUEUE} |max Q(s, ·) − V(s)|`],
    cycle: [POP, "ΔV ← max Q(x, ·) − V(x), then V(x) ← max Q(x, ·)", "For all [y|(y, b)] seen to lead to [x|x]:", "  Small backup: [y|Q(y, b)] ← Q(y, b) + γ P̂ ΔV", "  Queue [queued|y] with |max Q(y, ·) − V(y)|"],
  },
  moore_atkeson: {
    step: [...STEP, "Queue [s|s] before all others"],
    cycle: [POP, "Full backup of [x|x]: Q(x, b) ← R̂ + γ Σ P̂ V for all b", "ΔV ← the change of V(x) = max Q(x, ·)", "For all (y, b) seen to lead to [x|x]:", "  Queue [queued|y] with γ P̂ |ΔV|"],
  },
  peng_williams: {
    step: [...STEP, "Full backup of [s|(s, a)] from the U of its outcomes", "If V(s) changed, queue what leads to [s|s]"],
    cycle: ["Pop (y, b, [x|x]), the most urgent triple", "U of (y, b, x) ← V(x)", "Full backup: [y|Q(y, b)] ← R̂ + γ Σ P̂ U", "If V(y) changed, queue the triples that lead to [y|y] with γ P̂ |V(y) − U|"],
  },
  wiering_schmidhuber: {
    step: [...STEP, "Full backup of [s|s]; queue it with what changed"],
    cycle: [POP, "For all [y|y] seen to lead to [x|x]:", "  Full backup of [y|y]: Q(y, b) ← R̂ + γ Σ P̂ V for all b", "  Queue [queued|y] with the sum of its changes"],
  },
  value_iteration: { step: STEP, cycle: ["For all cells x and actions b:", "  Full backup: [y|Q(x, b)] ← R̂ + γ Σ P̂ V", "V(x) ← max Q(x, ·)"] },
};

/** A number after a minus sign. */
const inner = (text) => (text.startsWith("−") ? `(${text})` : text);

/** What a step or a cycle did: the cells of each term, and a note for some lines by their number. */
function stepFacts(step, lines, { name, action }) {
  const [cell, a, next, reward] = step;
  const where = next < 0 ? "the end of the episode" : name(next);
  const notes = { 0: `${capital(name(cell))}: ${action(cell, a)} led to ${where}, reward ${rough(reward)}` };
  return { cells: { s: [cell], next: next < 0 ? [] : [next] }, notes };
}

function cycleFacts(report, lines, { name }) {
  const changed = [...new Set(report.backups.map(([cell]) => cell))];
  const before = new Map(report.queue_before);
  // Only the most urgent cells of the queue are known.
  const queued = report.queue_after.filter(([cell, priority]) => changed.includes(cell) && before.get(cell) !== priority).map(([cell]) => cell);
  const delta = report.after - report.before;
  const notes = {};
  lines.forEach((line, i) => {
    if (line.startsWith("Pop")) notes[i] = report.popped === null ? "Nothing was queued." : `x = ${name(report.popped)}`;
    else if (line.startsWith("ΔV") && delta !== 0) notes[i] = `ΔV = ${precisely(report.after, delta)} − ${inner(precisely(report.before, delta))} = ${signed(delta)}`;
    else if (/[Ss]mall backup|[Ff]ull backup/.test(line)) notes[i] = `${counted(report.backups.length, "Q value")} in ${counted(changed.length, "cell")} changed: ${counted(report.additions, "addition")}`;
  });
  return { cells: { x: report.popped === null ? [] : [report.popped], y: changed, queued }, notes, delta };
}

export class Algorithm {
  /** `mark` outlines cells of the maze; `name` names a cell, `action` an action of a cell. */
  constructor({ mark, name, action }) {
    Object.assign(this, { mark, name, action, planner: null, facts: null, key: "" });
    for (const [kind, show] of [["pointerover", true], ["pointerout", false], ["focusin", true], ["focusout", false]]) {
      $("algorithm").addEventListener(kind, (event) => {
        const term = event.target instanceof Element ? event.target.closest("[data-term]") : null;
        if (term) this.mark(show ? (this.facts?.cells[term.dataset.term] ?? []) : []);
      });
    }
  }

  /** Shows the lines of a planner, and what the last step or cycle did if the engine rests. */
  show({ planner, step, report, isActive, life }) {
    if (planner !== this.planner) this.write(planner);
    const lines = LINES[this.planner];
    if (!lines) return;
    const key = isActive ? "" : report ? `cycle ${JSON.stringify(report)}` : step ? `step ${life} ${step}` : "";
    if (key === this.key) return;
    const isFresh = key !== "" && this.hasRested;
    this.key = key;
    this.hasRested = !isActive;
    this.report = report && !isActive ? report : null;
    this.facts = key === "" ? null : report ? cycleFacts(report, lines.cycle, this) : stepFacts(step, lines.step, this);
    this.mark([]);
    const first = report ? lines.step.length : 0;
    // With nothing to pop, the other lines of a cycle were not reached.
    const isIdle = report && report.popped === null && report.backups.length === 0;
    const last = key === "" ? -1 : first + (isIdle ? 1 : (report ? lines.cycle : lines.step).length) - 1;
    this.rows.forEach(({ row, note }, i) => {
      const isIn = i >= first && i <= last;
      put(note, isIn ? (this.facts.notes[i - first] ?? "") : "");
      row.classList.toggle("done", isIn);
      row.classList.remove("now");
      for (const term of row.querySelectorAll("[data-term]")) term.disabled = !isIn || !this.facts.cells[term.dataset.term]?.length;
    });
    clearInterval(this.timer);
    if (isFresh && last >= 0) this.play(first, last);
  }

  /** Lights the executed lines one after another. */
  play(first, last) {
    const { rows } = this;
    if (calm.matches) return;
    let at = first;
    const light = () => {
      rows.forEach(({ row }, i) => row.classList.toggle("now", i === at));
      if (at > last) clearInterval(this.timer);
      at += 1;
    };
    light();
    this.timer = setInterval(light, LINE_TIME);
  }

  /** Shows which terms a cell is part of, and with which numbers; null ends it. */
  point(cell) {
    const own = this.facts && cell !== null ? Object.entries(this.facts.cells).filter(([, cells]) => cells.includes(cell)) : [];
    const terms = new Set(own.map(([term]) => term));
    for (const term of $("algorithm").querySelectorAll("[data-term]")) term.classList.toggle("of", terms.has(term.dataset.term));
    const changes = (this.report?.backups ?? []).filter(([changed]) => changed === cell);
    const { delta } = this.facts ?? {};
    const text = changes.map(([, a, dq]) => `Q of ${this.action(cell, a)}: ΔQ = ${delta ? `γ P̂ ΔV = ${rough(dq / delta)} × ${rough(delta)} = ` : ""}${signed(dq)}`).slice(0, 2);
    put($("algorithm-cell"), text.length ? `${capital(this.name(cell))}. ${text.join("; ")}` : "");
  }

  write(planner) {
    this.planner = planner;
    this.key = "";
    const lines = LINES[planner];
    $("algorithm-card").hidden = !lines;
    if (!lines) return;
    this.rows = [];
    const block = (title, texts) => {
      const list = element("ol");
      list.setAttribute("aria-label", title);
      texts.forEach((text) => {
        const row = element("li", undefined, text.startsWith("  ") ? "inner" : "");
        const code = element("span", undefined, "code");
        code.append(...terms(text.trim()));
        const note = element("span", "", "note");
        row.append(code, note);
        list.append(row);
        this.rows.push({ row, note });
      });
      return [element("h3", title), list];
    };
    $("algorithm").replaceChildren(...block("Each step", lines.step), ...block("Then, each cycle", lines.cycle));
    for (const term of $("algorithm").querySelectorAll("[data-term]")) term.disabled = true;
  }
}

function terms(text) {
  return text.split(/(\[[^\]]+\])/).map((part) => {
    const match = /^\[(\w+)\|(.+)\]$/.exec(part);
    if (!match) return document.createTextNode(part);
    const term = element("button", match[2], "var");
    term.type = "button";
    term.dataset.term = match[1];
    term.setAttribute("aria-describedby", "help-algorithm");
    return term;
  });
}
