// The race: how far each agent is from the finish line, and the paper's Figure 3 as runs finish.

import { $, capital, count, counted, element, fixed, put } from "./shown.js";

const SINCE = { start: "", wall: " since the wall was built", shortcut: " since the shortcut was opened", paint: " since the world was painted", change: " since the world changed" };
const RIGHT = { start: "Within 1 % of the optimum", wall: "Recovered", shortcut: "Recovered", paint: "Recovered", change: "Recovered" };

/** The name of an agent: its planner, and how it explores if that is not the paper's way or distinguishes two agents. */
export function racerName(frame, k, titles) {
  const agent = frame.agents[k];
  const isAlike = frame.agents.length > 1 && frame.agents.every(({ planner }) => planner === agent.planner);
  const isPaper = !agent.explores || /^ε [^,]+, M \d+$/.test(agent.explores);
  return titles[agent.planner] + (isAlike || !isPaper ? ` · ${agent.explores ?? ""}` : "");
}

/** How far below the optimum, in words. Not as a percentage: of a negative number it would mean nothing. */
const below = (gap) => (gap === null || gap === undefined ? "" : ` (now ${+gap.toPrecision(2)} below it)`);
/** A maze as text without its comments: the server sends it back without them. */
const bare = (text) => text.split("\n").filter((line) => !line.startsWith(";")).join("\n").trim();

/** The course of one agent in words. */
export function courseText(course, optimum, isClosed) {
  if (!course) return "";
  if (isClosed) return "There is no path to the goal, so there is no finish line.";
  if (optimum === null) return "The finish line is being computed.";
  const done = `${counted(course.steps, "step")}, ${counted(course.additions, "addition")}`;
  if (course.reached && course.steps === 0 && course.cause !== "start") return "Still within 1 % of the optimum: the change did not matter.";
  if (course.reached) return `✓ ${RIGHT[course.cause]} after ${done}.`;
  const near = course.near === null || course.near === undefined ? "Not yet within 5 % of the optimum" : `Within 5 % of the optimum after ${counted(course.near, "step")}; not yet within 1 %`;
  return `${near}${below(course.gap)}: ${done}${SINCE[course.cause]}.`;
}

/** Who is ahead, in words; an empty text if there is no race. `runs` are the points of Figure 3. */
export function raceText(frame, titles, equal, runs = []) {
  if (frame.agents.length < 2) return "";
  const [a, b] = frame.courses;
  const on = { steps: "equal steps", work: "equal work", time: "equal computing time" }[equal];
  const measure = equal === "work" ? "additions" : "steps";
  const name = (k) => racerName(frame, k, titles);
  if (!a || !b) return "";
  if (a.reached && b.reached) {
    const [first, last] = a[measure] <= b[measure] ? [0, 1] : [1, 0];
    const [few, many] = [frame.courses[first][measure], frame.courses[last][measure]];
    return few === many ? `On ${on}: a draw.` : `On ${on}, ${name(first)} won: ${count(few)} ${measure} against ${count(many)}.`;
  }
  if (a.reached || b.reached) return `On ${on}, ${name(a.reached ? 0 : 1)} has crossed the finish line; ${name(a.reached ? 1 : 0)} has not.`;
  const [few, many] = frame.agents[0].steps <= frame.agents[1].steps ? [0, 1] : [1, 0];
  const taken = equal === "work" && frame.agents[many].steps > 0 ? `: ${name(many)} has taken ${counted(frame.agents[many].steps, "step")}, ${name(few)} ${count(frame.agents[few].steps)}` : "";
  const scores = [0, 1].map((k) => runs.findLast(({ planner }) => planner === frame.agents[k].planner)?.score);
  if (scores.every((score) => score !== undefined) && scores[0] !== scores[1]) {
    const [best, other] = scores[0] > scores[1] ? [0, 1] : [1, 0];
    return `On ${on}${taken}. Over 200 episodes each, ${name(best)} earned more: ${fixed(scores[best], 1)} on average against ${fixed(scores[other], 1)}.`;
  }
  return `On ${on}${taken}. Nobody has crossed the finish line.`;
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
  }

  set(runs, scene) {
    this.runs = runs;
    const { defaults } = this.paper;
    // The printed points belong to the paper's problem only.
    this.isPaper = !scene.world && scene.explore === "paper" && scene.law === "fifteen" && ["epsilon", "discount", "min_visits"].every((name) => scene[name] === defaults[name]) && bare(scene.maze) === bare(this.paper.maze);
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
