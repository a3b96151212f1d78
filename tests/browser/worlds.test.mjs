// Worlds of the exploration suite by their own rules, and agents that explore and forget as configured.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { address, ask, atRest, command, drawn, LIMIT, number, output, phone, place, shot, site, until, violations, withPages } from "./helper.mjs";

const text = (page, id) => page.locator(`#${id}`).innerText();
const { test, browser } = withPages();
const stepTo = async (page, count) => {
  for (let i = 0; i < count; i++) await page.keyboard.press("s");
  await until(`${count} steps`, async () => (await number(page, "Steps")) === count);
};

describe("worlds", () => {
  const worlds = { cliff_walking: [12, 4], frozen_lake_8x8: [8, 8], deep_sea_10: [10, 10], blocking_maze: [9, 6], shortcut_maze: [9, 6], grid_5: [5, 5] };
  test("every one is chosen from the menu, drawn, kept in the link and accessible", { settings: ["--paused", "--cycles", "5"] }, async (page) => {
    for (const [world, [columns, rows]] of Object.entries(worlds)) {
      await page.locator("#maze").selectOption(`world/${world}`);
      await until(`the address says ${world}`, async () => (await address(page)).get("world") === world);
      assert.equal((await address(page)).get("maze"), null, "nothing was painted");
      await page.locator("#explore").selectOption("bayes_bonus");
      await until("it explores by a bonus", async () => /Bayesian bonus, β 0.2/.test(await text(page, "name-0")));
      await command(page, { do: "step", count: 900 });
      await until("900 steps", async () => (await number(page, "Steps")) === 900 && (await text(page, "state")) === "paused");
      await atRest(page);
      const shape = await page.locator("#maze-0").evaluate(({ width, height }) => width / height);
      assert.ok(Math.abs(shape - columns / rows) < 0.01, `${world} is ${shape} wide for its height`);
      assert.equal(await page.locator("#law").isVisible(), false, "it has rules of its own");
      assert.equal(await page.locator('label:has(input[value="goal"])').isVisible(), false);
      assert.deepEqual(await violations(page), []);
      await shot(page, `world-${world}`);
    }
    await page.reload();
    await drawn(page);
    assert.equal(await page.locator("#maze").inputValue(), "world/grid_5");
    await page.locator("#maze").selectOption("rooms");
    await until("a maze again", async () => (await address(page)).get("maze") === "rooms" && (await address(page)).get("world") === null);
    assert.equal(await page.locator("#law").isVisible(), true);
  });

  test("arrows and cards follow the actions of a cell", { query: "?run=0&world=deep_sea_10&explore=count_bonus:0.1&seed=4" }, async (page) => {
    await stepTo(page, 60);
    const { x, y } = await place(page, 0, 10);
    await page.mouse.move(x, y);
    await page.locator("#tip").waitFor({ state: "visible" });
    const card = await text(page, "tip");
    assert.match(card, /↘ south-east/);
    assert.match(card, /↙ south-west/);
    assert.doesNotMatch(card, /north/);
    assert.match(card, /exploration bonus/);
    const { q } = (await ask(page, "cell/0")).agents[0];
    assert.equal(q.length, 2);
    await shot(page, "deep-sea-card");
    const terminal = await ask(page, "cell/0");
    assert.ok(terminal.agents[0].made.every(({ bonus }) => bonus >= 0));
  });

  test("on a phone", { query: "?run=0&world=frozen_lake_8x8", options: phone }, async (page) => {
    for (let i = 0; i < 5; i++) await page.locator("#step").tap();
    await until("5 steps", async () => (await number(page, "Steps")) === 5);
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 390);
    assert.deepEqual(await violations(page), []);
    await shot(page, "world-phone", { fullPage: true });
  });

  test("a world that is not a grid is refused with a reason", { query: "?world=riverswim_6", expected: ["422"] }, async (page) => {
    await until("it says so", async () => /'riverswim_6' cannot be drawn/.test(await page.locator("#problem").textContent()));
  });

  test("a maze that changes by itself, and two ways to explore it", { query: "?run=1&speed=max&world=blocking_maze&gamma=0.95&cycles=20&explore=bayes_bonus:0.2&rival=reversed_full_backups&rival_explore=epsilon_greedy&rival_forget=half_life:500&epsilon=0.1" }, async (page) => {
    await until("both have recovered", async () => /Recovered after/.test(await text(page, "course-0")) && /Recovered after/.test(await text(page, "course-1")));
    await page.locator("#trials").waitFor({ state: "visible" });
    const table = await text(page, "trials");
    assert.match(table, /the world’s own\s+reversed full backups\s+Bayesian bonus, β 0\.2\s+[\d,]+/);
    assert.match(table, /ε 0\.1, half-life 500\s+[\d,]+/);
    assert.equal((await address(page)).get("maze"), null, "its own change is not a painted one");
    assert.match(await text(page, "name-1"), /ε 0\.1, half-life 500/);
    assert.deepEqual(await violations(page), []);
    await shot(page, "explorers", { fullPage: true });
    // A wall of the viewer's counts for both too.
    const before = await page.locator("#trials tbody tr").count();
    await page.keyboard.press("w");
    await until("both find out", async () => (await page.locator("#trials tbody tr").count()) >= before + 2);
    assert.notEqual((await address(page)).get("maze"), null, "painted");
  });
});

describe("exploration", () => {
  test("is chosen next to the planner, and incompatible settings are reported at the field", { settings: ["--paused"], expected: ["422"] }, async (page) => {
    await page.locator("#forget").selectOption("half_life");
    await page.locator("#wrong-forget").waitFor({ state: "visible" });
    assert.match(await text(page, "wrong-forget"), /paper's agent forgets nothing/);
    assert.equal(await page.locator("#forget").inputValue(), "never", "it stays as it was");
    await page.locator("#explore").selectOption("epsilon_greedy");
    await until("the address says so", async () => (await address(page)).get("explore") === "epsilon_greedy");
    assert.equal(await page.locator("#m").isVisible(), false, "M means nothing to it");
    await page.locator("#forget").selectOption("window");
    await page.locator("#forget-number").fill("300");
    await page.locator("#forget-number").press("Enter");
    await until("the number too", async () => (await address(page)).get("forget") === "window:300");
    for (const way of ["optimism", "count_bonus", "variance_bonus", "bayes_bonus", "achievable_bonus", "posterior_sampling"]) {
      if (way === "optimism") {
        await page.locator("#forget").selectOption("never");
        await until("it forgets nothing", async () => (await address(page)).get("forget") === null);
      }
      await page.locator("#explore").selectOption(way);
      await until(`the address says ${way}`, async () => ((await address(page)).get("explore") ?? "").startsWith(way));
      await stepTo(page, 30);
      await page.keyboard.press("c");
      await page.locator("#report").waitFor({ state: "visible" });
    }
    await page.locator("#explore-number").fill("");
    await page.locator("#explore-number").press("Tab");
    await page.locator("#wrong-explore").waitFor({ state: "visible" });
    await shot(page, "exploration");
    assert.deepEqual(await violations(page), []);
  });
});

describe("to take along", () => {
  it("a world that changes, in one file with the network off", { ...LIMIT, skip: site ? "needs the command" : false }, async () => {
    const [program, ...rest] = process.env.BACKSWEEP_WATCH.split(" ");
    for (const [world, after, cells] of [["blocking_maze", "120", 9], ["deep_sea_10", "60", 10]]) {
      const file = join(output, `${world}.html`);
      execFileSync(program, [...rest, "--world", world, "--explore", "bayes_bonus", "--cycles", "10", "--export", file, "--after", after], { stdio: "inherit" });
      assert.ok(statSync(file).size <= 5_000_000, `${statSync(file).size} bytes`);
      const context = await browser().newContext({ offline: true, viewport: { width: 1400, height: 900 } });
      try {
        const page = await context.newPage();
        const problems = [];
        page.on("pageerror", (error) => problems.push(error.message));
        page.on("request", (request) => /^(file|data|blob):/.test(request.url()) || problems.push(request.url()));
        await page.goto(`file://${file}`);
        await drawn(page);
        const pixels = () => page.locator("#maze-0").evaluate((canvas) => canvas.toDataURL());
        const first = await pixels();
        await page.locator("#scrub").fill(await page.locator("#scrub").getAttribute("max"));
        await until("all episodes", async () => (await number(page, "Episodes")) === Number(after));
        await atRest(page);
        assert.notEqual(await pixels(), first);
        // The arrow of a dark cell, in the lower left corner, is light also right after a jump. It is the brightest or darkest thing there.
        if (world === "deep_sea_10") {
          const brightest = await page.locator("#maze-0").evaluate((canvas) => {
            const side = canvas.width / 10;
            const { data } = canvas.getContext("2d").getImageData(Math.floor(side * 0.2), Math.floor(side * 9.2), Math.floor(side * 0.6), Math.floor(side * 0.6));
            let most = 0;
            for (let i = 0; i < data.length; i += 4) most = Math.max(most, data[i + 1]);
            return most;
          });
          assert.ok(brightest > 150, `green of the arrow is ${brightest}`);
        }
        const { x, y } = await place(page, 0, cells);
        await page.mouse.move(x, y);
        await page.locator("#tip").waitFor({ state: "visible" });
        assert.match(await text(page, "tip"), world === "deep_sea_10" ? /↘ south-east/ : /↑ north/);
        assert.deepEqual(await violations(page), []);
        await shot(page, `exported-${world}`);
        assert.deepEqual(problems, []);
      } finally {
        await context.close();
      }
    }
  });
});
