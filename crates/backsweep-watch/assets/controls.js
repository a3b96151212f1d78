// The controls: they show the scene that the engine runs, and change it.

import { mazeName } from "/scene.js";
import { $, capital, element } from "/shown.js";

const SPEED_STEPS = 60; // the last one is as fast as possible
const FIELDS = { cycles: "cycles", gamma: "discount", m: "min_visits", epsilon: "epsilon", seed: "seed", intended: "intended" };

export const speedAt = (step) => (step >= SPEED_STEPS ? null : Math.round(10 ** (step / 10)));
const stepOf = (speed) => (speed === null ? SPEED_STEPS : Math.round(10 * Math.log10(Math.max(1, speed))));
export const speedText = (speed) => (speed === null ? "as fast as possible" : `${speed.toLocaleString("en")} step${speed === 1 ? "" : "s"} per second`);

function fill(select, options) {
  select.replaceChildren(
    ...options.map(({ value, title }) => {
      const option = document.createElement("option");
      option.value = value;
      option.textContent = title;
      return option;
    }),
  );
}

export class Controls {
  /** `change` changes settings of the scene; `act` does everything else. */
  constructor({ planners, mazes }, { change, act, problem }) {
    this.mazes = mazes;
    const named = planners.map(({ name, title }) => ({ value: name, title: capital(title) }));
    fill($("planner"), named);
    fill($("rival"), [{ value: "", title: "Nobody" }, ...named]);
    fill($("maze"), [...mazes.map(({ name, title }) => ({ value: name, title: capital(title) })), { value: "painted", title: "As painted" }]);

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
      if (maze) change({ maze: maze.text });
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
      change({ maze: await file.text() });
    });
  }

  /** Says beside a field what is wrong with what was typed; null takes it back. */
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
    $("intended-label").hidden = scene.law !== "four";
    const name = mazeName(scene.maze, this.mazes);
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
