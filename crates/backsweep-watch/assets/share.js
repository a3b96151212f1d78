// Share or save: the link, a picture, and an animation of the last ten seconds.

import { MazeView } from "./maze.js";
import { $, counted } from "./shown.js";
import { animate } from "./webp.js";

const SECONDS = 10;
const RATE = 8; // pictures per second
const SIDE = 480; // the longer side of an animation, in pixels

export class Share {
  /** `stage` gives the scene, the maze views and what to write below a picture. */
  constructor(colors, stage, { problem, say }) {
    Object.assign(this, { colors, stage, problem, say });
    this.past = [];
    $("share").addEventListener("click", () => $("sharing").showModal());
    $("share-close").addEventListener("click", () => $("sharing").close());
    $("share-link").addEventListener("click", () => this.link());
    $("share-picture").addEventListener("click", () => this.picture());
    $("share-animation").addEventListener("click", () => this.animation());
  }

  /** Keeps a frame for the animation; ten seconds of them. */
  keep(frame, now) {
    const last = this.past.at(-1);
    if (last && now - last.time < 1000 / RATE && last.frame.life === frame.life) return;
    this.past.push({ frame, time: now, maze: this.stage().scene.maze });
    while (this.past[0].time < now - 1000 * SECONDS) this.past.shift();
  }

  async link() {
    try {
      await navigator.clipboard.writeText(location.href);
      this.done("Link copied. To open it on another server, keep what comes after the “?”.");
    } catch {
      this.done("The browser does not allow the page to copy. Copy the link from the address bar.");
    }
  }

  done(text) {
    $("share-done").textContent = text;
    this.say(text);
  }

  async picture() {
    const { views, caption } = this.stage();
    const sheet = compose(views, caption);
    const blob = await sheet.convertToBlob({ type: "image/png" });
    save(blob, "backsweep.png");
    this.done("Saved backsweep.png.");
  }

  async animation() {
    const button = $("share-animation");
    button.disabled = true;
    this.isBusy = true;
    try {
      const { views, captions } = this.stage();
      const past = this.past.filter(({ maze }) => maze === this.past.at(-1).maze);
      const copies = views.map((view, k) => this.copy(view, k, past[0]));
      const stills = [];
      let size;
      for (const [i, { frame }] of past.entries()) {
        frame.agents.slice(0, copies.length).forEach((agent, k) => copies[k].setAgent(agent, frame.cycles[k] ?? null, i === 0));
        copies.forEach((copy) => copy.draw(1000 / RATE));
        const sheet = compose(copies, captions(frame));
        size = [sheet.width, sheet.height];
        const blob = await sheet.convertToBlob({ type: "image/webp", quality: 0.8 });
        if (blob.type !== "image/webp") throw new Error("This browser cannot encode WebP. Use the picture, or another browser.");
        stills.push(new Uint8Array(await blob.arrayBuffer()));
        $("share-done").textContent = `Encoding: ${i + 1} of ${past.length} pictures`;
      }
      const [width, height] = size;
      save(animate(stills, { width, height, duration: Math.round(1000 / RATE) }), "backsweep.webp");
      this.done(`Saved backsweep.webp: ${counted(stills.length, "picture")}, ${(stills.length / RATE).toFixed(1)} seconds.`);
    } catch (error) {
      this.done(error.message);
    } finally {
      button.disabled = false;
      this.isBusy = false;
    }
  }

  /** A second, invisible view of the same maze, drawn by the same code. */
  copy(view, k, { maze }) {
    const copy = new MazeView(document.createElement("canvas"), this.colors);
    copy.setMaze(maze);
    const side = SIDE / Math.max(copy.width, copy.rows.length) / (window.devicePixelRatio || 1);
    copy.fit(side * copy.width, side * copy.rows.length);
    return copy;
  }
}

/** Mazes side by side with a line below. */
function compose(views, caption) {
  const margin = Math.round(views[0].canvas.width * 0.03);
  const line = Math.max(18, Math.round(views[0].canvas.width * 0.035));
  const width = views.reduce((sum, view) => sum + view.canvas.width + margin, margin);
  // A separate canvas: browsers encode a canvas that is part of the page only when idle.
  const sheet = new OffscreenCanvas(width, views[0].canvas.height + 2 * margin + Math.round(line * 1.6));
  const c = sheet.getContext("2d");
  const style = getComputedStyle(document.documentElement);
  c.fillStyle = style.getPropertyValue("--back").trim();
  c.fillRect(0, 0, sheet.width, sheet.height);
  let left = margin;
  for (const { canvas } of views) {
    c.drawImage(canvas, left, margin);
    left += canvas.width + margin;
  }
  c.fillStyle = style.getPropertyValue("--text").trim();
  c.font = `600 ${line}px system-ui, sans-serif`;
  c.textBaseline = "middle";
  c.fillText(caption, margin, sheet.height - margin - line * 0.5, sheet.width - 2 * margin);
  return sheet;
}

function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
