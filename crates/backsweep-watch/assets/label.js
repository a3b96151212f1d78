// The label of the cell that is pointed at: V, Q of every action, visits and priority, exactly and up to date.

import { cell as askCell } from "/link.js";

const $ = (id) => document.getElementById(id);
const ACTIONS = ["north", "east", "south", "west"];
const ARROWS = ["↑", "→", "↓", "←"];
const REFRESH = 120; // milliseconds

/** A number with so many digits after the point; a dash if there is none. */
export const fixed = (number, digits) => (number === null || number === undefined ? "–" : number.toFixed(digits).replace("-", "−"));
/** A count, in millions if it is large. */
export const count = (number) => (number >= 1e6 ? `${(number / 1e6).toFixed(number >= 1e8 ? 0 : 1)}M` : Math.round(number).toLocaleString("en"));

function element(tag, text, name) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (name) made.className = name;
  return made;
}

export class Label {
  /** `cellName` names a cell, `title` an agent's planner; `say` speaks to a screen reader. */
  constructor({ cellName, title, say }) {
    this.cellName = cellName;
    this.title = title;
    this.say = say;
    this.cell = null;
    setInterval(() => this.refresh(), REFRESH);
  }

  /** Shows the label of a cell of a maze, or of none if the cell is null. */
  point(view, cell, speak) {
    this.cell = cell;
    this.view = view;
    this.speak = speak;
    if (cell === null) $("tip").hidden = true;
    else this.refresh();
  }

  async refresh() {
    if (this.cell === null || this.busy) return;
    this.busy = true;
    const { cell } = this;
    try {
      this.show(await askCell(cell));
    } catch {
      // The server does not answer; the page says so elsewhere.
    }
    this.busy = false;
    if (this.cell !== null && this.cell !== cell) this.refresh();
  }

  show(detail) {
    if (this.cell === null || !detail || detail.cell !== this.cell) return;
    const kind = { "#": "wall", S: "start", G: "goal" }[this.view.cells[this.cell]] ?? "";
    $("tip").replaceChildren(...detail.agents.map((agent, k) => this.section(agent, k, kind)));
    $("tip").hidden = false;
    this.move();
    if (this.speak) {
      this.speak = false;
      const agent = detail.agents[0];
      const best = agent.q.map((q, a) => [q, ACTIONS[a]]).sort((a, b) => b[0] - a[0])[0][1];
      this.say(`${this.cellName(this.cell)}${kind ? `, ${kind}` : ""}. Value ${fixed(agent.value, 2)}, best action ${best}.`);
    }
  }

  section(agent, k, kind) {
    const part = element("section");
    const head = element("header");
    head.append(element("span", k === 0 ? this.cellName(this.cell) : this.title(k)), element("span", k === 0 ? kind : ""));
    const table = element("table");
    const titles = element("tr");
    titles.append(element("th", "action"), element("th", "Q"), element("th", "visits"));
    table.append(titles);
    const best = Math.max(...agent.q);
    agent.q.forEach((q, a) => {
      const row = element("tr", undefined, q === best ? "best" : "");
      row.append(element("td", `${ARROWS[a]} ${ACTIONS[a]}`), element("td", fixed(q, 3)), element("td", count(agent.visits[a])));
      table.append(row);
    });
    const priority = agent.priority === "first" ? "priority: first" : agent.priority > 0 ? `priority ${agent.priority.toPrecision(3)}` : "not on the queue";
    part.append(head, element("div", `V ${fixed(agent.value, 3)}`, "v"), table, element("div", priority + (agent.known ? "" : " · not known yet"), "foot"));
    return part;
  }

  /** Beside the cell, where there is room. */
  move() {
    const box = this.view.box(this.cell);
    const { width, height } = $("tip").getBoundingClientRect();
    const right = box.left + box.side + 12;
    const left = right + width < window.innerWidth ? right : box.left - width - 12;
    $("tip").style.left = `${Math.max(6, Math.min(left, window.innerWidth - width - 6))}px`;
    $("tip").style.top = `${Math.max(6, Math.min(box.top - 20, window.innerHeight - height - 6))}px`;
  }
}
