// The race: how far each agent is from the finish line, and the paper's Figure 3 as runs finish.

import { $, capital, count, counted, element, fixed, precisely, put } from "./shown.js";

const SINCE = { start: "", wall: " since the wall was built", shortcut: " since the shortcut was opened", paint: " since the world was painted", change: " since the world changed" };
const RIGHT = { start: "Within 1 % of the optimum", wall: "Recovered", shortcut: "Recovered", paint: "Recovered", change: "Recovered" };

/** The name of an agent: its planner, and how it explores if that is not the paper's way or distinguishes two agents. */
export function racerName(frame, k, titles) {
  const agent = frame.agents[k];
  const isAlike = frame.agents.length > 1 && frame.agents.every(({ planner }) => planner === agent.planner);
  const isPaper = !agent.explores || /^ε [^,]+, M \d+$/.test(agent.explores);
  return titles[agent.planner] + (isAlike || !isPaper ? ` · ${agent.explores ?? ""}` : "");
}

/** How a text speaks of an agent: a planner named after its authors is their method. */
const spoken = (frame, k, titles) => racerName(frame, k, titles).replace(/^\S+ & \S+/, "$&’s method");

/** What the newest policy is worth. Not as a percentage: of a negative number it would mean nothing. */
const worth = (gap, optimum) => (gap === null || gap === undefined ? "" : ` (worth ${precisely(optimum - gap, gap)} now; the optimum is ${precisely(optimum, gap)})`);
/** A maze as text without its comments: the server sends it back without them. */
const bare = (text) => text.split("\n").filter((line) => !line.startsWith(";")).join("\n").trim();

/** The course of one agent in words. */
export function courseText(course, optimum, isClosed) {
  if (!course) return "";
  if (isClosed) return "There is no path to the goal.";
  if (optimum === null) return "The optimum is being computed.";
  const done = `${counted(course.steps, "step")}, ${counted(course.additions, "addition")}`;
  if (course.reached && course.steps === 0 && course.cause !== "start") return "Still within 1 % of the optimum: the change did not matter.";
  const within = course.near === null || course.near === undefined ? "" : ` Within 5 % after ${counted(course.near, "step")}.`;
  if (course.reached) return `✓ ${RIGHT[course.cause]} after ${done}.${within}`;
  const near = course.near === null || course.near === undefined ? "Not yet within 5 % of the optimum" : `Within 5 % of the optimum after ${counted(course.near, "step")}; not yet within 1 %`;
  return `${near}${worth(course.gap, optimum)}: ${done}${SINCE[course.cause]}.`;
}

/** What was earned, who came near the optimum first, and what both did so far, each in a sentence; none if there is no race. `runs` are the points of Figure 3. */
export function raceText(frame, titles, equal, runs = []) {
  if (frame.agents.length < 2 || frame.courses.some((course) => !course)) return [];
  const name = (k) => spoken(frame, k, titles);
  const isMeasured = !frame.closed && frame.optimum !== null;
  return [earnedText(frame, name, runs), isMeasured ? nearText(frame.courses, name, equal) : "", doneText(frame.agents, name, equal)].filter(Boolean);
}

/** What was earned over the first 200 episodes; empty until both have finished as many. */
function earnedText({ agents }, name, runs) {
  const scores = agents.map(({ planner, episodes }) => (episodes < 200 ? undefined : runs.findLast((run) => run.planner === planner)?.score));
  if (scores.includes(undefined) || scores[0] === scores[1]) return "";
  const [best, other] = scores[0] > scores[1] ? [0, 1] : [1, 0];
  return `Over the first 200 episodes each, ${name(best)} earned more: ${fixed(scores[best], 1)} on average against ${fixed(scores[other], 1)}.`;
}

/** Who came within 5 % of the optimum first, and who within 1 %. */
function nearText(courses, name, equal) {
  const measure = equal === "work" ? "additions" : "steps";
  const near = courses.map((course) => (course.near === null || course.near === undefined ? null : equal === "work" ? course.near_additions : course.near));
  const reached = courses.map((course) => (course.reached ? course[measure] : null));
  const since = SINCE[courses[0].cause].trim();
  const told = (text) => capital(since ? `${since}, ${text}.` : `${text}.`);
  if (near.every((done) => done === null)) return told("neither is known to have come within 5 % of the optimum yet");
  const [five, one] = [first(near, name), first(reached, name)];
  const isOpen = reached.every((done) => done === null);
  const end = isOpen ? "neither is known to be within 1 % yet" : one === five ? `within 1 % ${against(reached, measure)}` : `${one} came within 1 % ${against(reached, measure)}`;
  return told(`${five} came within 5 % of the optimum ${against(near, measure)}, and ${end}`);
}

const order = ([a, b]) => (b === null || (a !== null && a <= b) ? [0, 1] : [1, 0]);
const first = (done, name) => (done[0] === done[1] ? "both" : name(order(done)[0]));
// Policies are judged a little later, so only a comparison of two tells who was first.
const against = (done, measure) => {
  const [few, many] = order(done).map((k) => done[k]);
  return many === null ? `after ${count(few)} ${measure}` : few === many ? `(${count(few)} ${measure})` : `first (${count(few)} ${measure} against ${count(many)})`;
};

/** What both did so far; empty before the first step. */
function doneText(agents, name, equal) {
  if (agents.every(({ steps }) => steps === 0)) return "";
  const on = { steps: "Equal steps", work: "Equal work", time: "Equal computing time" }[equal];
  if (agents[0].steps === agents[1].steps) return `${on}: ${count(agents[0].steps)} each.`;
  return `${on}: ${agents.map(({ steps }, k) => `${counted(steps, "step")} of ${name(k)}`).join(", ")}.`;
}

const COLORS = { reversed_full_backups: "#1fa187", small_backups: "#3b82f6", moore_atkeson: "#e8871e", peng_williams: "#d1495b", wiering_schmidhuber: "#9b5de5", value_iteration: "#8a8f98" };
const MARGIN = { left: 44, right: 12, top: 10, bottom: 26 };

/** Figure 3: update cycles per step against the mean return of the first 200 episodes. */
export class Figure {
  constructor(canvas, { figure_3, planners, defaults, mazes }) {
    this.canvas = canvas;
    this.published = figure_3.filter(({ cycles }) => cycles !== null);
    this.titles = Object.fromEntries(planners.map(({ name, title }) => [name, title]));
    this.paper = { defaults, maze: mazes[0]?.text ?? "" };
    this.runs = [];
    const list = $("figure-key");
    for (const { name, title } of planners) {
      const item = element("li", capital(title));
      item.prepend(element("i", undefined, name));
      item.firstChild.style.background = COLORS[name];
      list.append(item);
    }
    this.printed = element("li", "Hollow: as printed in the paper");
    list.append(this.printed);
  }

  set(runs, scene) {
    this.runs = runs;
    const { defaults } = this.paper;
    // The printed points belong to the paper's problem only.
    this.isPaper = !scene.world && scene.explore === "paper" && scene.law === "fifteen" && ["epsilon", "discount", "min_visits"].every((name) => scene[name] === defaults[name]) && bare(scene.maze) === bare(this.paper.maze);
    this.printed.hidden = !this.isPaper;
    this.canvas.dataset.published = this.isPaper ? this.published.length : 0;
    // Only runs of the paper's agent are points of it.
    const ways = [scene.explore, ...(scene.rival ? [scene.rival_explore ?? scene.explore] : [])];
    this.canvas.closest("figure").hidden = !ways.includes("paper");
    const latest = new Map(runs.map((run) => [`${this.titles[run.planner]} with ${counted(run.cycles, "cycle")} per step`, run.score]));
    const scores = [...latest].slice(-2).map(([way, score]) => `${way} ${fixed(score, 1)}`);
    const text = scores.length ? `Mean return of 200 episodes: ${scores.join(", ")}.` : "A run of 200 episodes adds a point.";
    put($("figure-text"), text);
    this.canvas.setAttribute("aria-label", `Mean return of the first 200 episodes against cycles per step. ${text}`);
    this.dirty = true;
  }

  draw() {
    if (!this.dirty) return;
    this.dirty = false;
    const scale = window.devicePixelRatio || 1;
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (!width) return;
    this.canvas.width = Math.round(width * scale);
    this.canvas.height = Math.round(height * scale);
    const c = this.canvas.getContext("2d");
    c.setTransform(scale, 0, 0, scale, 0, 0);
    const style = getComputedStyle(document.documentElement);
    const read = (name) => style.getPropertyValue(name).trim();
    const published = this.isPaper ? this.published : [];
    const scores = [...published, ...this.runs].map(({ score }) => score);
    const [low, high] = scores.length ? [Math.floor(Math.min(...scores) / 5) * 5, Math.ceil((Math.max(...scores) + 0.5) / 5) * 5] : [-100, 0];
    const most = Math.max(10, ...this.runs.map(({ cycles }) => cycles));
    const x = (cycles) => MARGIN.left + (cycles / most) * (width - MARGIN.left - MARGIN.right);
    const y = (score) => MARGIN.top + ((high - score) / (high - low || 1)) * (height - MARGIN.top - MARGIN.bottom);
    c.font = "12px system-ui, sans-serif";
    c.textBaseline = "middle";
    const step = Math.max(5, Math.ceil((high - low) / 20) * 5);
    for (let tick = low; tick <= high; tick += step) {
      c.strokeStyle = read("--grid");
      c.beginPath();
      c.moveTo(MARGIN.left, Math.round(y(tick)) + 0.5);
      c.lineTo(width - MARGIN.right, Math.round(y(tick)) + 0.5);
      c.stroke();
      c.fillStyle = read("--dim");
      c.textAlign = "right";
      c.fillText(fixed(tick, 0), MARGIN.left - 7, y(tick));
    }
    c.textAlign = "center";
    for (const tick of [0, 1, 3, 5, 10].filter((tick) => tick <= most)) c.fillText(tick === 10 ? "10 cycles" : String(tick), tick === 10 ? x(10) - 16 : x(tick), height - 10);
    const dot = (point, isOwn) => {
      c.beginPath();
      c.arc(x(point.cycles), y(point.score), isOwn ? 4.5 : 4, 0, 2 * Math.PI);
      c.fillStyle = c.strokeStyle = COLORS[point.planner] ?? read("--dim");
      c.lineWidth = 1.6;
      if (isOwn) c.fill();
      else c.stroke();
    };
    published.forEach((point) => dot(point, false));
    this.runs.forEach((point) => dot(point, true));
  }
}
