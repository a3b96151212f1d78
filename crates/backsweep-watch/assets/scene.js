// A scene and the page's address: the address holds every setting, so a scene can be shared as a link.

/** The grid of a maze's text: rows of characters, and the lines of its legend. */
export function grid(text) {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith(";"));
  const rows = lines.filter((line) => !line.includes("=")).map((line) => [...line]);
  return { rows, legend: lines.filter((line) => line.includes("=")) };
}

/** The rewards of a maze's legend by character, and whether landing there ends the episode. */
export function rewardsOf(legend) {
  return new Map(
    legend.map((line) => {
      const [sign, value] = line.split("=").map((part) => part.trim());
      return [sign, { reward: parseFloat(value), ends: value.endsWith("end") }];
    }),
  );
}

const SHORT = { "#": "w", ".": "f", " ": "f", S: "s", G: "g" };
const LONG = { w: "#", f: ".", s: "S", g: "G" };

/** A maze in few characters that an address can hold: runs of walls (w) and free cells (f); other characters by their number. */
export function encodeMaze(text) {
  const { rows, legend } = grid(text);
  let code = `${rows[0].length}x${rows.length}-`;
  const cells = rows.flat();
  for (let i = 0; i < cells.length; ) {
    let end = i + 1;
    while (end < cells.length && cells[end] === cells[i]) end++;
    const sign = SHORT[cells[i]] ?? `_${cells[i].codePointAt(0).toString(16)}_`;
    code += (end - i > 1 ? end - i : "") + sign;
    i = end;
  }
  for (const line of legend) {
    const [left, right] = line.split("=");
    const words = right.trim().split(/\s+/);
    code += `-${left.trim().codePointAt(0).toString(16)}_${words[0]}${words[1] === "end" ? "_end" : ""}`;
  }
  return code;
}

const CODE = /^(\d{1,5})x(\d{1,5})-((?:\d*(?:[wfsg]|_[0-9a-f]{1,6}_))+)(-.*)?$/;
const REWARD = /-([0-9a-f]{1,6})_([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)(_end)?/y;

/** The text of an encoded maze, or null if it is not one. The server checks what it says. */
export function decodeMaze(code) {
  const match = CODE.exec(code);
  if (!match) return null;
  const width = Number(match[1]);
  const height = Number(match[2]);
  if (width * height > 10000) return null;
  const cells = [];
  for (const [, count, sign] of match[3].matchAll(/(\d*)([wfsg]|_[0-9a-f]+_)/g)) {
    const n = count === "" ? 1 : Number(count);
    if (cells.length + n > width * height) return null;
    const character = LONG[sign] ?? String.fromCodePoint(Math.min(parseInt(sign.slice(1), 16), 0x10ffff));
    for (let i = 0; i < n; i++) cells.push(character);
  }
  if (cells.length !== width * height) return null;
  let text = "";
  for (let row = 0; row < height; row++) text += cells.slice(row * width, (row + 1) * width).join("") + "\n";
  const rest = match[4] ?? "";
  for (let at = 0; at < rest.length; at = REWARD.lastIndex) {
    REWARD.lastIndex = at;
    const found = REWARD.exec(rest);
    if (!found) return null;
    const [, number, reward, end] = found;
    text += `${String.fromCodePoint(Math.min(parseInt(number, 16), 0x10ffff))} = ${reward}${end ? " end" : ""}\n`;
  }
  return text;
}

const clean = (text) => JSON.stringify(grid(text));

/** The name of a maze that comes with the program, or null. */
export function mazeName(text, mazes) {
  const found = mazes.find((maze) => clean(maze.text) === clean(text));
  return found ? found.name : null;
}

const NUMBERS = { cycles: "cycles", epsilon: "epsilon", m: "min_visits", gamma: "discount", seed: "seed", intended: "intended" };

/** Settings of exploration, with their defaults. */
const TEXTS = { explore: "paper", forget: "never", rival_explore: null, rival_forget: null };

/** Whether the world of a scene is unpainted, in one of its phases. */
const isOwn = (scene, layout) => scene.maze.trim() === "" || (layout?.texts ?? []).some((text) => clean(text) === clean(scene.maze));

/** The address's query for a scene; `step` is the number of steps since its beginning, if they tell where it is. */
export function toQuery(scene, { running, step, theme, mazes, layout, lesson }) {
  const query = new URLSearchParams();
  query.set("planner", scene.planner);
  if (scene.rival) query.set("rival", scene.rival);
  if (scene.rival && scene.race !== "steps") query.set("race", scene.race);
  for (const [name, usual] of Object.entries(TEXTS)) {
    if (scene[name] !== usual && (scene.rival || !name.startsWith("rival"))) query.set(name, scene[name]);
  }
  for (const [short, long] of Object.entries(NUMBERS)) {
    if (short !== "intended" || (scene.law === "four" && !scene.world)) query.set(short, scene[long]);
  }
  if (scene.world) query.set("world", scene.world);
  else query.set("law", scene.law);
  query.set("speed", scene.speed ?? "max");
  if (!scene.world) query.set("maze", mazeName(scene.maze, mazes) ?? encodeMaze(scene.maze));
  else if (!isOwn(scene, layout)) query.set("maze", encodeMaze(scene.maze));
  query.set("run", running ? "1" : "0");
  if (step && !running) query.set("step", step);
  if (theme) query.set("theme", theme);
  if (lesson) query.set("lesson", lesson);
  return query.toString();
}

/** The scene of an address, or null if the address holds none. Throws one line if it cannot be read. */
export function fromQuery(text, { defaults, mazes, worlds = [] }) {
  const query = new URLSearchParams(text);
  const names = ["planner", "rival", "race", "law", "speed", "maze", "world", ...Object.keys(TEXTS), ...Object.keys(NUMBERS)];
  if (!names.some((name) => query.has(name))) return null;
  const scene = { ...defaults };
  if (query.has("planner")) scene.planner = query.get("planner");
  scene.rival = query.get("rival") || null;
  scene.race = query.get("race") || "steps";
  for (const [name, usual] of Object.entries(TEXTS)) scene[name] = query.get(name) || usual;
  scene.world = query.get("world") || null;
  if (scene.world) scene.maze = "";
  // Its own discount belongs to its rules.
  scene.discount = worlds.find(({ name }) => name === scene.world)?.discount ?? scene.discount;
  if (query.has("law")) scene.law = query.get("law");
  for (const [short, long] of Object.entries(NUMBERS)) {
    if (query.has(short)) scene[long] = number(short, query.get(short));
  }
  if (query.has("speed")) scene.speed = query.get("speed") === "max" ? null : number("speed", query.get("speed"));
  if (query.has("maze")) {
    const code = query.get("maze");
    const maze = mazes.find((maze) => maze.name === code)?.text ?? decodeMaze(code);
    if (maze === null) throw new Error("The maze in the address cannot be read. Get the link again, or choose a maze below.");
    scene.maze = maze;
  }
  return scene;
}

/** The steps that a link's scene has taken. */
export function stepsOf(text) {
  const steps = Number(new URLSearchParams(text).get("step") ?? 0);
  return Number.isInteger(steps) && steps > 0 && steps <= MAX_STEPS ? steps : 0;
}

/** The most steps that a link can hold: about a second of the engine's time. */
const MAX_STEPS = 1e6;

/** The steps since the beginning of a scene, if they tell where it is. A race on computing time never takes the same course twice. */
export function stepsTaken(scene, frame) {
  if (!frame.undisturbed || (scene.rival && scene.race === "time")) return 0;
  const taken = scene.rival && scene.race !== "steps" ? frame.agents.reduce((sum, { steps }) => sum + steps, 0) : frame.agents[0].steps;
  return taken <= MAX_STEPS ? taken : 0;
}

function number(name, text) {
  const value = Number(text);
  if (text.trim() === "" || !Number.isFinite(value)) throw new Error(`In the address, ${name} is "${text}"; expected a number.`);
  return value;
}

/** Whether two scenes are the same. `layout` is that of the world which both have, if they do. */
export function isSame(one, other, layout) {
  const plain = (scene) => {
    const maze = scene.world && isOwn(scene, layout) ? "" : clean(scene.maze);
    const unused = scene.world ? { law: null, intended: null } : {};
    return JSON.stringify(Object.entries({ ...scene, ...unused, maze }).sort());
  };
  return plain(one) === plain(other);
}
