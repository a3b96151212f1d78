// The queue as a list of bars: which cells wait for an update, the most urgent first, and what one cycle did to it.

import { capital, count, element, put, rough } from "./shown.js";

export class QueueView {
  /** `list` is an ordered list, `head` says how many wait. */
  constructor(list, head, rows) {
    this.list = list;
    this.head = head;
    this.rows = rows;
    this.shown = "";
    this.more = element("p", "", "more");
    list.after(this.more);
  }

  /** Shows the most urgent of `total` cells, as pairs of cell and priority; after a cycle, what it took off and added. The longest bar has the priority `most`. A planner may have no queue. */
  show({ urgent, total, report, name, most = 0, hasQueue = true }) {
    const taken = report && report.popped !== null && report.queue_before[0]?.[0] === report.popped ? report.queue_before[0] : null;
    const before = new Map(report ? report.queue_before : []);
    const entries = urgent.slice(0, this.rows - (taken ? 1 : 0)).map(([cell, priority]) => ({ cell, priority, mark: report?.joined?.includes(cell) ? "new" : before.has(cell) && before.get(cell) !== priority ? "raised" : null }));
    if (taken) entries.unshift({ cell: taken[0], priority: taken[1], mark: "popped" });
    const waiting = !hasQueue ? "none" : total === 0 ? "empty" : total === 1 ? "1 cell waiting" : `${count(total)} cells waiting`;
    put(this.head, waiting);
    const left = hasQueue ? total - entries.length + (taken ? 1 : 0) : 0;
    put(this.more, left > 0 ? `… and ${count(left)} more` : "");
    const key = JSON.stringify(entries) + name(0) + hasQueue;
    if (key === this.shown) return;
    this.shown = key;
    const finite = entries.map(({ priority }) => priority).filter((priority) => priority !== "first");
    const top = Math.max(1e-300, most, ...finite);
    while (this.list.childElementCount > Math.max(1, entries.length)) this.list.lastChild.remove();
    if (entries.length === 0) {
      const text = hasQueue ? "Empty: no cell has news to pass on." : "This planner has no queue: each cycle sweeps all cells.";
      this.list.replaceChildren(element("li", text, "none"));
      return;
    }
    entries.forEach((entry, i) => this.row(i, entry, top, name));
  }

  row(i, { cell, priority, mark }, top, name) {
    let row = this.list.children[i];
    if (!row || row.className === "none") {
      const made = element("li");
      made.append(element("span", "", "cell"), element("span", "", "bar"), element("span", "", "priority"));
      made.children[1].append(element("i"));
      if (row) row.replaceWith(made);
      else this.list.append(made);
      row = made;
    }
    const [label, bar, number] = row.children;
    put(label, capital(name(cell)));
    put(number, `${priority === "first" ? "next" : rough(priority)}${mark === "popped" ? " · popped" : mark === "new" ? " · new" : ""}`);
    const share = priority === "first" ? 1 : Math.max(0.015, priority / top);
    bar.firstChild.style.transform = `scaleX(${share})`;
    if (row.className !== (mark ?? "")) row.className = mark ?? "";
    row.dataset.cell = cell;
  }
}
