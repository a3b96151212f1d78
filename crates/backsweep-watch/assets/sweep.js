// One update cycle, drawn and in words: the popped cell, and an arrow with ΔQ to every cell it updated.

import { capital, counted, precisely, signed } from "./shown.js";

const LABEL_SIZE = 17; // pixels of a cell below which a label would be unreadable

/** The largest change of each cell that a cycle changed. */
function changes(report) {
  const largest = new Map();
  for (const [cell, action, delta] of report.backups) {
    const before = largest.get(cell);
    if (!before || Math.abs(delta) > Math.abs(before.delta)) largest.set(cell, { cell, action, delta });
  }
  return [...largest.values()];
}

const short = (number) => {
  const size = Math.abs(number);
  if (size < 0.0005) return "≈0";
  return (number > 0 ? "+" : "−") + (size >= 10 ? size.toFixed(0) : size >= 0.95 ? size.toFixed(1) : size.toFixed(size < 0.1 ? 3 : 2).slice(1));
};

/** Draws a report over a maze. */
export function drawSweep(view, report) {
  const { context: c, size: s } = view;
  const { theme } = view.sprites;
  const frame = (i, color, width, inset) => {
    c.strokeStyle = color;
    c.lineWidth = Math.max(1.5, Math.min(s * width, 40 * width * view.scale));
    c.beginPath();
    c.roundRect((i % view.width) * s + inset, Math.floor(i / view.width) * s + inset, s - 2 * inset, s - 2 * inset, s * 0.16);
    c.stroke();
  };
  const told = changes(report);
  if (told.length || report.popped !== null) veil(view, new Set([report.popped, ...told.map(({ cell }) => cell)]));
  for (const { cell } of told) frame(cell, "#fff", 0.07, s * 0.06);
  if (report.popped === null) return;
  for (const { cell } of told) if (cell !== report.popped) arrow(view, report.popped, cell);
  frame(report.popped, theme.popped, 0.14, s * 0.03);
  if (s < LABEL_SIZE * view.scale) return;
  for (const { cell, delta } of told) label(view, cell, short(delta));
}

/** Dims all cells but some, to draw the eye to those. */
function veil(view, bare) {
  const { context: c, size: s, cells, width } = view;
  c.fillStyle = view.sprites.theme.floor;
  c.globalAlpha = 0.5;
  cells.forEach((kind, i) => {
    if (kind !== "#" && !bare.has(i)) c.fillRect((i % width) * s, Math.floor(i / width) * s, s, s);
  });
  c.globalAlpha = 1;
}

/** An arrow from one cell to the near edge of another. */
function arrow(view, from, to) {
  const { context: c, size: s } = view;
  const [a, b] = [view.center(from), view.center(to)];
  const length = Math.hypot(b.x - a.x, b.y - a.y);
  const [x, y] = [(b.x - a.x) / length, (b.y - a.y) / length];
  const begin = [(a.x + 0.3 * x) * s, (a.y + 0.3 * y) * s];
  const end = [(b.x - 0.26 * x) * s, (b.y - 0.26 * y) * s];
  const head = Math.max(4, Math.min(s * 0.2, 12 * view.scale));
  const path = () => {
    c.beginPath();
    c.moveTo(...begin);
    c.lineTo(...end);
    c.moveTo(end[0] - head * (x - 0.6 * y), end[1] - head * (y + 0.6 * x));
    c.lineTo(...end);
    c.lineTo(end[0] - head * (x + 0.6 * y), end[1] - head * (y - 0.6 * x));
    c.stroke();
  };
  c.lineCap = c.lineJoin = "round";
  c.strokeStyle = "rgb(0 0 0 / .55)";
  c.lineWidth = Math.max(3, Math.min(s * 0.14, 8 * view.scale));
  path();
  c.strokeStyle = view.sprites.theme.popped;
  c.lineWidth = Math.max(1.5, Math.min(s * 0.075, 4 * view.scale));
  path();
}

function label(view, cell, text) {
  const { context: c, size: s } = view;
  const { x, y } = view.center(cell);
  const { scale } = view;
  const height = Math.max(9 * scale, Math.min(s * 0.42, 17 * scale));
  c.font = `700 ${height}px system-ui, sans-serif`;
  c.textAlign = "center";
  c.textBaseline = "middle";
  const width = Math.min(c.measureText(text).width + height * 0.5, s * 0.98);
  const middle = [x * s, (y + 0.24) * s];
  c.fillStyle = "rgb(10 12 18 / .88)";
  c.beginPath();
  c.roundRect(middle[0] - width / 2, middle[1] - height * 0.62, width, height * 1.24, height * 0.35);
  c.fill();
  c.fillStyle = "#fff";
  c.fillText(text, middle[0], middle[1] + height * 0.05, s * 0.94);
}

/** What a cycle did, in words. `name` names cells, `action` an action of a cell. */
export function words(report, { name, action, who = "It", hasQueue = true }) {
  const waited = report.waited ? `Nothing was queued, so the agent took ${counted(report.waited, "step")} first. ` : "";
  const told = changes(report);
  if (told.length === 0) {
    if (report.popped !== null) return `${waited}${capital(name(report.popped))} came off the queue, and no other cell had to change.`;
    return report.waited
      ? `${who} still has nothing to do after ${counted(report.waited, "step")}: its values are final for what it knows of the world.`
      : `${who} had nothing to do: the queue is empty.`;
  }
  if (report.popped === null || !hasQueue) return `${waited}${who} swept over all cells: ${counted(report.backups.length, "Q value")} changed, with ${counted(report.additions, "addition")}.`;
  const delta = report.after - report.before;
  const popped = `${capital(name(report.popped))} came off the queue`;
  const value = delta === 0 ? "" : `: others counted on ${precisely(report.before, delta)}, and its value is ${precisely(report.after, delta)} (ΔV = ${signed(delta)})`;
  const top = told.reduce((a, b) => (Math.abs(b.delta) > Math.abs(a.delta) ? b : a));
  const which = `Q of ${action(top.cell, top.action)} in ${name(top.cell)} by ${signed(top.delta)}`;
  const n = report.backups.length;
  const changed = n === 1 ? `One Q changed: ${which}.` : `${counted(n, "Q value")} in ${counted(told.length, "cell")} changed, most of all ${which}.`;
  const cost = report.additions < report.in_full ? ` It took ${counted(report.additions, "addition")}; the same update by full backups would take ${report.in_full}.` : ` It took ${counted(report.additions, "addition")}.`;
  return `${waited}${popped}${value}. ${changed}${cost}`;
}
