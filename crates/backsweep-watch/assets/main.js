// The page: frames in, picture out; clicks and keys in, commands out. The frames come from a server, from a recording, or
// from an engine in the page itself.

import { Address } from "./address.js";
import { Algorithm } from "./algorithm.js";
import { Breaking } from "./breaking.js";
import { Chart } from "./chart.js";
import { Controls, speedText } from "./controls.js";
import { explain } from "./explain.js";
import { listenForKeys } from "./keys.js";
import { Label } from "./label.js";
import { Lessons } from "./lessons.js";
import { about, cell as askCell, order, tour as askTour } from "./link.js";
import { MazeView, ramp } from "./maze.js";
import { recordedSource } from "./player.js";
import { Pointer } from "./pointer.js";
import { QueueView } from "./queue.js";
import { courseText, Figure, racerName, raceText } from "./race.js";
import { Share } from "./share.js";
import { $, actionsOf, capital, count, element, FOUR, fixed, namer, put } from "./shown.js";
import { fromQuery } from "./scene.js";
import { listen } from "./stream.js";
import { words } from "./sweep.js";
import { Tour } from "./tour.js";

/** The race at the end of the tour, on the paper's problem. */
const RACE = { rival: "moore_atkeson", race: "work", speed: 2512 };
const QUEUE_TIME = 90; // milliseconds between two drawings of the queue and the numbers while it runs

const recorded = await recordedSource();
const hasEngine = document.querySelector('meta[name="backsweep-engine"]') !== null;
const source = recorded ?? (hasEngine ? (await import("./alone.js")).source : { about, order, cell: askCell, tour: askTour, listen });
const known = await source.about();
// A recording and a user's own agent can be viewed, not changed.
const canChange = !recorded && !known.read_only;
document.body.classList.toggle("recorded", !canChange);
document.body.classList.toggle("read-only", Boolean(known.read_only));
const titles = Object.fromEntries(known.planners.map(({ name, title }) => [name, title]));
const views = [0, 1].map((k) => new MazeView($(`maze-${k}`), known.colors));
const queues = [0, 1].map((k) => new QueueView($(`queue-${k}`), $(`waiting-${k}`), 9));
const returns = new Chart($("returns"), { unit: "episodes", fromZero: false });
const work = new Chart($("work"), { unit: "steps", fromZero: true });
const figure = new Figure($("figure-3"), known);
let scene = null;
let layout = { pointers: [FOUR], texts: [], episodes: true };
let frame = null;
let life = 0;
let name = namer(1, 1);
let theme = new URLSearchParams(location.search).get("theme");
// The state of the stream of frames: connecting, open, hidden, crowded, full, lost or failed.
let link = "connecting";
// Commands are sent one at a time, so that the engine sees them in the order of the clicks.
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

// `make` builds the command when its turn comes; null, or a result of null, only waits for earlier ones. The next command waits until the page
// has seen the result of this one, since frames come over a separate connection.
function send(make, { done, refused } = {}) {
  orders = orders.then(async () => {
    const command = make?.() ?? null;
    if (command === null) return;
    try {
      await seen((await source.order(command)).number);
      done?.();
    } catch (error) {
      if (refused) refused(error.message);
      else problem(capital(error.message));
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

// Sliders send many changes: while one is in flight, later ones are collected. Only what changed is sent, so that another
// viewer's change to another setting survives.
let wanted = null;
function change(settings, wrong = (text) => problem(capital(text))) {
  // The text of a lesson goes with its world.
  if ("world" in settings) lessons?.show(null);
  const waits = wanted !== null;
  wanted = { ...(wanted ?? {}), ...settings };
  if (waits) return;
  const make = () => {
    const settings = wanted;
    wanted = null;
    return { do: "change", settings };
  };
  const refused = (text) => {
    wrong(text);
    if (scene) controls.show(scene);
  };
  send(make, { refused });
}

function act(what) {
  if (known.read_only) return;
  if (what === "toggle") send(() => ({ do: frame?.running || frame?.busy ? "pause" : "run" }));
  else if (what === "step") send(() => ({ do: what, count: 1 }));
  else if (what === "reset") send(() => ({ do: "reset" }));
  else if (what === "tour") tour?.open();
  else if (!canChange) return;
  else if (what === "cycle") send(() => ({ do: what, count: 1 }));
  else if (what === "faster" || what === "slower") change({ speed: controls.nudgeSpeed(what === "faster" ? 5 : -5) });
  else breaking[what]?.();
}

const controls = new Controls(known, { change, act, problem });
const breaking = new Breaking({ send, say, titles });
const label = new Label({ ask: source.cell.bind(source), name: (i) => name(i), actions: (i) => actionsOf(layout.pointers, i), title: (k) => capital(racerName(frame, k, titles)), reports: () => frame?.cycles ?? [], say });
const algorithm = new Algorithm({ mark, name: (i) => name(i), action: (cell, a) => actionsOf(layout.pointers, cell)[a]?.word });
const pointer = new Pointer(views, { label, algorithm, name: (i) => name(i), send, say, isRace: () => Boolean(scene?.rival), canPaint: canChange });
const address = !canChange ? null : new Address(known, { now: () => ({ scene, layout, frame, theme, lesson: lessons?.current?.id }), send, problem });
const caption = (frame) => frame.agents.map((agent, k) => `${capital(racerName(frame, k, titles))}: ${count(agent.steps)} steps, ${count(agent.episodes)} episodes`).join("   ");
const stage = () => ({ scene, views: scene.rival ? views : views.slice(0, 1), caption: caption(frame), captions: caption });
const share = new Share(known.colors, stage, { problem, say });
const tour = !canChange ? null : new Tour(known, { ask: source.tour, wait: hold, arrive });
const lessons = !canChange ? null : new Lessons({ start: ({ query }) => start(fromQuery(query, known)), say });
listenForKeys({ views, pointer, isReady: () => frame !== null, position: () => frame.agents[0].position ?? 0, act });

/** Shows a scene from its first step, running. */
function start(scene) {
  send(() => ({ do: "scene", scene, restart: true }));
  send(() => ({ do: "run" }));
}

/** Outlines cells of the maze. */
function mark(cells) {
  views.forEach((view) => {
    view.highlight = new Set(cells);
    view.dirty = true;
  });
}

// What the maze did when the tour opened; null if it is not held. Others who watch the same server are not disturbed.
let held = null;
let holdsFirst = false;
const isAlone = known.free_seats === undefined || known.free_seats === known.max_viewers;

/** Lets the maze wait while the tour is read. */
function hold() {
  if (!frame) holdsFirst = true;
  if (!frame || held) return;
  held = { running: false, fresh: false };
  // Commands of the address come first.
  send(() => {
    held = { running: frame.running, fresh: !frame.touched && isAlone };
    return frame.running && isAlone ? { do: "pause" } : null;
  });
}

/** The reader arrives at the maze: it starts, from the beginning if nobody has used it; or the race does. */
function arrive(wanted) {
  holdsFirst = false;
  if (wanted === "race") lessons.show(null);
  if (wanted === "race") start({ ...known.defaults, ...RACE });
  else {
    send(() => (held?.fresh ? { do: "reset" } : null));
    send(() => (held?.running || wanted === "maze" ? { do: "run" } : null));
  }
  send(() => (held = null));
}

// Frames.

function onScene(event) {
  scene = event.scene;
  layout = event.layout ?? layout;
  // In a world of the suite, the rules fix start and goal.
  document.body.classList.toggle("suite", Boolean(scene.world));
  if (scene.world && ["start", "goal", "reward"].includes(pointer.brush)) document.querySelector('input[name="brush"][value="look"]').checked = true;
  returns.note = layout.episodes ? "" : "This world has no episodes, so there is no return to draw.";
  views.forEach((view) => view.setMaze(scene.maze));
  name = namer(views[0].width, views[0].rows.length);
  for (const id of ["figure-1", "waits-1", "queue-1"]) $(id).hidden = scene.rival === null;
  const isRace = scene.rival !== null;
  document.querySelector("main").classList.toggle("race", isRace);
  // In a race Figure 3 stands beside the mazes.
  const before = isRace ? document.querySelector(".waits") : null;
  const place = isRace ? before.parentElement : document.querySelector(".charts");
  if ($("figure-card").parentElement !== place) place.insertBefore($("figure-card"), before);
  controls.show(scene);
  breaking.showTrials(event.results.trials);
  figure.set(event.results.runs, scene, layout);
  fit();
  address?.show();
}

/** The lines across the chart: the optimum, and what the best policy earns while it explores with ε, if that is less. */
function lines({ optimum, exploring }) {
  if (optimum === null) return [];
  const isLess = exploring !== null && exploring < optimum - 1e-6 * Math.abs(optimum);
  return isLess ? [optimum, exploring] : [optimum];
}

function onFrame(next) {
  const wasActive = frame && (frame.running || frame.busy);
  const isActive = next.running || next.busy;
  const fresh = next.life !== life;
  const isFirst = frame === null;
  const hadReport = frame?.cycles.length > 0;
  frame = next;
  life = next.life;
  const now = performance.now();
  next.agents.forEach((agent, k) => views[k].setAgent(agent, next.cycles[k] ?? null, fresh, next.running));
  returns.set(next.agents.map((agent) => agent.returns), lines(next));
  work.set(next.agents.map((agent) => agent.work), []);
  share.keep(next, now);
  breaking.showFrame(next);
  if (wasActive !== isActive) {
    $("run").textContent = isActive ? "Pause" : recorded ? "Play" : "Run";
    say(next.running ? `Running, ${speedText(scene.speed)}` : next.busy ? "Working" : `Paused after ${next.agents[0].steps} steps`);
    address?.show();
  }
  if (next.cycles.length > 0) showReport(next);
  else if (hadReport) $("report").hidden = true;
  if (!isActive || fresh || now - showNumbers.last > QUEUE_TIME) showNumbers();
  if (!isActive) address?.showSoon();
  document.body.dataset.frame = next.number;
  document.body.dataset.life = next.life;
  showNotice();
  release();
  if (isFirst) address?.onFirstFrame();
  if (holdsFirst) hold();
}

/** What planners are made of: the paper's are not what the name of one says. */
const KINDS = { reversed_full_backups: "the paper’s, made of small backups", small_backups: "the paper’s, made of small backups", moore_atkeson: "made of full backups", peng_williams: "made of full backups", wiering_schmidhuber: "made of full backups", value_iteration: "made of full backups" };
const hasQueue = (planner) => planner !== "value_iteration";

function showReport(next) {
  const isRace = next.agents.length > 1;
  const part = (report, k) => {
    const { planner } = next.agents[k];
    return (isRace ? `${capital(racerName(next, k, titles))}: ` : "") + words(report, { name, action: (cell, a) => actionsOf(layout.pointers, cell)[a]?.word, who: isRace ? "It" : "The planner", hasQueue: hasQueue(planner) });
  };
  const text = next.cycles.map(part).join(" ");
  // A later frame may still contain it; repeating it would drown out newer messages.
  if (!$("report").hidden && $("report").textContent === text) return;
  $("report").textContent = text;
  $("report").hidden = false;
  say(text);
}

function showNumbers() {
  showNumbers.last = performance.now();
  if (!frame) return;
  frame.agents.forEach((agent, k) => {
    put($(`name-${k}`), capital(racerName(frame, k, titles)));
    put($(`kind-${k}`), KINDS[agent.planner] ?? "");
    put($(`tags-${k}`), recorded ? "recorded" : known.read_only ? "your agent, read-only" : link !== "open" ? "–" : frame.running ? `${count(agent.speed)} steps per second` : frame.busy ? "working" : "paused");
    showTable($(`numbers-${k}`), known.read_only ? ownNumbers(agent) : numbersOf(agent));
    put($(`course-${k}`), courseText(frame.courses[k], frame.optimum, frame.closed));
    $(`course-${k}`).classList.toggle("reached", Boolean(frame.courses[k]?.reached));
    put($(`waits-name-${k}`), frame.agents.length > 1 ? capital(racerName(frame, k, titles)) : "Queue");
    if (k === 0 && canChange) algorithm.show({ planner: agent.planner, step: agent.step, report: frame.cycles[0] ?? null, isActive: frame.running || frame.busy, life: frame.life });
    queues[k].show({ urgent: agent.urgent, total: agent.queue, report: frame.cycles[k] ?? null, name, hasQueue: hasQueue(agent.planner) });
  });
  const told = raceText(frame, titles, scene.race, figure.runs);
  if ($("race-line").textContent !== told.join("")) $("race-line").replaceChildren(...told.map((line) => element("span", line)));
  $("race-line").hidden = frame.agents.length < 2;
  // The last line counts steps: a screen reader would never come to an end.
  const verdict = told.slice(0, -1).join(" ");
  if (verdict && verdict !== showNumbers.verdict) say(verdict);
  showNumbers.verdict = verdict;
  const { low, high } = frame.agents[0];
  put($("low"), fixed(low, high - low < 10 ? 2 : 0));
  put($("high"), fixed(high, high - low < 10 ? 2 : 0));
  const last = frame.agents.map((agent, k) => `${racerName(frame, k, titles)}: episode ${agent.episodes}, last return ${fixed(agent.last, 1)}`);
  const [best, exploring] = lines(frame).map((at) => fixed(at, digits()));
  put($("returns-text"), `discounted${best ? `; dashed: optimum ${best}` : ""}${exploring ? `; dotted: ${exploring} with ε = ${scene.epsilon}` : ""}`);
  $("returns").setAttribute("aria-label", `Return per episode. ${last.join("; ")}. The optimum is ${best ?? "not known yet"}${exploring ? `, and ${exploring} with the random actions of ε` : ""}.`);
  const load = frame.agents.map((agent, k) => `${racerName(frame, k, titles)}: ${(agent.additions / Math.max(1, agent.steps)).toFixed(1)}`);
  $("work").setAttribute("aria-label", `Additions per step. ${load.join("; ")}.`);
}
showNumbers.last = 0;
showNumbers.verdict = "";

// Some worlds pay 1 in total.
const digits = () => (Math.abs(frame.optimum ?? 100) < 10 ? 3 : 1);
const numbersOf = (agent) => ({
  Episodes: count(agent.episodes),
  Steps: count(agent.steps),
  "Last return": fixed(agent.last, digits()),
  "Mean return": fixed(agent.mean, digits()),
  "Additions per step": agent.steps ? (agent.additions / agent.steps).toFixed(1) : "–",
  "On the queue": count(agent.queue),
});
// For a user's own agent, nothing is known about what it does in the world.
const ownNumbers = (agent) => ({ States: count(agent.states), Cycles: count(agent.cycles), Backups: count(agent.backups), "On the queue": count(agent.queue) });

function showTable(list, numbers) {
  if (list.childElementCount === 0) {
    for (const name of Object.keys(numbers)) {
      const box = element("div");
      box.append(element("dt", name), element("dd"));
      list.append(box);
    }
  }
  Object.values(numbers).forEach((text, i) => put(list.children[i].lastChild, text));
}

const NOTICES = {
  crowded: "This browser already shows the page in four other tabs or windows. Close or hide one of them, and this one continues.",
  full: `${known.max_viewers} viewers are watching, which is the limit. This page tries again every few seconds.`,
  failed: "The engine in this page has stopped because of an error. Reload the page; the scene is kept in the address.",
  lost: "The server is not responding: it has ended or was stopped. This page tries again every few seconds; the scene is kept in the address.",
};
const CLOSED = "There is no path from the start to the goal, so episodes never end and nothing better can be learned. Remove a wall, or press Undo.";
const STATES = { connecting: "connecting", hidden: "connecting", crowded: "waiting", full: "server full", lost: "disconnected", failed: "stopped" };

function showNotice() {
  const text = NOTICES[link] ?? frame?.problem ?? (frame?.closed ? CLOSED : "");
  put($("notice"), text);
  $("notice").hidden = text === "";
  $("mazes").classList.toggle("stale", link !== "open" && frame !== null);
  put($("state"), STATES[link] ?? (recorded ? (frame?.running ? "playing" : "recorded") : frame?.running ? "learning" : frame?.busy ? "working" : "paused"));
  const look = `pill ${link === "open" ? (frame?.running ? "live" : "") : "lost"}`;
  if ($("state").className !== look) $("state").className = look;
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

// Drawing.

function fit() {
  if (!scene) return;
  const race = scene.rival !== null && window.innerWidth > 640;
  const room = $("mazes").clientWidth;
  const width = (race ? (room - 16) / 2 : room) - (window.innerWidth > 640 ? 26 : 18);
  const height = window.innerWidth > 1020 ? Math.max(360, window.innerHeight - 316) : window.innerHeight * 0.8;
  views.forEach((view) => view.fit(width, height));
}

function restyle() {
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  const dark = theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  $("theme").textContent = dark ? "Light" : "Dark";
  views.forEach((view) => view.restyle());
  tour?.view.restyle();
  returns.dirty = work.dirty = figure.dirty = true;
}

let before = performance.now();
function tick(now) {
  const elapsed = Math.min(100, now - before);
  before = now;
  // While an animation is being encoded, the page behind it is hidden.
  if (!share.isBusy) {
    views[0].draw(elapsed);
    if (scene?.rival) views[1].draw(elapsed);
  }
  returns.draw();
  work.draw();
  figure.draw();
  tour?.draw(elapsed);
  tell();
  requestAnimationFrame(tick);
}

// For tests: the frame, which one the picture shows, and whether it has come to rest.
function tell() {
  if (!frame) return;
  window.backsweep = { frame };
  const still = !views[0].isMoving && !(scene.rival && views[1].isMoving);
  const { dataset } = document.body;
  if (dataset.drawn !== String(frame.number)) dataset.drawn = frame.number;
  if (dataset.still !== String(still)) dataset.still = still;
}

// Around it.

$("theme").addEventListener("click", () => {
  const dark = theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  theme = dark ? "light" : "dark";
  restyle();
  address?.show();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", restyle);
window.addEventListener("resize", () => {
  fit();
  returns.dirty = work.dirty = figure.dirty = true;
});

const rampContext = $("ramp").getContext("2d");
ramp(known.colors).forEach(({ css }, i) => {
  rampContext.fillStyle = css;
  rampContext.fillRect(i, 0, 1, 10);
});

if (theme !== "light" && theme !== "dark") theme = null;
restyle();
explain();
source.listen({ onScene, onFrame, onState, onRestart });
requestAnimationFrame(tick);
tour?.offer(location.search);
