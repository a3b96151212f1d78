// The engine as WebAssembly against the native one: the same course, and fast enough. Without a browser.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { it } from "node:test";
import { engineFile, LIMIT, startNative, timed } from "./helper.mjs";

async function load() {
  const { instance } = await WebAssembly.instantiate(readFileSync(engineFile), { env: { now: () => performance.now() } });
  const engine = instance.exports;
  const read = (length) => new TextDecoder().decode(new Uint8Array(engine.memory.buffer, engine.output(), length));
  assert.equal(engine.start(0), 0);
  let [number, frame] = [0, null];
  const look = () => {
    const length = engine.shown(1);
    const shown = length ? JSON.parse(read(length)) : { answers: [] };
    frame = shown.frame ?? frame;
    return shown.answers;
  };
  /** Carries out a command and works until it is done. */
  const order = (order) => {
    number += 1;
    const text = new TextEncoder().encode(JSON.stringify(order));
    new Uint8Array(engine.memory.buffer, engine.input(text.length) >>> 0, text.length).set(text);
    assert.equal(engine.command(number), 0);
    let isAnswered = false;
    while (!isAnswered || frame.busy) {
      engine.work();
      if (look().some(({ sender }) => sender === number)) isAnswered = true;
    }
    return frame;
  };
  return { order, values: () => JSON.parse(read(engine.values())) };
}

/** What must agree. */
const course = ({ agents }) => agents.map(({ position, trail, episodes, steps, last, mean, cycles, additions, idle, queue, urgent, returns }) => ({ position, trail, episodes, steps, last, mean, cycles, additions, idle, queue, urgent, returns }));

it("same seed, same course as the native engine for 100,000 steps", { ...LIMIT, skip: engineFile ? false : "the engine was not built" }, async () => {
  const native = await startNative("--paused");
  try {
    const engine = await load();
    for (const count of [1000, 9000, 90_000]) {
      const frame = engine.order({ do: "step", count });
      const expected = await native.step(count, frame.agents[0].steps);
      assert.deepEqual(course(frame), course(expected));
      // Compared as texts: where thousands of numbers differ, a list of the differences takes minutes.
      assert.ok(JSON.stringify(engine.values().agents) === JSON.stringify(await native.values()), `V and Q after ${expected.agents[0].steps} steps`);
    }
  } finally {
    await native.end();
  }
});

it("200,000 steps per second, with one cycle", { ...LIMIT, skip: engineFile ? false : "the engine was not built" }, async () => {
  const engine = await load();
  const began = performance.now();
  const { agents } = engine.order({ do: "step", count: 1_000_000 });
  const speed = (agents[0].steps / (performance.now() - began)) * 1000;
  console.log(`${Math.round(speed / 1000)} thousand steps per second, finish line included`);
  assert.equal(agents[0].steps, 1_000_000);
  if (timed) assert.ok(speed > 200_000, `${speed} steps per second`);
});
