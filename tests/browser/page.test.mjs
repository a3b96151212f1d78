// The page of `backsweep watch` in a real browser.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe } from "node:test";
import { address, ask, atRest, choose, color, command, drawn, number, output, place, shot, timed, until, withPages } from "./helper.mjs";

const COLUMNS = 26; // of the paper's maze
const steps = (page) => number(page, "Steps");
const difference = (a, b) => Math.max(...a.map((c, i) => Math.abs(c - b[i])));

const { test: scene } = withPages();

describe("what is seen", () => {
  scene("loads without errors, and values spread", { settings: ["--speed", "3000", "--paused"] }, async (page) => {
    assert.match(await page.title(), /Backsweep/);
    await atRest(page);
    const unknown = await color(page, 5, COLUMNS, [0.5, 0.2]);
    await page.locator("#run").click();
    await until("the first row is known", async () => (await ask(page, "cell/5")).agents[0].known);
    await until("the agent reaches the goal often", async () => (await number(page, "Episodes")) > 60);
    await shot(page, "dark");
    await page.locator("#theme").click();
    await until("the address says so", async () => (await address(page)).get("theme") === "light");
    await shot(page, "light");
    await page.locator("#theme").click();
    await page.locator("#run").click();
    await until("it is paused", async () => (await page.locator("#run").innerText()) === "Run");
    const { agents } = await ask(page, "values");
    const [first, near, far] = [5, COLUMNS * 22 + 23, COLUMNS * 1 + 10];
    const [high, low] = [agents[0].values[near], agents[0].values[far]];
    assert.ok(high > -6 && low < -30, `V is ${high} near the goal and ${low} far from it`);
    // Bright near the goal, dark far away: yellow has much red and green, purple little green. The agent, its trail or the
    // glow of the queue may lie over one of the cells; a few steps later they do not.
    await until("the colors are those of the values", async () => {
      await page.keyboard.press("s");
      await atRest(page);
      const seen = [];
      for (const cell of [first, near, far]) seen.push(await color(page, cell, COLUMNS, [0.5, 0.2]));
      return difference(seen[0], unknown) > 20 && seen[1][1] > 180 && seen[2][1] < 110;
    });
  });

  scene("hovering a cell tells its values", { query: "?run=0&m=1&maze=paper" }, async (page) => {
    for (let i = 0; i < 40; i++) await page.keyboard.press("s");
    await until("40 steps", async () => (await steps(page)) === 40);
    const cell = COLUMNS * 21 + 1;
    const { x, y } = await place(page, cell, COLUMNS);
    await page.mouse.move(x, y);
    await page.locator("#tip").waitFor({ state: "visible" });
    const detail = (await ask(page, `cell/${cell}`)).agents[0];
    const text = await page.locator("#tip").innerText();
    for (const word of ["row 22, column 2", "start", "north", "east", "south", "west", "visits"]) assert.ok(text.includes(word), `${word} in ${text}`);
    assert.ok(text.includes(`V ${detail.value.toFixed(3).replace("-", "−")}`), text);
    for (const q of detail.q) assert.ok(text.includes(q.toFixed(3).replace("-", "−")), `${q} in ${text}`);
    assert.match(text, /priority|queue/);
    await shot(page, "label");
    await page.mouse.move(2, 2);
    await page.locator("#tip").waitFor({ state: "hidden" });
  });

  scene("keeps drawing at full speed", { settings: ["--speed", "max"] }, async (page) => {
    await until("it learns", async () => (await number(page, "Episodes")) > 500);
    // The frames that were drawn and the times between pictures, over this many pictures.
    const look = (pictures) =>
      page.evaluate(
        (pictures) =>
          new Promise((resolve) => {
            const [times, drawn] = [[], new Set()];
            let last = performance.now();
            const tick = (now) => {
              times.push(now - last);
              last = now;
              drawn.add(document.body.dataset.drawn);
              if (times.length < pictures) requestAnimationFrame(tick);
              else resolve({ times: times.slice(5), drawn: [...drawn].map(Number) });
            };
            requestAnimationFrame(tick);
          }),
        pictures,
      );
    let best = Infinity;
    const drawn = [];
    for (let round = 0; round < (timed ? 5 : 1) && best > 17.5; round++) {
      const seen = await look(180);
      drawn.push(...seen.drawn);
      best = Math.min(best, seen.times.sort((a, b) => a - b)[Math.floor(seen.times.length / 2)]);
    }
    const line = `median time between frames at full speed: ${best.toFixed(2)} ms`;
    writeFileSync(join(output, "frame-time.txt"), `${line}\n`);
    console.log(line);
    await until("more frames are drawn", async () => drawn.push(...(await look(20)).drawn) && new Set(drawn).size > 30);
    assert.ok(drawn.every((number, i) => i === 0 || number >= drawn[i - 1]), "later frames are drawn later");
    if (timed) assert.ok(best < 17.5, `the median time between frames is ${best} ms; 60 frames per second are 16.7 ms`);
  });
});

describe("controls", () => {
  scene("pause stops, run continues", { settings: ["--speed", "500"] }, async (page) => {
    await until("it runs", async () => (await steps(page)) > 50);
    await page.locator("#run").click();
    await until("it says so", async () => (await page.locator("#run").innerText()) === "Run");
    const stopped = await steps(page);
    const { agents } = await ask(page, "values");
    // Long enough to notice if it continued.
    await page.waitForTimeout(700);
    assert.equal(await steps(page), stopped);
    assert.deepEqual((await ask(page, "values")).agents, agents);
    assert.equal(await page.locator("#state").innerText(), "paused");
    await page.locator("#run").click();
    await until("it continues", async () => (await steps(page)) > stopped + 50);
    // Clicks in quick succession each depend on the result of the previous one: stop, run, reset.
    const life = await page.evaluate(() => {
      for (const id of ["run", "run", "reset"]) document.getElementById(id).click();
      return document.body.dataset.life;
    });
    await until("it was reset", async () => (await page.evaluate(() => document.body.dataset.life)) !== life);
    assert.equal(await page.locator("#run").innerText(), "Pause");
  });

  scene("one cycle changes exactly the predecessors", { query: "?run=0&m=1&cycles=0&maze=shortcut&law=four&intended=0.8" }, async (page) => {
    // The optimum comes with a separate frame; from then on there is one frame for every key.
    await until("the optimum is known", async () => /optimum is −\d/.test(await page.locator("#returns").getAttribute("aria-label")));
    const cycle = () => page.evaluate(() => window.backsweep.frame.cycles[0] ?? null);
    for (let i = 0; i < 150; i++) await page.keyboard.press("s");
    await until("150 steps", async () => (await steps(page)) === 150);
    let [largest, last] = [0, null];
    for (let n = 1; n <= 12; n++) {
      const old = (await ask(page, "values")).agents[0].q;
      await page.keyboard.press("c");
      // What the judge finds comes with a separate frame, which shows the same cycle again.
      await until("the cycle is shown", async () => JSON.stringify(await cycle()) !== JSON.stringify(last));
      const values = await ask(page, "values");
      const now = values.agents[0].q;
      const changed = [];
      for (let cell = 0; cell < old.length / 4; cell++) {
        if ([0, 1, 2, 3].some((a) => old[4 * cell + a] !== now[4 * cell + a])) changed.push(cell);
      }
      const report = (last = await cycle());
      assert.notEqual(report.popped, null);
      assert.deepEqual(changed, report.predecessors, `cycle ${n}`);
      await atRest(page, values.number);
      assert.equal(await steps(page), 150, "a cycle is not a step");
      const popped = await color(page, report.popped, 9, [0.5, 0.045]);
      assert.ok(popped[0] > 170 && popped[2] > 120 && popped[1] < 160, `the popped cell has a ring: ${popped}`);
      for (const cell of changed.filter((cell) => cell !== report.popped)) {
        const edge = await color(page, cell, 9, [0.25, 0.06]);
        assert.ok(Math.min(...edge) > 190, `cell ${cell} is framed: ${edge}`);
      }
      assert.match(await page.locator("#report").innerText(), changed.length === 1 ? /Q changed: |in 1 cell / : new RegExp(`in ${changed.length} cells changed`));
      largest = Math.max(largest, changed.length);
    }
    assert.ok(largest > 1, "some state had several predecessors");
    await shot(page, "one-cycle");
  });

  scene("settings reach the engine", {}, async (page) => {
    await page.locator("#planner").selectOption("small_backups");
    await page.locator("#cycles").fill("3");
    await page.locator("#gamma").fill("0.95");
    await page.locator("#gamma").press("Enter");
    await page.locator("#epsilon").fill("0.1");
    await page.locator("#epsilon").press("Tab");
    await page.locator("#law").selectOption("four");
    await page.locator("#intended").fill("0.6");
    await page.locator("#intended").press("Tab");
    await page.locator("#speed").fill("60");
    await until("the address says all of it", async () => {
      const query = await address(page);
      const found = ["planner", "cycles", "gamma", "epsilon", "law", "intended", "speed"].map((name) => query.get(name)).join(" ");
      return found === "small_backups 3 0.95 0.1 four 0.6 max";
    });
    await until("its name is shown", async () => (await page.locator("#name-0").innerText()) === "Small backups");
    await page.locator("#m").fill("0");
    await page.locator("#m").press("Tab");
    await until("it says what is wrong", async () => /0 is out of range; expected a number from 1 to/i.test(await page.locator("#wrong-m").textContent()));
    await until("the old number is back", async () => (await page.locator("#m").inputValue()) === "4");
  });

  scene("keys", { query: "?run=0&maze=rooms", expected: ["422"] }, async (page) => {
    await page.keyboard.press("Space");
    await until("space runs", async () => (await page.locator("#run").innerText()) === "Pause");
    await page.keyboard.press("Space");
    await until("space pauses", async () => (await page.locator("#run").innerText()) === "Run");
    await page.keyboard.press("r");
    await until("r resets", async () => (await steps(page)) === 0);
    await page.keyboard.press("s");
    await until("s steps", async () => (await steps(page)) === 1);
    await page.keyboard.press("c");
    await page.locator("#report").waitFor({ state: "visible" });
    // The cursor begins at the agent; it is announced, and Enter builds a wall there.
    await choose(page, "toggle");
    await page.locator("#maze-0").focus();
    for (const key of ["ArrowUp", "ArrowUp", "ArrowRight"]) await page.keyboard.press(key);
    const isAnnounced = async () => /row \d+, column \d+.*Value .*best action/.test(await page.locator("#live").textContent());
    await until("the cell is announced", isAnnounced);
    // A frame in which nothing is new, as after a refused command, says nothing.
    const before = await page.evaluate(() => Number(document.body.dataset.frame));
    await command(page, { do: "paint", cell: 99999, brush: "wall" });
    await until("the frame is there", async () => (await page.evaluate(() => Number(document.body.dataset.frame))) > before);
    assert.ok(await isAnnounced());
    await page.keyboard.press("Enter");
    await until("the wall is in the address", async () => (await address(page)).get("maze").startsWith("17x14-"));
    const speed = (await address(page)).get("speed");
    await page.keyboard.press("+");
    await until("+ makes it faster", async () => Number((await address(page)).get("speed")) > Number(speed));
  });

  scene("two planners race on the same random numbers", { settings: ["--speed", "1500"] }, async (page) => {
    assert.equal(await page.locator("#figure-1").isVisible(), false);
    await page.locator("#rival").selectOption("value_iteration");
    await page.locator("#figure-1").waitFor({ state: "visible" });
    await until("both learn", async () => (await number(page, "Steps", 1)) > 2000);
    await page.locator("#run").click();
    await until("paused", async () => (await page.locator("#run").innerText()) === "Run");
    assert.equal(await number(page, "Steps", 0), await number(page, "Steps", 1));
    assert.ok((await number(page, "Additions per step", 1)) > 10 * (await number(page, "Additions per step", 0)));
    await shot(page, "race");
  });
});

describe("painting", () => {
  // Two ways around a block: the upper is shorter until it is closed.
  const ways = "6x6-7f4wfs4wgf4w2f4w7f";
  scene("a wall changes the policy", { query: `?maze=${ways}&law=four&intended=1&m=1&cycles=50&epsilon=0.1&speed=max&run=1` }, async (page) => {
    const best = async () => {
      const { q } = (await ask(page, "cell/12")).agents[0];
      return q.indexOf(Math.max(...q));
    };
    await until("north, the shorter way", async () => (await number(page, "Episodes")) > 20 && (await best()) === 0);
    const { x, y } = await place(page, 3, 6);
    await choose(page, "toggle");
    await page.mouse.click(x, y);
    await until("the wall is in the address", async () => (await address(page)).get("maze") !== ways);
    await until("south, the way that is left", async () => (await best()) === 2);
    await shot(page, "painted");
    await page.mouse.click(x, y);
    await until("the wall is removed", async () => (await address(page)).get("maze") === ways);
  });

  scene("start and goal move", { query: "?run=0", expected: ["422"] }, async (page) => {
    await choose(page, "goal");
    let spot = await place(page, 30, COLUMNS);
    await page.mouse.click(spot.x, spot.y);
    await choose(page, "start");
    const maze = async () => (await address(page)).get("maze");
    await until("the goal is there", async () => /^26x23-.*g/.test(await maze()));
    assert.equal(await page.locator("#maze").inputValue(), "painted");
    const before = await maze();
    spot = await place(page, 40 + COLUMNS, COLUMNS);
    await page.mouse.click(spot.x, spot.y);
    await until("the start is elsewhere", async () => (await maze()) !== before);
    assert.equal([...(await maze()).matchAll(/s/g)].length, 1);
    assert.equal([...(await maze()).matchAll(/g/g)].length, 1);
    // The goal cannot be walled over: there would be none.
    await choose(page, "toggle");
    spot = await place(page, 30, COLUMNS);
    await page.mouse.click(spot.x, spot.y);
    await until("it says why", async () => /no goal/.test(await page.locator("#problem").textContent()));
  });

  scene("a maze from a file, and a file that is not one", { query: "?run=0", expected: ["422"] }, async (page) => {
    const file = (text) => ({ name: "maze.txt", mimeType: "text/plain", buffer: Buffer.from(text) });
    await page.locator("#file").setInputFiles(file("S..~\n.#.G\n~ = -5\n"));
    await until("it is in the address", async () => (await address(page)).get("maze").startsWith("4x2-"));
    assert.equal(await page.locator("#maze").inputValue(), "painted");
    const before = await address(page);
    await page.reload();
    await drawn(page);
    assert.deepEqual(await address(page), before, "its address restores it");
    await page.locator("#file").setInputFiles(file("S<img src=x onerror=alert(1)>G\n"));
    await until("it says what is wrong", async () => /line 1/i.test(await page.locator("#problem").textContent()));
    assert.equal(await page.locator("#problem img").count(), 0, "text is never markup");
    await page.locator("#file").setInputFiles(file("S..\n"));
    await until("it says what is missing", async () => (await page.locator("#problem").textContent()).includes("no goal"));
  });
});
