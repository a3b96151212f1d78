// The controls: they show the scene that the engine runs, and change it.

import { mazeName } from "./scene.js";
import { $, capital, element } from "./shown.js";

const SPEED_STEPS = 60; // the last one is as fast as possible
const FIELDS = { cycles: "cycles", gamma: "discount", m: "min_visits", epsilon: "epsilon", seed: "seed", intended: "intended" };

const WORLD = "world/"; // prefix of a world's name in the list of mazes and worlds
const AS_FIRST = { value: "", title: "Like the first" };
const CHOICES = {
  explore: { list: "explore", first: [{ value: "paper", title: "As in the paper: ε and M" }] },
  forget: { list: "forget", first: [{ value: "never", title: "Never" }] },
  rival_explore: { list: "explore", first: [AS_FIRST, { value: "paper", title: "As in the paper: ε and M" }] },
  rival_forget: { list: "forget", first: [AS_FIRST, { value: "never", title: "Never" }] },
};

const speedAt = (step) => (step >= SPEED_STEPS ? null : Math.round(10 ** (step / 10)));
const stepOf = (speed) => (speed === null ? SPEED_STEPS : Math.round(10 * Math.log10(Math.max(1, speed))));
export const speedText = (speed) => (speed === null ? "as fast as possible" : `${speed.toLocaleString("en")} step${speed === 1 ? "" : "s"} per second`);

function option({ value, title }) {
  const made = element("option", title);
  made.value = value;
  return made;
}

const fill = (select, options) => select.replaceChildren(...options.map(option));

function group(title, options) {
  const made = element("optgroup");
  made.label = title;
  made.append(...options.map(option));
  return made;
}

/** A setting that is a name and perhaps a number, as in "bayes_bonus:0.2": a list to choose from, and a field for the number. */
class Choice {
  constructor(id, first, ways, change) {
    this.list = $(id);
    this.field = $(`${id}-number`);
    this.ways = ways;
    fill(this.list, [...first, ...ways.map(({ name, title }) => ({ value: name, title: capital(title) }))]);
    this.list.addEventListener("change", () => {
      const way = this.way();
      change(way?.symbol ? `${way.name}:${way.usual}` : this.list.value || null);
    });
    this.field.addEventListener("change", () => change(`${this.list.value}:${this.field.value}`));
  }

  way() {
    return this.ways.find(({ name }) => name === this.list.value);
  }

  show(text) {
    const [name, number] = (text ?? "").split(":");
    this.list.value = name;
    const symbol = this.way()?.symbol ?? "";
    this.field.hidden = symbol === "";
    this.field.setAttribute("aria-label", `${this.list.getAttribute("aria-label")}: ${symbol}`);
    this.field.title = symbol;
    if (document.activeElement !== this.field) this.field.value = number ?? "";
  }
}

export class Controls {
  /** `change` changes settings of the scene; `act` does everything else. */
  constructor({ planners, mazes, worlds = [], exploring = { explore: [], forget: [] } }, { change, act, problem }) {
    this.mazes = mazes;
    const named = planners.map(({ name, title }) => ({ value: name, title: capital(title) }));
    fill($("planner"), named);
    fill($("rival"), [{ value: "", title: "Nobody" }, ...named]);
    const ofMaze = ({ name, title }) => ({ value: name, title: capital(title) });
    const ofWorld = ({ name, title }) => ({ value: WORLD + name, title });
    $("maze").replaceChildren(group("Mazes, with an outcome law", mazes.map(ofMaze)), group("Worlds, by their own rules", worlds.map(ofWorld)), option({ value: "painted", title: "As painted" }));
    this.choices = {};
    for (const [id, { list, first }] of Object.entries(CHOICES)) {
      const refuse = (text) => this.refuse($(id), capital(text));
      this.choices[id] = new Choice(id, first, exploring[list], (text) => {
        this.refuse($(id), null);
        change({ [id]: text }, refuse);
      });
    }

    $("run").addEventListener("click", () => act("toggle"));
    $("step").addEventListener("click", () => act("step"));
    $("cycle").addEventListener("click", () => act("cycle"));
    $("reset").addEventListener("click", () => act("reset"));
    $("planner").addEventListener("change", () => change({ planner: $("planner").value }));
    $("rival").addEventListener("change", () => change({ rival: $("rival").value || null }));
    $("equal").addEventListener("change", () => change({ race: $("equal").value }));
    $("law").addEventListener("change", () => change({ law: $("law").value }));
    $("maze").addEventListener("change", () => {
      const maze = mazes.find(({ name }) => name === $("maze").value);
      const world = worlds.find(({ name }) => WORLD + name === $("maze").value);
      if (maze) change({ world: null, maze: maze.text });
      // Its own discount belongs to its rules.
      if (world) change({ world: world.name, maze: "", discount: world.discount });
    });
    $("speed").addEventListener("input", () => {
      const speed = speedAt(Number($("speed").value));
      this.showSpeed(speed);
      change({ speed });
    });
    for (const [id, name] of Object.entries(FIELDS)) {
      $(id).addEventListener("change", () => {
        const field = $(id);
        if (field.value === "" || !(field.validity.valid || field.validity.stepMismatch)) {
          const found = field.value === "" ? "that is not a number" : `${field.value} is out of range`;
          this.refuse(field, `${capital(found)}; expected a number from ${field.min} to ${field.max}. It stays at ${this.scene[name]}.`);
          field.value = this.scene[name];
          return;
        }
        this.refuse(field, null);
        change({ [name]: Number(field.value) }, (text) => this.refuse(field, text));
      });
    }
    $("file").addEventListener("change", async () => {
      const [file] = $("file").files;
      $("file").value = "";
      if (!file) return;
      if (file.size > 48 * 1024) return problem(`${file.name} has ${file.size} bytes; expected a maze of at most ${48 * 1024} bytes.`);
      change({ world: null, maze: await file.text() });
    });
  }

  /** Shows next to a field what is wrong with the input; null clears it. */
  refuse(field, text) {
    let line = $(`wrong-${field.id}`);
    if (!line && text) {
      line = element("p", "", "wrong");
      line.id = `wrong-${field.id}`;
      line.setAttribute("role", "alert");
      field.closest("label").after(line);
    }
    if (!line) return;
    line.textContent = text ?? "";
    line.hidden = !text;
    clearTimeout(line.timer);
    if (text) line.timer = setTimeout(() => (line.hidden = true), 12_000);
  }

  /** Shows a scene, except in a field that the user is editing. */
  show(scene) {
    this.scene = scene;
    const set = (id, value) => {
      if (document.activeElement !== $(id) || $(id).tagName === "SELECT") $(id).value = value;
    };
    set("planner", scene.planner);
    set("rival", scene.rival ?? "");
    set("equal", scene.race);
    $("equal-label").hidden = scene.rival === null;
    set("law", scene.law);
    for (const [id, name] of Object.entries(FIELDS)) set(id, scene[name]);
    const isRace = scene.rival !== null;
    for (const id of ["rival_explore", "rival_forget"]) $(`${id}-label`).hidden = !isRace;
    for (const [id, choice] of Object.entries(this.choices)) choice.show(scene[id]);
    const ways = [scene.explore, isRace ? (scene.rival_explore ?? scene.explore) : scene.explore];
    $("epsilon-label").hidden = !ways.some((way) => way === "paper" || way === "epsilon_greedy");
    $("m-label").hidden = !ways.some((way) => way === "paper" || way === "optimism");
    $("law-label").hidden = scene.world !== null;
    $("intended-label").hidden = scene.law !== "four" || scene.world !== null;
    const name = scene.world ? WORLD + scene.world : mazeName(scene.maze, this.mazes);
    // A world whose size is not in the list came from a link or the command line.
    if (scene.world && ![...$("maze").options].some(({ value }) => value === name)) $("maze").append(option({ value: name, title: scene.world }));
    $("maze").value = name ?? "painted";
    $("maze").querySelector('[value="painted"]').hidden = name !== null;
    if (document.activeElement !== $("speed")) $("speed").value = stepOf(scene.speed);
    this.showSpeed(scene.speed);
  }

  showSpeed(speed) {
    $("speed-text").textContent = speedText(speed);
    $("speed").setAttribute("aria-valuetext", speedText(speed));
  }

  /** Moves the speed by some steps of the slider. */
  nudgeSpeed(steps) {
    return speedAt(Math.max(0, Math.min(SPEED_STEPS, stepOf(this.scene.speed) + steps)));
  }
}
