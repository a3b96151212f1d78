// Around the page: shared addresses, many viewers, phones, screen readers.

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { address, ask, choose, drawn, LIMIT, number, open, phone, place, shot, site, startServer, until, withPages } from "./helper.mjs";

const COLUMNS = 26; // of the paper's maze
const steps = (page) => number(page, "Steps");
const { test: scene, browser } = withPages();

describe("sharing", () => {
  scene("a shared address restores the scene", { query: "?run=0&planner=moore_atkeson&rival=peng_williams&cycles=2&epsilon=0.2&m=2&gamma=0.9&seed=7&law=four&intended=0.7&speed=40&maze=gap&theme=light" }, async (page) => {
    const spot = await place(page, 30, 15);
    await choose(page, "toggle");
    await page.mouse.click(spot.x, spot.y);
    await until("the paint is in the address", async () => (await address(page)).get("maze").startsWith("15x12-"));
    const query = await address(page);
    const other = await startServer("--planner", "small_backups");
    let opened;
    try {
      opened = await open(browser(), other, `?${query}`);
      const { page: copy, problems } = opened;
      const read = (page) => page.evaluate(() => Object.fromEntries(["planner", "rival", "cycles", "gamma", "m", "epsilon", "seed", "law", "intended", "maze", "speed"].map((id) => [id, document.getElementById(id).value])));
      await until("the controls are the same", async () => JSON.stringify(await read(copy)) === JSON.stringify(await read(page)));
      assert.deepEqual(await address(copy), query);
      assert.equal(await copy.evaluate(() => document.documentElement.dataset.theme), "light");
      // The same scene learns the same.
      for (const one of [page, copy]) {
        await one.keyboard.press("r");
        for (let i = 0; i < 25; i++) await one.keyboard.press("s");
        await until("25 steps", async () => (await steps(one)) === 25);
      }
      assert.deepEqual((await ask(copy, "values")).agents, (await ask(page, "values")).agents);
      // A reload does not disturb it.
      const life = await copy.evaluate(() => document.body.dataset.life);
      // The address is written a moment after the last step.
      await until("the steps are in the address", async () => (await address(copy)).get("step") === "25");
      await copy.reload();
      await drawn(copy);
      // An engine in the page begins again, and takes the same steps.
      if (!site) assert.equal(await copy.evaluate(() => document.body.dataset.life), life);
      await until("the same steps", async () => (await steps(copy)) === 25);
      assert.deepEqual(problems, []);
    } finally {
      await opened?.context.close();
      await other.end();
    }
  });

  scene("an address that is not a scene is reported", { query: "?maze=9x9-zzz&cycles=many" }, async (page) => {
    await until("it says so", async () => (await page.locator("#problem").textContent()).length > 10);
    await until("it learns all the same", async () => (await steps(page)) > 10);
  });

  scene("twenty viewers see the same", { settings: ["--speed", "200"], ofServer: true }, async (page, server) => {
    const others = await Promise.all(
      Array.from({ length: 19 }, async () => {
        const abort = new AbortController();
        const answer = await fetch(new URL("/api/frames", server.url), { signal: abort.signal });
        const reader = answer.body.getReader();
        let bytes = 0;
        while (bytes < 60_000) bytes += (await reader.read()).value.length;
        abort.abort();
        return bytes;
      }),
    );
    assert.equal(others.length, 19);
    const before = await steps(page);
    await until("the page continues", async () => (await steps(page)) > before);
  });
});

describe("everywhere", () => {
  for (const colorScheme of ["dark", "light"]) {
    scene(`phone width, ${colorScheme}`, { settings: ["--speed", "3000"], options: { ...phone, colorScheme } }, async (page) => {
      await until("it learns", async () => (await number(page, "Episodes")) > 20);
      const { width, height } = await page.evaluate(() => ({ width: document.documentElement.scrollWidth, height: document.documentElement.scrollHeight }));
      assert.ok(width <= 390, `the page is ${width} wide`);
      assert.ok(height > 844);
      for (const id of ["run", "step", "cycle", "reset"]) {
        const box = await page.locator(`#${id}`).boundingBox();
        assert.ok(box.height >= 44 && box.width >= 44, `${id} can be hit with a finger: ${box.width} x ${box.height}`);
      }
      const maze = await page.locator("#maze-0").boundingBox();
      assert.ok(maze.width > 330, `the maze fills the width: ${maze.width}`);
      await shot(page, `phone-${colorScheme}`);
      await page.locator('label:has(input[value="toggle"])').tap();
      await page.evaluate(() => window.scrollTo(0, 0));
      const { x, y } = await place(page, 5, COLUMNS);
      await page.touchscreen.tap(x, y);
      await until("a tap builds a wall", async () => (await address(page)).get("maze") !== "paper");
      await page.locator("#run").tap();
      await until("it pauses", async () => (await page.locator("#run").innerText()) === "Run");
      await shot(page, `phone-${colorScheme}-whole`, { fullPage: true });
    });
  }

  scene("every control has a name for a screen reader", {}, async (page) => {
    const nameless = await page.evaluate(() =>
      [...document.querySelectorAll("button, input, select, canvas:not([aria-hidden])")]
        .filter((element) => {
          const label = element.getAttribute("aria-label") || element.labels?.[0]?.textContent || (element.tagName === "BUTTON" && element.textContent);
          return !label?.trim();
        })
        .map((element) => element.outerHTML),
    );
    assert.deepEqual(nameless, []);
    assert.equal(await page.locator("#live[aria-live=polite]").count(), 1);
    assert.match(await page.locator("#returns").getAttribute("aria-label"), /The optimum is/);
    assert.equal(await page.locator("h1").count(), 1);
    assert.equal(await page.locator("main").count(), 1);
  });

  it("a page says when its server has ended", { ...LIMIT, skip: site ? "needs a server" : false }, async () => {
    const server = await startServer();
    let context;
    try {
      const opened = await open(browser(), server, "");
      context = opened.context;
      const { code } = await server.end();
      assert.equal(code, 0);
      await until("it says so", async () => (await opened.page.locator("#state").innerText()) === "disconnected");
    } finally {
      await context?.close();
      await server.end();
    }
  });
});
