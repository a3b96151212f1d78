// The race: how far each agent is from the finish line, and the paper's Figure 3 as runs finish.

import { $, capital, count, counted, element, fixed, precisely, put } from "./shown.js";

const SINCE = { start: "", wall: " since the wall was built", shortcut: " since the shortcut was opened", paint: " since the world was painted", change: " since the world changed" };
const RIGHT = { start: "Within 1 % of the optimum", wall: "Recovered", shortcut: "Recovered", paint: "Recovered", change: "Recovered" };
const PAPERS = ["reversed_full_backups", "small_backups"];

/** The name of an agent: its planner, and how it explores if that is not the paper's way or distinguishes two agents. */
export function racerName(frame, k, titles) {
  const agent = frame.agents[k];
  const isAlike = frame.agents.length > 1 && frame.agents.every(({ planner }) => planner === agent.planner);
  const isPaper = !agent.explores || /^ε [^,]+, M \d+$/.test(agent.explores);
  return titles[agent.planner] + (isAlike || !isPaper ? ` · ${agent.explores ?? ""}` : "");
}

/** How a text speaks of an agent: as the tour does of the paper's planner and of a method with authors. */
function spoken(frame, k, titles) {
  const isOfPaper = frame.agents.map(({ planner }) => PAPERS.includes(planner));
  return isOfPaper[k] && !isOfPaper[1 - k] ? "the paper’s planner" : racerName(frame, k, titles).replace(/^\S+ & \S+/, "$&’s method");
}

/** A maze as text without its comments: the server sends it back without them. */
const bare = (text) => text.split("\n").filter((line) => !line.startsWith(";")).join("\n").trim();
const isMissing = (number) => number === null || number === undefined;

/** The course of one agent in words. */
export function courseText(course, optimum, isClosed) {
  if (!course) return "";
  if (isClosed) return "There is no path to the goal.";
  if (optimum === null) return "The optimum is being computed.";
  if (course.reached && course.steps === 0 && course.cause !== "start") return "Still within 1 % of the optimum: the change did not matter.";
  const work = (steps, additions) => `after ${counted(steps, "step")}, ${counted(additions, "addition")}`;
  const [done, near] = [work(course.steps, course.additions), isMissing(course.near) ? null : work(course.near, course.near_additions)];
  if (course.reached) return `✓ ${RIGHT[course.cause]} ${done}.${near && near !== done ? ` Within 5 % ${near}.` : ""}`;
  const line = near ? `Within 5 % of the optimum ${near}; not yet within 1 %` : `Not yet within 5 % of the optimum ${done}`;
  // Not as a percentage: of a negative number it would mean nothing.
  const worth = isMissing(course.gap) ? "" : ` On average, the policy it recommends earns ${precisely(optimum - course.gap, course.gap)}; the optimum is ${precisely(optimum, course.gap)}.`;
  return `${line}${SINCE[course.cause]}.${worth}`;
}

/** Who came near the optimum first, what was earned, and what both did so far, each in a sentence; none if there is no race. `runs` are the points of Figure 3. */
export function raceText(frame, titles, equal, runs = []) {
  if (frame.agents.length < 2 || frame.courses.some((course) => !course)) return [];
  const name = (k) => spoken(frame, k, titles);
  const isMeasured = !frame.closed && frame.optimum !== null;
  return [isMeasured ? nearText(frame.courses, name, equal) : "", earnedText(frame, name, runs), doneText(frame.agents, name, equal)].filter(Boolean);
}

/** What was earned over the first 200 episodes; empty until both have finished as many. */
function earnedText({ agents }, name, runs) {
  const scores = agents.map(({ planner, episodes }) => (episodes < 200 ? undefined : runs.findLast((run) => run.planner === planner)?.score));
  if (scores.includes(undefined) || scores[0] === scores[1]) return "";
  const [best, other] = scores[0] > scores[1] ? [0, 1] : [1, 0];
  return `Over the first 200 episodes each, ${name(best)} earned more: ${fixed(scores[best], 1)} on average against ${fixed(scores[other], 1)}.`;
}

const EQUAL = { steps: "take the same number of steps", work: "get the same number of additions", time: "get the same computing time" };

/** Who came within 5 % of the optimum first, and who within 1 %. */
function nearText(courses, name, equal) {
  const measure = equal === "work" ? "additions" : "steps";
  const near = courses.map((course) => (equal === "work" ? course.near_additions : course.near) ?? null);
  const reached = courses.map((course) => (course.reached ? course[measure] : null));
  const since = SINCE[courses[0].cause].trim();
  const told = (text) => capital(since ? `${since}, ${text}` : text);
  const [first, second] = order(near);
  if (near[first] === null) return told(`both ${EQUAL[equal]}. Whose policy comes within 5 % of the optimum, the best possible mean return, first?`);
  const after = (done) => `after ${round(done)} ${measure}`;
  const five = `came within 5 % of the optimum ${after(near[first])}`;
  const isTie = near[second] !== null && near[second] < CLEAR * near[first];
  const rest = near[second] === null ? `${capital(name(second))} is still on its way.` : `${capital(name(second))} needed ${round(near[second])}: ${(near[second] / near[first]).toFixed(1)} times as many.`;
  const [winner, last] = order(reached);
  const one = reached[winner] === null ? "" : ` ${capital(name(winner))} came within 1 % ${reached[last] === null ? "" : "first, "}${after(reached[winner])}. That also takes luck: an agent can plan only with what it has seen.`;
  return told(isTie ? `both ${five.replace("after", "after about")}.${one}` : `${name(first)} ${five}. ${rest}${one}`);
}

const CLEAR = 1.1; // times as much work, from which one agent was clearly first
/** The agents in the order in which they were done; who is not done is last. */
const order = ([a, b]) => (b === null || (a !== null && a <= b) ? [0, 1] : [1, 0]);
/** A large count in three digits. */
const round = (number) => Number(number.toPrecision(3)).toLocaleString("en");

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

  set(runs, scene, layout) {
    this.runs = runs;
    const { defaults } = this.paper;
    // The printed points belong to the paper's problem only.
    this.isPaper = !scene.world && scene.explore === "paper" && scene.law === "fifteen" && ["epsilon", "discount", "min_visits"].every((name) => scene[name] === defaults[name]) && bare(scene.maze) === bare(this.paper.maze);
    this.printed.hidden = !this.isPaper;
    this.canvas.dataset.published = this.isPaper ? this.published.length : 0;
    // Only runs of the paper's agent are points of it, and of so many episodes.
    const ways = [scene.explore, ...(scene.rival ? [scene.rival_explore ?? scene.explore] : [])];
    this.canvas.closest("figure").hidden = !layout.episodes || !ways.includes("paper");
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
