// The card of the cell under the pointer: V, Q of every action, and how a Q is computed, term by term.

import { $, count, element, fixed, rough, signed } from "./shown.js";

const REFRESH = 120; // milliseconds
const TERMS = 4; // how many outcomes are shown one by one

/** One agent's knowledge of a cell. `change` is the action whose Q the last cycle changed, and the outcome that caused it. */
export function card(agent, { heading, kind, name, actions, change }) {
  const part = element("section");
  const head = element("header");
  head.append(element("span", heading), element("span", kind));
  if (kind === "wall") {
    part.append(head, element("div", "A wall has no value: nobody is ever there.", "foot"));
    return part;
  }
  const table = element("table");
  const titles = element("tr");
  titles.append(element("th", "action"), element("th", "Q"), element("th", agent.visits ? "visits" : ""));
  if (agent.q.length) table.append(titles);
  const best = Math.max(...agent.q);
  agent.q.forEach((q, a) => {
    const row = element("tr", undefined, q === best ? "best" : "");
    row.append(element("td", agent.names?.[a] ?? actions[a]), element("td", fixed(q, 3)), element("td", agent.visits ? count(agent.visits[a]) : ""));
    table.append(row);
  });
  const priority = agent.priority === "first" ? "priority: first" : agent.priority > 0 ? `priority ${rough(agent.priority)}${agent.relied_on === null ? "" : `: others still rely on ${rough(agent.relied_on)}`}` : "not on the queue";
  part.append(head, element("div", `V ${fixed(agent.value, 3)}`, "v"), table);
  const action = change?.action ?? agent.q.indexOf(best);
  if (agent.made && agent.q.length) part.append(...making(agent, action, { change, name, which: agent.names?.[action] ?? actions[action] }));
  if (agent.is_drawn) part.append(element("p", "Q in the world that the agent has sampled from what it saw, and acts by until it samples again.", "made"));
  if (agent.priority !== null) part.append(element("div", priority + (agent.known ? "" : " · not known yet"), "foot"));
  return part;
}

/** Q = R̂ + γ Σ P̂ V, one line per term; outcomes of little weight are combined. */
function making(agent, action, { change, name, which }) {
  const { reward, bonus, terms, known, visits, ended } = agent.made[action];
  const counts = `counts as ${rough(agent.q[action])}`;
  if (visits === 0) return [element("p", `${which} has not been tried, so its Q ${counts}.`, "made")];
  if (!known) return [element("p", `${which} was tried ${visits} of M = ${agent.min_visits} times. Until then its Q ${counts}.`, "made")];
  const list = element("ol", undefined, "made");
  const line = (left, right, mark) => {
    const item = element("li", undefined, mark ? "told" : "");
    item.append(element("span", left), element("span", right));
    list.append(item);
  };
  const title = element("li", undefined, "title");
  title.append(element("span", `Q of ${which} = R̂${bonus ? " + bonus" : ""} + γ Σ P̂ V`));
  list.append(title);
  line("R̂, mean reward", fixed(reward, 3));
  if (bonus) line("exploration bonus", fixed(bonus, 3));
  const gamma = agent.discount;
  const isTold = ([cell]) => change && cell === change.popped;
  const sorted = [...terms].sort((a, b) => isTold(b) - isTold(a) || Math.abs(b[1] * b[2]) - Math.abs(a[1] * a[2]));
  for (const term of sorted.slice(0, TERMS)) {
    const [cell, p, value] = term;
    const told = isTold(term) ? ` (last backup ${signed(change.delta)})` : "";
    line(`${rough(gamma)} × ${rough(p)} × V ${rough(value)} of ${typeof cell === "string" ? cell : name(cell)}${told}`, fixed(gamma * p * value, 3), isTold(term));
  }
  const rest = sorted.slice(TERMS);
  if (rest.length) line(`${rest.length} more`, fixed(rest.reduce((sum, [, p, value]) => sum + gamma * p * value, 0), 3));
  if (ended > 0) line(`${rough(gamma)} × ${rough(ended)} × 0, the episode ends`, "0");
  const sum = terms.reduce((sum, [, p, value]) => sum + gamma * p * value, reward + (bonus ?? 0));
  const q = agent.q[action];
  line("= Q", fixed(q, 3));
  list.lastChild.className = "sum";
  const parts = [list];
  // With full backups, a pair keeps the value from its last backup.
  if (Math.abs(sum - q) > 1e-4 * Math.max(1, Math.abs(q))) parts.push(element("p", `With the current values it would be ${fixed(sum, 3)}: this pair is waiting for its backup.`, "made"));
  return parts;
}

export class Label {
  /** `ask` looks a cell up, `name` names a cell, `actions` its actions, `title` an agent's planner, `reports` are of the last cycle; `say` speaks to a screen reader. */
  constructor({ ask, name, actions, title, reports, say }) {
    Object.assign(this, { ask, name, actions, title, reports, say });
    this.cell = null;
    setInterval(() => this.refresh(), REFRESH);
  }

  /** Shows the card of a cell of a maze, or none if the cell is null. */
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
      this.show(await this.ask(cell));
    } catch {
      // The server is not responding; another part of the page says so.
    }
    this.busy = false;
    if (this.cell !== null && this.cell !== cell) this.refresh();
  }

  show(detail) {
    if (this.cell === null || !detail || detail.cell !== this.cell) return;
    const sign = this.view.cells[this.cell];
    const own = this.view.rewards.get(sign);
    const kind = { "#": "wall", S: "start", G: "goal" }[sign] ?? (own ? `reward ${rough(own.reward)}${own.ends ? ", ends the episode" : ""}` : "");
    const actions = this.actions(this.cell);
    const names = actions.map(({ sign, word }) => `${sign} ${word}`.trim());
    $("tip").replaceChildren(
      ...detail.agents.map((agent, k) => card(agent, { heading: k === 0 ? this.name(this.cell) : this.title(k), kind: k === 0 || kind === "wall" ? kind : "", name: this.name, actions: names, change: changeOf(this.reports()[k], this.cell) })),
    );
    $("tip").hidden = false;
    this.move();
    if (this.speak) {
      this.speak = false;
      const agent = detail.agents[0];
      const best = agent.q.map((q, a) => [q, agent.names?.[a] ?? actions[a].word]).sort((a, b) => b[0] - a[0])[0]?.[1] ?? "unknown";
      const queued = agent.priority === "first" ? " Next on the queue." : agent.priority > 0 ? ` On the queue with priority ${rough(agent.priority)}.` : "";
      if (kind === "wall") return this.say(`${this.name(this.cell)}, wall.`);
      const policy = agent.q.length ? `, best action ${best}` : ", the episode ends here";
      this.say(`${this.name(this.cell)}${kind ? `, ${kind}` : ""}. Value ${fixed(agent.value, 2)}${policy}.${queued}`);
    }
  }

  /** Beside the cell, where there is room. */
  move() {
    const box = this.view.box(this.cell);
    const { width, height } = $("tip").getBoundingClientRect();
    const right = box.left + box.side + 12;
    const left = right + width < window.innerWidth ? right : box.left - width - 12;
    $("tip").style.left = `${Math.max(6, Math.min(left, window.innerWidth - width - 6))}px`;
    // On a narrow screen below or above the cell, which it must not cover.
    const beside = box.top - 20;
    const below = box.top + box.side + 10;
    const narrow = window.innerWidth <= 640;
    const top = !narrow ? beside : below + height < window.innerHeight ? below : box.top - height - 10;
    $("tip").style.top = `${Math.max(6, Math.min(top, window.innerHeight - height - 6))}px`;
  }
}

/** The change that the last cycle made to a cell, if it made one: the largest. */
function changeOf(report, cell) {
  const own = (report?.backups ?? []).filter(([changed]) => changed === cell);
  if (own.length === 0) return null;
  const [, action, delta] = own.reduce((a, b) => (Math.abs(b[2]) > Math.abs(a[2]) ? b : a));
  return { action, delta, popped: report.popped };
}
