// The page: frames in, picture out; clicks and keys in, orders out.

import { Chart } from "/chart.js";
import { Controls, speedText } from "/controls.js";
import { Label, count, fixed } from "/label.js";
import { about, isTyped, order } from "/link.js";
import { MazeView, ramp } from "/maze.js";
import { fromQuery, isSame, toQuery } from "/scene.js";
import { listen } from "/stream.js";

const $ = (id) => document.getElementById(id);

const known = await about();
const titles = Object.fromEntries(known.planners.map(({ name, title }) => [name, title]));
const views = [0, 1].map((k) => new MazeView($(`maze-${k}`), known.colours));
const returns = new Chart($("returns"), { unit: "episodes", fromZero: false });
const work = new Chart($("work"), { unit: "steps", fromZero: true });
let scene = null;
let frame = null;
let life = 0;
let theme = new URLSearchParams(location.search).get("theme");
// The state of the stream of frames: connecting, open, hidden, crowded, full or lost.
let link = "connecting";
// Whether the address still holds a scene that was not decided on, and must not be overwritten.
let undecided = false;
// Orders go one after the other, so that the engine sees them in the order of the clicks.
let orders = Promise.resolve();

function problem(line) {
  const box = $("problem");
  box.textContent = line;
  box.hidden = false;
  clearTimeout(problem.timer);
  problem.timer = setTimeout(() => (box.hidden = true), 6000);
}

function say(text) {
  $("live").textContent = text;
}

// `make` is asked for the order when its turn comes. The next order waits until the page has seen what this one led to, since
// frames come on a connection of their own.
function send(make, { done, refused } = {}) {
  orders = orders.then(async () => {
    try {
      await seen((await order(make())).number);
      done?.();
    } catch (error) {
      problem(error.message);
      refused?.();
    }
  });
  return orders;
}

let waiting = null;
function seen(number) {
  return new Promise((resolve) => {
    waiting = { number, resolve };
    release();
  });
}

// Without an open stream no frame will come.
function release() {
  if (waiting === null || !(link !== "open" || frame?.number >= waiting.number)) return;
  waiting.resolve();
  waiting = null;
}

// Sliders send many changes: while one is under way, later ones are gathered. Only what was changed is sent, so that another
// viewer's change of another setting stays.
let wanted = null;
function change(settings) {
  const waits = wanted !== null;
  wanted = { ...(wanted ?? {}), ...settings };
  if (waits) return;
  const make = () => {
    const settings = wanted;
    wanted = null;
    return { do: "change", settings };
  };
  send(make, { refused: () => scene && controls.show(scene) });
}

function act(what) {
  if (what === "toggle") send(() => ({ do: frame?.running || frame?.busy ? "pause" : "run" }));
  else if (what === "reset") send(() => ({ do: "reset" }));
  else send(() => ({ do: what, count: 1 }));
}

const controls = new Controls(known, { change, act, problem });

// Frames.

function onScene(event) {
  scene = event.scene;
  views.forEach((view) => view.setMaze(scene.maze));
  $("figure-1").hidden = scene.rival === null;
  document.querySelector("main").classList.toggle("race", scene.rival !== null);
  controls.show(scene);
  fit();
  showAddress();
}

function onFrame(next) {
  const wasActive = frame && (frame.running || frame.busy);
  const isActive = next.running || next.busy;
  const fresh = next.life !== life;
  const hadReport = frame?.cycles.length > 0;
  frame = next;
  life = next.life;
  next.agents.forEach((agent, k) => views[k].setAgent(agent, next.cycles[k] ?? null, fresh));
  returns.set(next.agents.map((agent) => agent.returns), next.optimum);
  work.set(next.agents.map((agent) => agent.work), null);
  if (wasActive !== isActive) {
    $("run").textContent = isActive ? "Pause" : "Run";
    say(next.running ? `Running, ${speedText(scene.speed)}` : next.busy ? "Working" : `Paused after ${next.agents[0].steps} steps`);
    showAddress();
  }
  if (next.cycles.length > 0) showReport(next);
  else if (hadReport) $("report").hidden = true;
  if (!next.running || fresh || performance.now() - showNumbers.last > 120) showNumbers();
  document.body.dataset.frame = next.number;
  document.body.dataset.life = next.life;
  showNotice();
  release();
}

const cellName = (i) => `row ${Math.floor(i / views[0].width) + 1}, column ${(i % views[0].width) + 1}`;

function showReport(next) {
  const parts = next.cycles.map((report, k) => {
    const who = next.agents.length > 1 ? `${titles[next.agents[k].planner]} ` : "It ";
    const changed = `${report.changed.length} cell${report.changed.length === 1 ? "" : "s"} backed up`;
    if (report.popped !== null) return `${who}took ${cellName(report.popped)} off the queue; ${changed}.`;
    return report.changed.length ? `${who}swept: ${changed}.` : `${who}had nothing to do.`;
  });
  const text = parts.map((part) => part.charAt(0).toUpperCase() + part.slice(1)).join(" ");
  // A later frame may still hold it; said again it would drown what was said meanwhile.
  if (!$("report").hidden && $("report").textContent === text) return;
  $("report").textContent = text;
  $("report").hidden = false;
  say(text);
}

function showNumbers() {
  showNumbers.last = performance.now();
  if (!frame) return;
  frame.agents.forEach((agent, k) => {
    $(`name-${k}`).textContent = titles[agent.planner];
    $(`tags-${k}`).textContent = `${link !== "open" ? "–" : frame.running ? `${count(agent.speed)} steps per second` : frame.busy ? "working" : "paused"}`;
    const numbers = {
      Episodes: count(agent.episodes),
      Steps: count(agent.steps),
      "Last return": fixed(agent.last, 1),
      "Mean return": fixed(agent.mean, 1),
      "Backups per step": agent.steps ? (agent.backups / agent.steps).toFixed(1) : "–",
      "On the queue": count(agent.queue),
    };
    const list = $(`numbers-${k}`);
    if (list.childElementCount === 0) {
      for (const name of Object.keys(numbers)) {
        const [box, term, value] = ["div", "dt", "dd"].map((tag) => document.createElement(tag));
        term.textContent = name;
        box.append(term, value);
        list.append(box);
      }
    }
    Object.values(numbers).forEach((text, i) => {
      const value = list.children[i].lastChild;
      if (value.textContent !== text) value.textContent = text;
    });
  });
  $("low").textContent = fixed(frame.agents[0].low, 0);
  $("high").textContent = fixed(frame.agents[0].high, 0);
  const last = frame.agents.map((agent) => `${titles[agent.planner]}: episode ${agent.episodes}, last return ${fixed(agent.last, 1)}`);
  $("returns").setAttribute("aria-label", `Return per episode. ${last.join("; ")}. The optimum is ${fixed(frame.optimum, 1)}.`);
  const load = frame.agents.map((agent) => `${titles[agent.planner]}: ${(agent.backups / Math.max(1, agent.steps)).toFixed(1)}`);
  $("work").setAttribute("aria-label", `Backups per step. ${load.join("; ")}.`);
}
showNumbers.last = 0;

const NOTICES = {
  crowded: "This browser already shows the page in four other tabs or windows. Close or hide one of them, and this one continues.",
  full: `${known.max_viewers} viewers are watching, which is the limit. This page tries again every few seconds.`,
  lost: "The server does not answer: it has ended or was stopped. This page tries again every few seconds; the scene is kept in the address.",
};
const STATES = { connecting: "connecting", hidden: "connecting", crowded: "waiting", full: "server full", lost: "disconnected" };

function showNotice() {
  const text = NOTICES[link] ?? frame?.problem ?? "";
  if ($("notice").textContent !== text) $("notice").textContent = text;
  $("notice").hidden = text === "";
  const state = STATES[link] ?? (frame?.running ? "learning" : frame?.busy ? "working" : "paused");
  if ($("state").textContent !== state) $("state").textContent = state;
  $("state").className = `pill ${link === "open" ? (frame?.running ? "live" : "") : "lost"}`;
}

function onState(state) {
  link = state;
  document.body.dataset.link = state;
  showNotice();
  showNumbers();
  release();
}

// The server was restarted: its new page has its new token, and the address still holds the scene.
function onRestart() {
  location.reload();
}

function showAddress() {
  if (!scene || !frame || undecided) return;
  const query = `?${toQuery(scene, { running: frame.running, theme, mazes: known.mazes })}`;
  if (query !== location.search) history.replaceState(null, "", query);
  remember(query);
}

// What the address of this tab was when the page last wrote it: a reload comes with the same one. Some browsers forbid it.
function remember(query) {
  try {
    sessionStorage.setItem("backsweep-address", query);
  } catch {
    // Then the page asks when it would not have to.
  }
}

function isRemembered(query) {
  try {
    return sessionStorage.getItem("backsweep-address") === query;
  } catch {
    return false;
  }
}

// Drawing.

function fit() {
  if (!scene) return;
  const race = scene.rival !== null && window.innerWidth > 640;
  const room = $("mazes").clientWidth;
  const width = (race ? (room - 16) / 2 : room) - (window.innerWidth > 640 ? 26 : 18);
  const height = window.innerWidth > 1020 ? Math.max(360, window.innerHeight - 225) : window.innerHeight * 0.8;
  views.forEach((view) => view.fit(width, height));
}

function restyle() {
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  const dark = theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  $("theme").textContent = dark ? "Light" : "Dark";
  views.forEach((view) => view.restyle());
  returns.dirty = work.dirty = true;
}

let before = performance.now();
function tick(now) {
  const elapsed = Math.min(100, now - before);
  before = now;
  views[0].draw(elapsed);
  if (scene?.rival) views[1].draw(elapsed);
  returns.draw();
  work.draw();
  tell();
  requestAnimationFrame(tick);
}

// For whoever looks at the picture from outside: which frame it shows, and whether it has come to rest.
function tell() {
  if (!frame) return;
  const still = !views[0].isMoving && !(scene.rival && views[1].isMoving);
  const { dataset } = document.body;
  if (dataset.drawn !== String(frame.number)) dataset.drawn = frame.number;
  if (dataset.still !== String(still)) dataset.still = still;
}

// The cell that is pointed at.

const label = new Label({ cellName, title: (k) => titles[frame.agents[k].planner], say });

function point(view, cell, speak) {
  views.forEach((other) => {
    other.cursor = other === view || scene?.rival ? cell : null;
    other.dirty = true;
  });
  label.point(view, cell, speak);
}

// Painting: the first cell decides whether a stroke builds or tears down.

let stroke = null;

function paint(view, cell, brush) {
  const names = { wall: "a wall", free: "free", start: "the start", goal: "the goal" };
  const name = cellName(cell);
  send(() => ({ do: "paint", cell, brush }), { done: () => say(`${name} is now ${names[brush]}`) });
}

function press(view, cell) {
  const brush = controls.brush;
  if (cell === null || brush === "look") return null;
  const kind = brush === "toggle" ? (view.cells[cell] === "#" ? "free" : "wall") : brush;
  paint(view, cell, kind);
  return { view, kind, last: cell };
}

views.forEach((view) => {
  const { canvas } = view;
  canvas.addEventListener("pointermove", (event) => {
    if (event.pointerType === "touch") return; // It scrolls; a tap shows the label.
    const cell = view.at(event.clientX, event.clientY);
    if (cell !== label.cell) point(view, cell, false);
    if (stroke && stroke.view === view && cell !== null && cell !== stroke.last && (stroke.kind === "wall" || stroke.kind === "free")) {
      stroke.last = cell;
      if (!"SG".includes(view.cells[cell])) paint(view, cell, stroke.kind);
    }
  });
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || event.pointerType === "touch") return;
    stroke = press(view, view.at(event.clientX, event.clientY));
  });
  // A finger may be scrolling: it paints when it was a tap.
  canvas.addEventListener("click", (event) => {
    if (event.pointerType !== "touch") return;
    const cell = view.at(event.clientX, event.clientY);
    point(view, cell, false);
    press(view, cell);
  });
  canvas.addEventListener("pointerleave", (event) => {
    if (event.pointerType !== "touch") point(view, null, false);
  });
  canvas.addEventListener("blur", () => point(view, null, false));
});
window.addEventListener("pointerup", () => (stroke = null));
// The label belongs to a place on the screen, which scrolling moves away.
window.addEventListener("scroll", () => label.cell !== null && point(label.view, null, false), { passive: true });

// Keys.

const MOVES = { ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowDown: [1, 0], ArrowLeft: [0, -1] };

function moveCursor(view, [down, right]) {
  const now = view.cursor ?? frame.agents[0].position;
  const row = Math.max(0, Math.min(view.rows.length - 1, Math.floor(now / view.width) + (view.cursor === null ? 0 : down)));
  const column = Math.max(0, Math.min(view.width - 1, (now % view.width) + (view.cursor === null ? 0 : right)));
  point(view, row * view.width + column, true);
}

window.addEventListener("keydown", (event) => {
  if (!frame || $("ask").open || event.ctrlKey || event.metaKey || event.altKey) return;
  const tag = event.target.tagName;
  if (tag === "INPUT" || tag === "SELECT" || tag === "TEXTAREA") return;
  const view = views[1].canvas === document.activeElement ? views[1] : views[0];
  if (event.key === " ") {
    if (tag === "BUTTON") return; // There the space key presses the button.
    act("toggle");
  } else if (event.key === "s") act("step");
  else if (event.key === "c") act("cycle");
  else if (event.key === "r") act("reset");
  else if (event.key === "+" || event.key === "=") change({ speed: controls.nudgeSpeed(5) });
  else if (event.key === "-") change({ speed: controls.nudgeSpeed(-5) });
  else if (event.key in MOVES) moveCursor(view, MOVES[event.key]);
  else if (event.key === "Escape") point(view, null, false);
  else if (event.key === "Enter" && view.cursor !== null && tag !== "BUTTON") press(view, view.cursor);
  else return;
  event.preventDefault();
});

// Around it.

$("theme").addEventListener("click", () => {
  const dark = theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  theme = dark ? "light" : "dark";
  restyle();
  showAddress();
});
$("share").addEventListener("click", async () => {
  try {
    await navigator.clipboard.writeText(location.href);
    $("share").textContent = "Copied";
    setTimeout(() => ($("share").textContent = "Copy link"), 1500);
  } catch {
    problem("The browser does not let the page copy. Copy the link from the address bar.");
  }
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", restyle);
window.addEventListener("resize", () => {
  fit();
  returns.dirty = work.dirty = true;
});

const rampContext = $("ramp").getContext("2d");
ramp(known.colours).forEach(({ css }, i) => {
  rampContext.fillStyle = css;
  rampContext.fillRect(i, 0, 1, 10);
});

if (theme !== "light" && theme !== "dark") theme = null;
restyle();

// The scene of the address. If it came from elsewhere and would replace what somebody is watching, the user decides.

let shared = null;
const asked = location.search;
const run = new URLSearchParams(asked).get("run");
try {
  shared = fromQuery(asked, known);
} catch (error) {
  problem(error.message);
}
undecided = shared !== null;

function showShared() {
  // Paused first, so that a paused scene is seen from its first step.
  if (run === "0") send(() => ({ do: "pause" }));
  send(() => ({ do: "scene", scene: shared, restart: true }));
  if (run === "1") send(() => ({ do: "run" }));
  decide();
}

function decide() {
  orders.then(() => {
    undecided = false;
    showAddress();
  });
}

function onFirstFrame() {
  const isOwn = isTyped || isRemembered(asked);
  if (isSame(shared, scene)) decide();
  else if (isOwn && !frame.touched) showShared();
  else {
    const steps = frame.agents[0].steps;
    $("ask-text").textContent = `It would replace the scene that is running here, and what was learned in ${steps.toLocaleString("en")} step${steps === 1 ? "" : "s"} would be lost.`;
    $("ask").showModal();
  }
}
$("ask-show").addEventListener("click", () => $("ask").close("show"));
$("ask-keep").addEventListener("click", () => $("ask").close("keep"));
$("ask").addEventListener("close", () => ($("ask").returnValue === "show" ? showShared() : decide()));

listen({
  onScene,
  onFrame: (next) => {
    const isFirst = frame === null;
    onFrame(next);
    if (isFirst && undecided) onFirstFrame();
  },
  onState,
  onRestart,
});
requestAnimationFrame(tick);
