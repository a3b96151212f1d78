// The picture of one agent's maze: values as colors, the greedy policy as arrows, the queue as a glow, backups as flashes.

import { BEST, CELL_BYTES, CHANGE, FLAGS, KNOWN, VISITED } from "./link.js";
import { drawAgent, drawCursor, drawHighlight, drawMarks, drawNotes, drawQueue } from "./overlay.js";
import { grid, rewardsOf } from "./scene.js";
import { brief, calm } from "./shown.js";
import { drawSweep } from "./sweep.js";

const FLASH_TIME = 220; // milliseconds until a flash has faded to a third
const SETTLE_TIME = 90; // milliseconds until a color has mostly reached its target
const TURNS = Array.from({ length: 8 }, (_, k) => ((k - 2) * Math.PI) / 4); // the compass, clockwise from north
const ARROW_TIME = 50; // milliseconds between two drawings of the arrows
const ARROW_PAUSES = 5; // or this many times as long as the last one took
const WHITE = [255, 255, 255];
const ARROW_SIZE = 10; // pixels of the canvas of a cell from which its arrows are drawn
const VALUE_SIZE = 34; // pixels of a cell from which its V is written in it
const UNLIKE = 0xffffffff; // no cell looks like this
const CALM_TIME = 300; // milliseconds between two pictures with reduced motion

/** The colors of a table of "#rrggbb", spread over 256 steps. */
export function ramp(codes) {
  const stops = codes.map((code) => [1, 3, 5].map((i) => parseInt(code.slice(i, i + 2), 16)));
  return Array.from({ length: 256 }, (_, i) => {
    const place = (i / 255) * (stops.length - 1);
    const below = Math.min(Math.floor(place), stops.length - 2);
    const mixed = stops[below].map((c, k) => Math.round(c + (stops[below + 1][k] - c) * (place - below)));
    return { rgb: mixed, css: `rgb(${mixed.join(" ")})`, dark: mixed[0] * 0.299 + mixed[1] * 0.587 + mixed[2] * 0.114 < 128 };
  });
}

function canvasOf(width, height) {
  const canvas = document.createElement("canvas");
  canvas.width = width;
  canvas.height = height;
  return canvas;
}

export class MazeView {
  constructor(canvas, colors) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d", { alpha: false }); // Every pixel is opaque, so the browser need not blend.
    this.colors = ramp(colors);
    this.rows = [];
    this.width = 0;
    this.cursor = null;
    this.agent = null;
    this.size = 0;
    this.highlight = new Set(); // cells that a term of the algorithm stands for
    this.hasValues = true; // whether V is written into large cells
  }

  /** Sets the maze; cells keep their colors if the size of the grid is unchanged. */
  setMaze(text) {
    const { rows, legend } = grid(text);
    this.rewards = rewardsOf(legend);
    const resized = rows.length !== this.rows.length || rows[0].length !== this.width;
    this.rows = rows;
    this.width = rows[0].length;
    this.cells = rows.flat();
    this.marked = [...this.cells.keys()].filter((i) => !"#. ".includes(this.cells[i]));
    if (resized) {
      this.place = new Float32Array(this.cells.length); // the shown place of V on the color scale
      this.light = new Float32Array(this.cells.length); // how strongly a cell flashes
      this.looks = new Uint32Array(this.cells.length); // what the cover was drawn from
      this.small = canvasOf(this.width, rows.length); // one pixel per cell
      this.pixels = this.small.getContext("2d").createImageData(this.width, rows.length);
      this.cursor = null;
      this.size = 0;
    }
    this.layers = null;
    this.dirty = true;
  }

  /** Sets the state of the agent. */
  setAgent(agent, report, fresh, isRunning = false) {
    const first = this.agent === null || fresh;
    this.agent = agent;
    this.report = report;
    this.isRunning = isRunning;
    // When much is backed up between two frames each flash is fainter, so that the picture stays calm.
    let crowd = 0;
    for (let i = 0; i < this.cells.length; i++) crowd += agent.cells[i * CELL_BYTES + CHANGE] / 255;
    const strength = Math.min(1, (0.045 * this.cells.length) / Math.max(crowd, 1e-9));
    for (let i = 0; i < this.cells.length; i++) {
      const change = (strength * agent.cells[i * CELL_BYTES + CHANGE]) / 255;
      if (first) {
        this.light[i] = 0;
        this.place[i] = this.target(i);
      } else if (change > this.light[i]) {
        this.light[i] = change;
      }
    }
    if (agent.position !== null && (first || !this.spot)) this.spot = this.center(agent.position);
    this.markStale(agent);
    this.dirty = true;
  }

  /** Notes the cells that look different from how the cover shows them. */
  markStale({ cells, low, high }) {
    const { looks, layers, colors, writesValues } = this;
    if (!layers || !this.hasArrows) return;
    // The same place on another scale is another value.
    const scale = `${low} ${high}`;
    if (writesValues && scale !== layers.scale) looks.fill(UNLIKE);
    layers.scale = scale;
    for (let i = 0, at = 0; i < looks.length; i++, at += CELL_BYTES) {
      const known = cells[at + FLAGS] & KNOWN;
      // A value, or the ink for the color that the cell is changing to.
      const value = !known ? 0 : writesValues ? (cells[at] << 8) | cells[at + 1] : Number(colors[cells[at]].dark);
      const look = (value << 9) | (known << 8) | cells[at + BEST];
      if (look === looks[i]) continue;
      looks[i] = look;
      layers.stale.add(i);
    }
  }

  target(i) {
    const cells = this.agent.cells;
    return (cells[i * CELL_BYTES] * 256 + cells[i * CELL_BYTES + 1]) / 65535;
  }

  /** Whether cells are large enough for arrows. */
  get hasArrows() {
    return this.size >= ARROW_SIZE;
  }

  /** Whether cells are large enough for their values. */
  get writesValues() {
    return this.hasValues && this.size >= VALUE_SIZE * this.scale;
  }

  center(i) {
    return { x: (i % this.width) + 0.5, y: Math.floor(i / this.width) + 0.5 };
  }

  /** Fits the canvas into a width and height in CSS pixels. */
  fit(width, height, largest = 72) {
    const scale = Math.min(3, window.devicePixelRatio || 1);
    const room = Math.min(width / this.width, Math.max(height / this.rows.length, 6));
    const size = Math.max(1, Math.floor(Math.min(largest, room) * scale));
    if (size === this.size) return;
    this.size = size;
    this.scale = scale;
    this.canvas.width = size * this.width;
    this.canvas.height = size * this.rows.length;
    this.canvas.style.width = `${(size / scale) * this.width}px`;
    this.canvas.style.height = `${(size / scale) * this.rows.length}px`;
    this.sprites = this.layers = null;
    this.dirty = true;
  }

  /** Forgets what depends on the theme. */
  restyle() {
    this.sprites = this.layers = null;
    this.dirty = true;
  }

  /** The cell at a place of the page, or null. */
  at(clientX, clientY) {
    const box = this.canvas.getBoundingClientRect();
    const column = Math.floor(((clientX - box.left) / box.width) * this.width);
    const row = Math.floor(((clientY - box.top) / box.height) * this.rows.length);
    if (column < 0 || row < 0 || column >= this.width || row >= this.rows.length) return null;
    return row * this.width + column;
  }

  /** Where a cell is on the page. */
  box(i) {
    const outer = this.canvas.getBoundingClientRect();
    const side = outer.width / this.width;
    return { left: outer.left + (i % this.width) * side, top: outer.top + Math.floor(i / this.width) * side, side };
  }

  /** Arrows, glow and theme colors, drawn once for a cell size. */
  prepare() {
    const style = getComputedStyle(document.documentElement);
    const read = (name) => style.getPropertyValue(name).trim();
    const theme = Object.fromEntries(
      ["wall", "unknown", "visited", "floor", "popped", "accent", "agent", "agent-edge", "text"].map((name) => [name, read(`--${name}`)]),
    );
    const glow = read("--glow");
    const s = this.size;
    const sprite = (side, draw) => {
      const canvas = canvasOf(side, side);
      draw(canvas.getContext("2d"));
      return canvas;
    };
    const arrow = (color, turn) =>
      sprite(s, (c) => {
        c.translate(s / 2, s / 2);
        c.rotate(turn);
        c.strokeStyle = color;
        c.lineWidth = Math.max(1, Math.min(s * 0.085, 5 * this.scale));
        c.lineCap = c.lineJoin = "round";
        c.beginPath();
        c.moveTo(-s * 0.22, 0);
        c.lineTo(s * 0.22, 0);
        c.moveTo(s * 0.06, -s * 0.16);
        c.lineTo(s * 0.22, 0);
        c.lineTo(s * 0.06, s * 0.16);
        c.stroke();
      });
    const rgb = (name) => theme[name].match(/[0-9a-f]{2}/gi).map((two) => parseInt(two, 16));
    this.sprites = {
      theme,
      unknown: rgb("unknown"),
      visited: rgb("visited"),
      text: rgb("text"),
      bright: TURNS.map((turn) => arrow("rgb(255 255 255 / .78)", turn)),
      dim: TURNS.map((turn) => arrow("rgb(8 12 20 / .72)", turn)),
      // A ring at the edge of the cell: what lies within it still means V.
      glow: sprite(s, (c) => {
        const width = Math.max(1.5, Math.min(s * 0.13, 6 * this.scale));
        const ring = (inset, color, line) => {
          c.strokeStyle = color;
          c.lineWidth = line;
          c.beginPath();
          c.roundRect(inset, inset, s - 2 * inset, s - 2 * inset, s * 0.16);
          c.stroke();
        };
        ring(width * 0.6, `rgb(${glow})`, width);
        ring(width * 1.3, "rgb(0 0 0 / .35)", Math.max(0.5, width * 0.25));
      }),
    };
  }

  /** What changes only with the maze: walls, and the gaps between cells with their round corners, as a mask over colors. */
  layer() {
    const { size: s, cells, width, sprites } = this;
    const mask = canvasOf(this.canvas.width, this.canvas.height);
    const c = mask.getContext("2d");
    c.fillStyle = sprites.theme.floor;
    c.fillRect(0, 0, mask.width, mask.height);
    const gap = Math.max(0.5, s * 0.035);
    c.globalCompositeOperation = "destination-out";
    c.beginPath();
    cells.forEach((kind, i) => {
      if (kind !== "#") c.roundRect((i % width) * s + gap, Math.floor(i / width) * s + gap, s - 2 * gap, s - 2 * gap, s * 0.14);
    });
    c.fill();
    c.globalCompositeOperation = "source-over";
    c.fillStyle = sprites.theme.wall;
    cells.forEach((kind, i) => {
      if (kind !== "#") return;
      const column = i % width;
      const wall = (k, ok) => ok && cells[k] === "#";
      const [n, e, w, t] = [wall(i - width, i >= width), wall(i + 1, column < width - 1), wall(i - 1, column > 0), wall(i + width, i + width < cells.length)];
      const r = s * 0.28;
      // Corners are round where the wall ends.
      c.beginPath();
      c.roundRect(column * s, Math.floor(i / width) * s, s + 0.5, s + 0.5, [n || w ? 0 : r, n || e ? 0 : r, t || e ? 0 : r, t || w ? 0 : r]);
      c.fill();
    });
    // Walls, gaps and arrows in one picture: each layer costs as much per frame as the colors do.
    const cover = canvasOf(mask.width, mask.height);
    cover.getContext("2d").drawImage(mask, 0, 0);
    this.layers = { mask, cover, drawn: -Infinity, pause: ARROW_TIME, stale: new Set() };
    this.looks.fill(0);
    this.markStale(this.agent);
  }

  /** Whether the next picture will differ from the one that is shown. */
  get isMoving() {
    return Boolean(this.dirty || this.moving);
  }

  /** Draws if anything moves or has changed. `elapsed` is in milliseconds. */
  draw(elapsed) {
    if (!this.agent || !this.size || !this.isMoving) return false;
    // With reduced motion there are fewer pictures of a running agent, and no flashes.
    const now = performance.now();
    if (calm.matches && this.isRunning && now - this.pictured < CALM_TIME) return false;
    this.pictured = now;
    if (!this.sprites) this.prepare();
    if (!this.layers) this.layer();
    this.dirty = false;
    this.moving = false;
    const { context: c, layers } = this;
    this.paintCells(elapsed);
    c.globalAlpha = 1;
    c.imageSmoothingEnabled = false;
    c.drawImage(this.small, 0, 0, this.canvas.width, this.canvas.height);
    if (layers.stale.size && now - layers.drawn > layers.pause) this.drawCover(now);
    if (layers.stale.size) this.moving = true;
    c.drawImage(layers.cover, 0, 0);
    drawQueue(this);
    drawMarks(this);
    drawHighlight(this);
    if (this.report) drawSweep(this, this.report);
    drawAgent(this, elapsed);
    drawNotes(this);
    drawCursor(this);
    return true;
  }

  /** The colors, one pixel per cell: the browser enlarges them in one go. */
  paintCells(elapsed) {
    const { sprites, cells, pixels } = this;
    const settle = calm.matches ? 1 : 1 - Math.exp(-elapsed / SETTLE_TIME);
    const fade = calm.matches ? 0 : Math.exp(-elapsed / FLASH_TIME);
    const { place, light, colors, agent } = this;
    const { data } = pixels;
    const packed = agent.cells;
    const isCalm = calm.matches;
    let moving = false;
    for (let i = 0, at = 0, to = 0; i < cells.length; i++, at += CELL_BYTES, to += 4) {
      const flags = packed[at + FLAGS];
      const target = (packed[at] * 256 + packed[at + 1]) / 65535;
      const distance = target - place[i];
      if (distance > 0.002 || distance < -0.002) {
        place[i] += distance * settle;
        moving = true;
      } else place[i] = target;
      const known = flags & KNOWN;
      const color = known ? colors[Math.round(place[i] * 255)].rgb : flags & VISITED ? sprites.visited : sprites.unknown;
      const flash = known ? WHITE : sprites.text;
      const share = isCalm ? 0 : light[i] * 0.7;
      data[to] = color[0] + (flash[0] - color[0]) * share;
      data[to + 1] = color[1] + (flash[1] - color[1]) * share;
      data[to + 2] = color[2] + (flash[2] - color[2]) * share;
      data[to + 3] = 255;
      if (light[i] > 0.01) {
        light[i] *= fade;
        moving = true;
      } else light[i] = 0;
    }
    if (moving) this.moving = true;
    this.small.getContext("2d").putImageData(pixels, 0, 0);
  }

  /** Walls and gaps, and over them the arrows and values, of the cells that look different now. */
  drawCover(now) {
    const { size: s, sprites, cells, layers } = this;
    const c = layers.cover.getContext("2d");
    layers.drawn = now;
    const darkTheme = sprites.theme.agent === "#ffffff";
    const { low, high } = this.agent;
    const writes = this.writesValues;
    // Below a written value, arrows are smaller.
    const [side, right, down] = writes ? [s * 0.62, s * 0.19, s * 0.36] : [s, 0, 0];
    c.font = `600 ${Math.round(Math.min(s * 0.27, 17 * this.scale))}px system-ui, sans-serif`;
    c.textAlign = "center";
    c.textBaseline = "middle";
    for (const i of layers.stale) {
      const [x, y] = [(i % this.width) * s, Math.floor(i / this.width) * s];
      c.globalAlpha = 1;
      c.clearRect(x, y, s, s);
      c.drawImage(layers.mask, x, y, s, s, x, y, s, s);
      const best = this.agent.cells[i * CELL_BYTES + BEST];
      const known = this.agent.cells[i * CELL_BYTES + FLAGS] & KNOWN;
      if (writes && known && cells[i] !== "#") {
        c.fillStyle = this.colors[this.agent.cells[i * CELL_BYTES]].dark ? "#fff" : "#080c14";
        c.fillText(brief(low + (high - low) * this.target(i)), x + s / 2, y + s * 0.24, s * 0.92);
      }
      // Where little is known many actions seem equally good, and arrows would say nothing else.
      if (!best || cells[i] === "#" || cells[i] === "G" || (!known && best & (best - 1))) continue;
      // Ink for the color that the cell is changing to.
      const dark = known ? this.colors[this.agent.cells[i * CELL_BYTES]].dark : darkTheme;
      c.globalAlpha = known ? 1 : 0.3;
      for (let k = 0; k < 8; k++) {
        if (best & (1 << k)) c.drawImage((dark ? sprites.bright : sprites.dim)[k], x + right, y + down, side, side);
      }
    }
    layers.stale.clear();
    // Ten thousand arrows take long, and must not hold up the colors.
    layers.pause = Math.max(ARROW_TIME, ARROW_PAUSES * (performance.now() - now));
  }
}
