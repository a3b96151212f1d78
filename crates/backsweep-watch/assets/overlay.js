// What lies over the colors of a maze: the glow of the queue, start and goal, the agent and the cursor.

import { brief, calm } from "./shown.js";

const RANGE = [1e-4, 1]; // the priorities from which a ring is faintest and brightest
const NOTE_HEIGHT = 25; // pixels that a note at the top of a cell takes, with the edge of what is below it
const DECADES = 1.2; // orders of magnitude below the most urgent one at which a ring is faintest

/** Rings around the most urgent cells; cells far below the first one are faint. */
export function drawQueue(view) {
  const { context: c, size: s } = view;
  const level = (priority) => Math.log10(Math.min(Math.max(priority === "first" ? Infinity : priority, RANGE[0]), RANGE[1]));
  const top = level(view.agent.urgent[0]?.[1] ?? 0);
  for (const [i, priority] of view.agent.urgent) {
    if (view.cells[i] === "#") continue;
    const below = (top - level(priority)) / DECADES;
    c.globalAlpha = Math.max(0.08, 1 - below) ** 1.3 * Math.min(1, 1.58 + 0.32 * level(priority));
    c.drawImage(view.sprites.glow, (i % view.width) * s, Math.floor(i / view.width) * s);
  }
  c.globalAlpha = 1;
}

/** The cells that a term of the algorithm stands for. */
export function drawHighlight(view) {
  const { context: c, size: s } = view;
  for (const i of view.highlight) {
    const [x, y] = [(i % view.width) * s, Math.floor(i / view.width) * s];
    for (const [color, width] of [[view.sprites.theme["agent-edge"], 0.2], [view.sprites.theme.accent, 0.11]]) {
      c.strokeStyle = color;
      c.lineWidth = Math.max(2, Math.min(s * width, 40 * width * view.scale));
      c.strokeRect(x + 1, y + 1, s - 2, s - 2);
    }
  }
}

export function drawMarks(view) {
  const { context: c, size: s, cells } = view;
  const { theme } = view.sprites;
  for (const i of view.marked) {
    const { x, y } = view.center(i);
    if (cells[i] === "S") {
      c.strokeStyle = theme.text;
      c.lineWidth = Math.max(1.5, Math.min(s * 0.1, 4 * view.scale));
      c.beginPath();
      c.arc(x * s, y * s, Math.min(s * 0.3, 22 * view.scale), 0, 2 * Math.PI);
      c.stroke();
    } else if (cells[i] === "G") {
      star(c, x * s, y * s + s * 0.02, s * 0.42);
    } else {
      c.fillStyle = theme.text;
      const reward = view.rewards.get(cells[i]);
      const text = reward === undefined || s < 14 * view.scale ? cells[i] : brief(reward.reward);
      c.font = `700 ${Math.round(Math.min(s * (text.length > 2 ? 0.4 : 0.5), 22 * view.scale))}px system-ui, sans-serif`;
      c.textAlign = "center";
      c.textBaseline = "middle";
      c.strokeStyle = theme["agent-edge"];
      c.lineWidth = Math.max(2, s * 0.08);
      c.lineJoin = "round";
      c.strokeText(text, x * s, y * s, s * 0.94);
      c.fillText(text, x * s, y * s, s * 0.94);
    }
  }
}

function star(c, x, y, r) {
  c.beginPath();
  for (let k = 0; k < 10; k++) {
    const radius = k % 2 ? r * 0.45 : r;
    const angle = (k * Math.PI) / 5 - Math.PI / 2;
    c.lineTo(x + radius * Math.cos(angle), y + radius * Math.sin(angle));
  }
  c.closePath();
  c.fillStyle = "#fde725";
  c.strokeStyle = "rgb(60 40 0 / .85)";
  c.lineWidth = Math.max(1, r * 0.14);
  c.lineJoin = "round";
  c.stroke();
  c.fill();
}

export function drawAgent(view, elapsed) {
  const { context: c, size: s, agent } = view;
  if (agent.position === null) return; // Its position is unknown.
  const { theme } = view.sprites;
  // The trail; a jump is the start of a new episode.
  let last = null;
  // After a single cycle its arrows matter, not where the agent came from.
  const trail = view.report ? [] : agent.trail;
  trail.forEach((i, k) => {
    const here = view.center(i);
    if (last && Math.abs(here.x - last.x) + Math.abs(here.y - last.y) < 6) {
      c.globalAlpha = (0.5 * k) / trail.length;
      c.strokeStyle = theme.agent;
      c.lineWidth = Math.min(s * 0.12, 7 * view.scale);
      c.lineCap = "round";
      c.beginPath();
      c.moveTo(last.x * s, last.y * s);
      c.lineTo(here.x * s, here.y * s);
      c.stroke();
    }
    last = here;
  });
  c.globalAlpha = 1;
  const target = view.center(agent.position);
  const far = Math.abs(target.x - view.spot.x) + Math.abs(target.y - view.spot.y);
  const share = calm.matches || far > 6 ? 1 : 1 - Math.exp(-elapsed / 55);
  view.spot = { x: view.spot.x + (target.x - view.spot.x) * share, y: view.spot.y + (target.y - view.spot.y) * share };
  if (share < 1 && far > 0.01) view.moving = true;
  const { x, y } = view.spot;
  const radius = Math.min(s * 0.33, 20 * view.scale);
  // Below a note.
  const down = view.notes ? Math.max(0, NOTE_HEIGHT * view.scale + radius - s / 2) : 0;
  c.fillStyle = theme.agent;
  c.strokeStyle = theme["agent-edge"];
  c.lineWidth = Math.max(1.5, Math.min(s * 0.1, 4 * view.scale));
  c.beginPath();
  c.arc(x * s, y * s + down, radius, 0, 2 * Math.PI);
  c.fill();
  c.stroke();
}

export function drawCursor(view) {
  if (view.cursor === null) return;
  const { context: c, size: s } = view;
  c.strokeStyle = view.sprites.theme.accent;
  c.lineWidth = Math.max(2, Math.min(s * 0.1, 4 * view.scale));
  c.strokeRect((view.cursor % view.width) * s + 1, Math.floor(view.cursor / view.width) * s + 1, s - 2, s - 2);
}

/** A short text at the top of each cell, where cells are large. */
export function drawNotes(view) {
  const { context: c, size: s, notes, scale } = view;
  if (!notes) return;
  c.font = `600 ${13 * scale}px system-ui, sans-serif`;
  c.textAlign = "center";
  c.textBaseline = "middle";
  notes.forEach((text, i) => {
    if (!text) return;
    const { x, y } = view.center(i);
    const middle = y * s - s / 2 + 13 * scale;
    const width = c.measureText(text).width + 10 * scale;
    c.fillStyle = "rgb(10 12 18 / .78)";
    c.beginPath();
    c.roundRect(x * s - width / 2, middle - 9 * scale, width, 18 * scale, 5 * scale);
    c.fill();
    c.fillStyle = "#fff";
    c.fillText(text, x * s, middle + scale);
  });
}
