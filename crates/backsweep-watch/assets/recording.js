// A recorded run: frames, and what the agent knew about each cell in each of them.

import { bytes, CELL_BYTES, decode, FLAGS, QUEUED } from "./link.js";
import { actionsOf } from "./shown.js";

export class Recording {
  constructor({ scene, layout, frames }) {
    this.scene = scene;
    this.layout = layout;
    this.frames = frames.map(decode);
    // The frame in which a world has changed by itself says so.
    let maze = scene.maze;
    for (const frame of this.frames) frame.maze = maze = frame.maze ?? maze;
    this.at = -1;
    this.rewind();
  }

  rewind() {
    this.at = -1;
    this.known = this.frames[0].agents.map(() => ({ q: new Float32Array(this.frames[0].agents[0].cells.length), u: [], model: new Map() }));
  }

  get length() {
    return this.frames.length;
  }

  /** Moves to a frame. Forwards it adds what happened in between; backwards it starts over. */
  go(index) {
    if (index < this.at) this.rewind();
    while (this.at < index) {
      this.at += 1;
      this.frames[this.at].agents.forEach((agent, k) => add(this.known[k], agent.since));
    }
    return this.frames[this.at];
  }

  /** Everything about one cell, as the server of a live page would say it. */
  cell(index) {
    const frame = this.frames[this.at];
    const { discount, min_visits } = this.scene;
    const actions = actionsOf(this.layout.pointers, index).map((_, a) => a);
    const agents = this.known.map(({ q, u, model }, k) => {
      const row = actions.map((a) => q[4 * index + a] ?? 0);
      const made = actions.map((a) => {
        const pair = model.get(4 * index + a);
        if (!pair) return { visits: 0, known: false, reward: 0, bonus: 0, ended: 0, terms: [] };
        const terms = [...pair.next].map(([cell, n]) => [cell, n / pair.visits, u[cell] ?? 0]);
        return { visits: pair.visits, known: pair.visits >= min_visits, reward: pair.reward / pair.visits, bonus: 0, ended: pair.ended / pair.visits, terms };
      });
      const urgent = new Map(frame.agents[k].urgent);
      const value = row.length ? Math.max(...row) : 0;
      const priority = urgent.get(index) ?? (frame.agents[k].cells[CELL_BYTES * index + FLAGS] & QUEUED ? Math.abs(value - (u[index] ?? 0)) : 0);
      return { value, relied_on: u[index] ?? 0, q: row, visits: made.map(({ visits }) => visits), known: made.every(({ known }) => known), priority, discount, min_visits, made: isCounted(this.scene, k) ? made : null };
    });
    return { number: frame.number, life: frame.life, cell: index, agents };
  }
}

/** Whether an agent's Q is made of plain counts: for one with bonuses or forgetting, a recording does not hold enough. */
const isCounted = (scene, k) => ((k && scene.rival_explore) || scene.explore) === "paper";

function add(known, { q, u, seen }) {
  for (let i = 0; i < q.length; i += 2) known.q[q[i]] = q[i + 1];
  for (let i = 0; i < u.length; i += 2) known.u[u[i]] = u[i + 1];
  for (let i = 0; i < seen.length; i += 4) {
    const [cell, action, next, reward] = seen.slice(i, i + 4);
    const pair = known.model.get(4 * cell + action) ?? { visits: 0, reward: 0, ended: 0, next: new Map() };
    pair.visits += 1;
    pair.reward += reward;
    if (next < 0) pair.ended += 1;
    else pair.next.set(next, (pair.next.get(next) ?? 0) + 1);
    known.model.set(4 * cell + action, pair);
  }
}

/** Unpacks a recording that is part of a page. */
export async function unpack(text) {
  const stream = new Blob([bytes(text.trim())]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}
