// Scenes as addresses, without a browser.

import assert from "node:assert/strict";
import { it } from "node:test";
import { decodeMaze, encodeMaze, fromQuery, grid, isSame, stepsOf, stepsTaken, toQuery } from "../../crates/backsweep-watch/assets/scene.js";

const defaults = { planner: "small_backups", rival: null, cycles: 1, epsilon: 0.05, min_visits: 4, discount: 0.99, seed: 1, law: "fifteen", intended: 0.8, maze: "S.G\n", speed: 600, race: "steps", world: null, explore: "paper", forget: "never", rival_explore: null, rival_forget: null };
const mazes = [{ name: "tiny", title: "tiny", text: "S.G\n" }];

it("mazes survive the address, whatever their characters", () => {
  for (const text of ["S.G\n", "S..#\n.~.G\n~ = -5\n", "Sw7sG\nw = -1\n7 = 2.5 end\ns = -1e3\n", "S☃<G\n\"&'.\n☃ = -2 end\n< = -1\n\" = -3\n& = -4\n' = -5\n", "S😀G\n😀 = 7\n", "S~G\n~ = +5\n", "S~G\n~ = 1E2 end\n", "S~G\n~ = -1e-3\nG = 1e+2\n", `S${".".repeat(9998)}G\n`, `S\n${".\n".repeat(9998)}G\n`]) {
    assert.deepEqual(grid(decodeMaze(encodeMaze(text))), grid(text), text);
  }
});

it("what is not a maze is refused", () => {
  for (const code of ["", "x", "3x1-sfq", "3x1-4f", "3x1-2f", "200x200-40000f", "9999x9999-s", "3x1-sfg-zz", "3x1-99999999999999999999f", "<script>", "3x1-sfg-7e_5x", "3x1-sfg-7e_", "3x1-sfg-"]) assert.equal(decodeMaze(code), null, code);
});

it("scenes survive the address", () => {
  const changes = [{}, { rival: "value_iteration" }, { rival: "value_iteration", race: "work" }, { speed: null }, { seed: 9007199254740991 }, { law: "four", intended: 0.65 }, { maze: "S#G\n...\n" }, { epsilon: 0, cycles: 0, min_visits: 1, discount: 0.5 }, { world: "deep_sea_20", maze: "" }, { world: "cliff_walking", maze: "S#G\n" }, { explore: "bayes_bonus:0.2", forget: "window:300" }, { rival: "small_backups", rival_explore: "epsilon_greedy", rival_forget: "half_life:500" }];
  for (const change of changes) {
    const scene = { ...defaults, ...change };
    const query = toQuery(scene, { running: true, theme: "dark", mazes });
    assert.deepEqual(fromQuery(`?${query}`, { defaults: { ...defaults, planner: "other", seed: 5, epsilon: 1 }, mazes }), scene);
  }
});

it("an address without a scene leaves the server's", () => {
  assert.equal(fromQuery("", { defaults, mazes }), null);
  assert.equal(fromQuery("?theme=dark&run=1", { defaults, mazes }), null);
  assert.throws(() => fromQuery("?cycles=many", { defaults, mazes }), /cycles/);
  assert.throws(() => fromQuery("?maze=nothing", { defaults, mazes }), /maze/);
});

it("a world as it is by itself needs no maze in the address, in any of its phases", () => {
  const layout = { texts: ["S.#G\n", "S#.G\n"] };
  for (const maze of layout.texts) {
    const scene = { ...defaults, world: "two_phases", maze };
    assert.doesNotMatch(toQuery(scene, { mazes, layout }), /maze=/);
    assert.ok(isSame(scene, { ...scene, maze: "" }, layout));
  }
  const painted = { ...defaults, world: "two_phases", maze: "S##G\n" };
  assert.match(toQuery(painted, { mazes, layout }), /maze=4x1-s2wg/);
  assert.ok(!isSame(painted, { ...painted, maze: "" }, layout));
});

it("a paused scene says how many steps it has taken, if they tell all", () => {
  const frame = { undisturbed: true, agents: [{ steps: 70 }, { steps: 30 }] };
  assert.equal(stepsTaken(defaults, frame), 70);
  assert.equal(stepsTaken({ ...defaults, rival: "value_iteration", race: "work" }, frame), 100);
  assert.equal(stepsTaken({ ...defaults, rival: "value_iteration", race: "time" }, frame), 0);
  assert.equal(stepsTaken(defaults, { ...frame, undisturbed: false }), 0);
  assert.equal(stepsOf(`?${toQuery(defaults, { step: 70, mazes })}`), 70);
  assert.equal(stepsOf(`?${toQuery(defaults, { step: 70, running: true, mazes })}`), 0);
  for (const wrong of ["", "?step=-1", "?step=1e9", "?step=1.5", "?step=x"]) assert.equal(stepsOf(wrong), 0, wrong);
});
