// Explanations of each control and legend entry, shown on hover, focus and tap; and the glossary.

import { $, element } from "./shown.js";

/** The paper's terms, for the glossary. */
const GLOSSARY = {
  value: ["Value V", "The return that the agent expects from a cell: future rewards, each step of delay multiplying them by γ. Dark is low, bright is high."],
  q: ["Q", "The return expected from a cell if one particular action is taken first. V is the best Q of the cell."],
  model: ["Model: R̂, P̂", "What the agent has counted: the mean reward R̂ of each action in each cell, and how often it led where, P̂. Then Q = R̂ + γ Σ P̂ V."],
  predecessor: ["Predecessor", "A cell and action that was seen to lead here. Its Q relies on the value of this cell."],
  small: ["Small backup", "One addition that corrects one Q for one change: when V of a cell changes by ΔV, every predecessor's Q changes by γ · P̂ · ΔV. Nothing else is recomputed."],
  addition: ["Addition", "The unit of work: one term γ P̂ V added to a Q. A small backup is one addition; a full backup is one for each outcome."],
  full: ["Full backup", "Recomputes a Q from all its outcomes: one addition for each. It brings in the same change as a small backup, and those of all other outcomes, at many times the cost where actions have many outcomes."],
  reversed: ["Reversed full backups", "The paper's best planner, and the default. Its name says what it achieves; it is made of small backups, not of full ones: each cell remembers U, the value that its predecessors use, and a popped cell passes on all of V − U at once. Its V is the best Q at all times."],
  queue: ["Queue", "The cells whose value has changed but whose predecessors have not been updated. The most urgent one comes first."],
  priority: ["Priority", "How far a cell's value is from the value that its predecessors rely on: how surprising the cell is."],
  cycle: ["Update cycle", "One cell is popped, that is, taken off the queue, and its predecessors get their small backups. Those that are surprised in turn are queued."],
  enough: ["Why one cycle is enough", "It need not finish the job. A step makes news in only one cell; a cycle passes on the biggest news, and what it makes new is at most γ · P̂ times as large. The rest waits for the cycles of the next steps: it is late, but not lost."],
  discount: ["Discount γ", "How much a reward counts when it comes one step later."],
  optimism: ["Optimism M", "An action is treated as worth 0, better than any real cost, until it has been tried M times. So the agent tries everything."],
  epsilon: ["Exploration ε", "The probability of a random action instead of the best one."],
  bonus: ["Exploration bonus", "An extra reward for actions that have rarely been tried. The agent acts by values with the bonus, so it goes and looks; the policy that it recommends ignores the bonus."],
  posterior: ["Posterior sampling", "The agent samples a world that is consistent with what it saw, acts optimally in it, and then samples again."],
  paper: ["The paper", "Harm van Seijen and Richard S. Sutton, Planning by Prioritized Sweeping with Small Backups, 2013."],
  forgetting: ["Forgetting", "Old observations lose their weight, so that an agent notices when the world has changed."],
};

const WORK = "A small backup is one addition; a full one adds up one term for each outcome. So all planners are counted in the same unit.";

const HELP = {
  scale: GLOSSARY.value[1],
  unknown: "Gray: some action has been tried too rarely to be trusted, so the cell still has its optimistic value.",
  queued: "Orange ring: the cell is on the queue. Its value has changed, and the cells that lead to it have not been updated. The brighter, the more urgent.",
  flash: "A flash: some Q of the cell was just backed up; the larger the change, the brighter.",
  popped: "Pink: the cell that the last single cycle took off the queue. Arrows lead to the cells it updated; their labels are ΔQ.",
  agent: "Dot: the agent, with its last steps behind it. Ring: the start. Star: the goal. Small arrows: the best actions. A number on a cell with its own reward: that reward.",
  run: "Runs or pauses the agent (space).",
  step: "One step: the agent acts, learns from what it sees, and plans (s).",
  cycle: "One update cycle: the most urgent cell updates the cells that lead to it. If the queue is empty, the agent first takes steps until it is not (c).",
  reset: "Forgets everything and starts again with the same seed; the world stays as it is (r).",
  speed: "Steps per second, up to as fast as possible (+ and −).",
  queue: `${GLOSSARY.queue[1]} Bars show priorities.`,
  look: "A click shows what the agent knows about a cell. Nothing is painted.",
  toggle: "A click or stroke builds walls, or removes them if it begins on one. The agent is not told.",
  start: "A click moves the start.",
  goal: "A click moves the goal.",
  reward: "A click or stroke gives cells their own reward for landing on them, instead of −1. The agent is not told.",
  algorithm: "The lines of the planner. After Step or Cycle they light up in turn, with their numbers. Point at a term to see its cells, and at a cell to see its terms.",
  lesson: "A scene that shows one thing, with what to look for.",
  undo: "Reverts the last change to the world. What was learned meanwhile stays (u).",
  wall: "Builds a wall across the path that the agent takes now, where another way remains. The agent is not told (w).",
  shortcut: "Opens the one wall whose removal shortens the path most. The agent is not told (o).",
  planner: "How values are computed. Reversed full backups and small backups are the paper's; it compares them with the others.",
  rival: "A second agent learns alongside the first with another planner, from the same random numbers.",
  equal: "What both agents get the same amount of: steps in the world, additions, or computing time on this machine.",
  cycles: `Update cycles after every step. ${GLOSSARY.enough[1]}`,
  gamma: GLOSSARY.discount[1],
  m: GLOSSARY.optimism[1],
  epsilon: GLOSSARY.epsilon[1],
  explore: "How the agent chooses what to try. As in the paper: a random action with probability ε, and optimism until each action has been tried M times. The others act by a bonus or by a sampled world; the number says how strongly.",
  forget: `${GLOSSARY.forgetting[1]} By a half-life in steps, by a window of the last observations, or a little at each visit.`,
  rival_explore: "How the second agent explores.",
  rival_forget: "How the second agent forgets.",
  seed: "The same seed gives the same course of learning.",
  maze: "Mazes can be painted freely and have an outcome law. The other worlds are those of the exploration suite and follow their own rules: lakes are slippery, DeepSea only leads down, the blocking and the shortcut maze change by themselves. In them only walls can be painted.",
  file: "A text file: # wall, . free, S start, G goal; other characters have rewards given below the maze, as in ~ = −5.",
  law: "Where an action may lead: up to 15 cells ahead and to the sides, as in the paper, or one of the 4 neighbors.",
  intended: "The probability that a move goes where it was intended to go.",
  returns: "The discounted return of every episode; the dashed line is the best possible in this world, the dotted one what the best policy earns while it takes random actions with probability ε.",
  work: `How many additions planning took per step. ${WORK}`,
  figure: "The paper's Figure 3: mean return of the first 200 episodes against update cycles per step. Hollow circles: as printed. Filled ones: runs that finished here.",
  course: "Within 1 % of the optimum: following the best actions that the agent knows, without exploring, is worth within 1 % of the best possible, from the start and in the true world. The last percent takes a long time, because the agent knows only what it has counted.",
  trials: "How many steps each planner, with its way to explore, took until its policy was within 1 % of the optimum again after the world changed.",
};

let shownFor = null;

function show(target) {
  const text = HELP[target.dataset.help];
  if (!text) return;
  shownFor = target;
  const tip = $("help");
  tip.textContent = text;
  tip.hidden = false;
  // An open dialog lies over everything that is not inside it.
  (target.closest("dialog") ?? document.querySelector("main")).append(tip);
  const box = target.getBoundingClientRect();
  const { width, height } = tip.getBoundingClientRect();
  const left = Math.max(6, Math.min(box.left, window.innerWidth - width - 6));
  const below = box.bottom + 6;
  const top = below + height + 6 < window.innerHeight ? below : Math.max(6, box.top - height - 6);
  tip.style.left = `${left}px`;
  tip.style.top = `${top}px`;
}

function hide() {
  shownFor = null;
  $("help").hidden = true;
}

/** Attaches an explanation to everything with `data-help`, for screen readers too. */
export function explain() {
  const store = element("div");
  store.hidden = true;
  for (const [name, text] of Object.entries(HELP)) {
    const span = element("span", text);
    span.id = `help-${name}`;
    store.append(span);
  }
  document.body.append(store);
  for (const target of document.querySelectorAll("[data-help]")) {
    // A name and its number are two controls with one explanation.
    const controls = target.matches("button, input, select, [tabindex], canvas") ? [target] : target.querySelectorAll("input, select, button");
    for (const control of controls) {
      const before = control.getAttribute("aria-describedby");
      control.setAttribute("aria-describedby", [before, `help-${target.dataset.help}`].filter(Boolean).join(" "));
    }
  }
  const find = (event) => event.target instanceof Element && event.target.closest("[data-help]");
  let timer;
  document.addEventListener("pointerover", (event) => {
    if (event.pointerType === "touch") return;
    const target = find(event);
    // What the keyboard explains stays while the page scrolls below the pointer.
    const isFocused = shownFor?.contains(document.activeElement) && document.activeElement.matches(":focus-visible");
    if (target === shownFor || (!target && isFocused)) return;
    clearTimeout(timer);
    hide();
    if (target) timer = setTimeout(() => show(target), 350);
  });
  document.addEventListener("focusin", (event) => {
    const target = find(event);
    if (target && event.target.matches(":focus-visible")) show(target);
    else hide();
  });
  document.addEventListener("focusout", hide);
  document.addEventListener("click", (event) => {
    clearTimeout(timer);
    const target = find(event);
    // A tap explains; with a mouse, hovering has done so already, and the explanation would be in the way after a click.
    if (target && (event.pointerType === "touch" || target.classList.contains("term"))) show(target);
    else hide();
  });
  document.addEventListener("keydown", (event) => event.key === "Escape" && hide());
  // Focus may scroll to what it explains.
  window.addEventListener("scroll", () => (shownFor?.contains(document.activeElement) ? show(shownFor) : hide()), { passive: true });
  glossary();
}

function glossary() {
  const list = $("terms");
  for (const [name, [term, text]] of Object.entries(GLOSSARY)) {
    const title = element("dt", term);
    title.id = `term-${name}`;
    title.tabIndex = -1;
    list.append(title, element("dd", text));
  }
  $("glossary-open").addEventListener("click", () => openGlossary());
  $("glossary-close").addEventListener("click", () => $("glossary").close());
}

/** Opens the glossary at a term. */
function openGlossary(name) {
  $("glossary").showModal();
  const title = name && $(`term-${name}`);
  title?.scrollIntoView({ block: "center" });
  title?.focus();
}

/** A text in which [words|term] are links to the glossary. */
export function linked(text) {
  return text.split(/(\[[^\]]+\])/).map((part) => {
    const match = /^\[([^|]+)\|(\w+)\]$/.exec(part);
    // A mark after a link must not begin a line.
    if (!match) return document.createTextNode(/^[,.:;]/.test(part) ? `\u2060${part}` : part);
    const link = element("button", match[1], "link");
    link.type = "button";
    link.addEventListener("click", () => openGlossary(match[2]));
    return link;
  });
}
