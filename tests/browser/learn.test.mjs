// What the page teaches beside the maze: the algorithm's lines, numbers in cells, lessons, the race after the tour; and that
// colors mean what the legend says.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { get } from "node:http";
import { join } from "node:path";
import { describe } from "node:test";
import { LESSONS } from "../../crates/backsweep-watch/assets/lesson-scenes.js";
import { STEPS } from "../../crates/backsweep-watch/assets/tour-steps.js";
import { address, ask, atRest, choose, color, command, number, output, phone, place, shot, timed, until, violations, withPages } from "./helper.mjs";

const { test } = withPages();
const text = (page, id) => page.locator(`#${id}`).innerText();
const steps = (page) => number(page, "Steps");
const stepTo = async (page, count) => {
  await command(page, { do: "step", count });
  await until(`${count} steps`, async () => (await steps(page)) === count && (await text(page, "state")) === "paused");
};

/** Keeps the texts that are written on canvases from now on. */
const keepTexts = (page) =>
  page.evaluate(() => {
    window.texts = [];
    const write = CanvasRenderingContext2D.prototype.fillText;
    CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
      window.texts.push(text);
      write.call(this, text, ...rest);
    };
  });

const desktop = { viewport: { width: 1280, height: 800 } };

describe("the algorithm", () => {
  test("its lines light up, and its terms are cells both ways", { query: "?run=0&m=1&cycles=0&maze=shortcut&law=four&intended=0.8" }, async (page) => {
    await stepTo(page, 120);
    await page.keyboard.press("s");
    await until("a step", async () => (await steps(page)) === 121);
    await until("its lines are lit", async () => (await page.locator("#algorithm li.done").count()) === 4);
    await until("its line says what the step did", async () => {
      const [cell, , , reward] = await page.evaluate(() => window.backsweep.frame.agents[0].step);
      const said = new RegExp(`Row ${Math.floor(cell / 9) + 1}, column ${(cell % 9) + 1}: \\w+ led to .*, reward ${String(reward).replace("-", "−")}`);
      return said.test(await text(page, "algorithm"));
    });
    await page.keyboard.press("c");
    await until("the lines of a cycle", async () => (await page.locator("#algorithm ol").last().locator("li.done").count()) === 5);
    assert.equal(await page.locator("#algorithm ol").first().locator("li.done").count(), 0);
    await until("a line is lit, then the next", async () => (await page.locator("#algorithm li.now").count()) === 1);
    await until("all have been", async () => (await page.locator("#algorithm li.now").count()) === 0);
    await atRest(page);
    const [report] = await page.evaluate(() => window.backsweep.frame.cycles);
    const lines = await text(page, "algorithm");
    assert.match(lines, /ΔV = .* = [+−][\d.]+/);
    assert.match(lines, new RegExp(`${report.backups.length} Q values? in ${report.changed.length} cells? changed: ${report.additions} additions?`));
    // A term shows its cells.
    const marked = report.changed.find((changed) => changed !== report.popped);
    const before = await color(page, marked, 9, [0.5, 0.02]);
    await page.locator('#algorithm [data-term="y"]').last().hover();
    await until("they are outlined", async () => String(await color(page, marked, 9, [0.5, 0.02])) !== String(before));
    await page.mouse.move(2, 2);
    await until("and no longer", async () => String(await color(page, marked, 9, [0.5, 0.02])) === String(before));
    // A cell shows its terms, with its own numbers.
    const { x, y } = await place(page, marked, 9);
    await page.mouse.move(x, y);
    await until("the terms", async () => (await page.locator('#algorithm .var.of[data-term="y"]').count()) > 0);
    assert.match(await text(page, "algorithm-cell"), /Q of \w+: ΔQ = γ P̂ ΔV = [\d.]+ × −?[\d.]+ = [+−][\d.]+/);
    assert.deepEqual(await violations(page), []);
    await shot(page, "algorithm");
  });

  test("every planner has its own lines", { query: "?run=0&maze=rooms&m=1" }, async (page) => {
    const seen = new Set();
    for (const { name } of (await ask(page, "about")).planners) {
      await page.locator("#planner").selectOption(name);
      await until(name, async () => (await address(page)).get("planner") === name);
      await page.keyboard.press("c");
      await until("lines of a cycle", async () => (await page.locator("#algorithm ol").last().locator("li.done").count()) > 2);
      seen.add(await page.locator("#algorithm").evaluate((list) => [...list.querySelectorAll(".code")].map((line) => line.textContent).join("\n")));
    }
    assert.equal(seen.size, 6);
  });
});

describe("numbers in the maze", () => {
  test("V stands in cells that are large enough", { query: "?run=0&maze=gap&m=1&law=four&cycles=20", options: desktop }, async (page) => {
    await keepTexts(page);
    await stepTo(page, 400);
    await atRest(page);
    const written = new Set(await page.evaluate(() => window.texts));
    const { agents } = await ask(page, "values");
    const { cells } = await page.evaluate(() => ({ cells: [...window.backsweep.frame.agents[0].cells] }));
    const known = agents[0].values.filter((_, i) => cells[5 * i + 2] & 1);
    const brief = (v) => String(+v.toFixed(Math.abs(v) >= 9.95 ? 1 : 2)).replace("-", "−");
    assert.ok(known.length > 20);
    assert.ok(known.filter((v) => written.has(brief(v))).length > 0.9 * known.length, [...written].join(" "));
    await shot(page, "values");
  });

  for (const [what, columns, query] of [["arrows", 26, "maze=paper"], ["values", 15, "maze=gap&m=1&law=four&cycles=5"]]) {
    test(`${what} drawn where they changed are those of a whole drawing`, { query: `?run=0&${query}`, options: desktop }, async (page) => {
      for (const total of [400, 6000, 12000]) {
        await command(page, { do: "step", count: total - (await steps(page)) });
        await until(`${total} steps`, async () => (await steps(page)) === total && (await text(page, "state")) === "paused");
        await atRest(page);
      }
      await page.evaluate(() => {
        const canvas = document.getElementById("maze-0");
        window.remembered = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      });
      /** The cells that differ from the remembered picture, by more than the end of a flash. */
      const changed = () =>
        page.evaluate((columns) => {
          const { data, width, height } = window.remembered;
          const now = document.getElementById("maze-0").getContext("2d").getImageData(0, 0, width, height).data;
          const side = width / columns;
          const cells = new Set();
          data.forEach((byte, i) => Math.abs(byte - now[i]) > 8 && cells.add(columns * Math.floor((i >> 2) / width / side) + Math.floor(((i >> 2) % width) / side)));
          return [...cells];
        }, columns);
      await page.locator("#theme").click();
      await atRest(page);
      assert.ok((await changed()).length > 50, "another theme looks different");
      await page.locator("#theme").click();
      await atRest(page);
      // The agent still moves by less than a pixel.
      const position = await page.evaluate(() => window.backsweep.frame.agents[0].position);
      assert.deepEqual((await changed()).filter((cell) => cell !== position), []);
    });
  }

  test("ΔQ is readable at 1280 pixels, in the paper's maze", { query: "?run=0&maze=paper", options: desktop }, async (page) => {
    await stepTo(page, 4000);
    await keepTexts(page);
    await page.keyboard.press("c");
    await page.locator("#report").waitFor({ state: "visible" });
    await atRest(page);
    const [report] = await page.evaluate(() => window.backsweep.frame.cycles);
    const labels = (await page.evaluate(() => window.texts)).filter((label) => /^([+−]\d*\.?\d+|≈0)$/.test(label));
    assert.ok(labels.length >= report.changed.length, `${labels.length} labels for ${report.changed.length} cells`);
    await shot(page, "labels-1280");
  });

  test("a queued cell keeps the color of its value", { query: "?run=0&maze=paper", options: desktop }, async (page) => {
    await stepTo(page, 6000);
    await atRest(page);
    const { colors } = await ask(page, "about");
    const { cells, position, trail, urgent } = await page.evaluate(() => ({ ...window.backsweep.frame.agents[0], cells: [...window.backsweep.frame.agents[0].cells] }));
    const stops = colors.map((code) => [1, 3, 5].map((i) => parseInt(code.slice(i, i + 2), 16)));
    let n = 0;
    assert.equal(urgent.length, 32);
    for (const [i] of urgent) {
      const [upper, lower, flags] = cells.slice(5 * i, 5 * i + 3);
      if (!(flags & 1) || i === position || trail.includes(i)) continue;
      const at = ((upper * 256 + lower) / 65535) * (stops.length - 1);
      const below = Math.min(Math.floor(at), stops.length - 2);
      const expected = stops[below].map((c, k) => c + (stops[below + 1][k] - c) * (at - below));
      const found = await color(page, i, 26, [0.26, 0.36]);
      assert.ok(Math.max(...found.map((c, k) => Math.abs(c - expected[k]))) < 6, `cell ${i}: ${found} instead of ${expected}`);
      n += 1;
    }
    assert.ok(n > 10, `${n} queued cells`);
  });

  test("the reward brush", { query: "?run=0&maze=rooms&law=four", expected: ["422"] }, async (page) => {
    await page.locator("#reward").fill("-7.5");
    await choose(page, "reward");
    const [from, to] = [await place(page, 17 * 2 + 3, 17), await place(page, 17 * 2 + 6, 17)];
    await page.mouse.move(from.x, from.y);
    await page.mouse.down();
    await page.mouse.move(to.x, to.y, { steps: 9 });
    await page.mouse.up();
    await until("four cells have it", async () => /4_61_.*-61_-7\.5$/.test((await address(page)).get("maze")));
    await page.mouse.move(from.x, from.y);
    await until("the card says so", async () => /reward −7\.5/.test(await text(page, "tip")));
    await shot(page, "reward");
    await page.locator("#reward").fill("2e9");
    await page.mouse.click(from.x, from.y);
    await until("what is out of range is refused", async () => /expected -1e9 to 1e9/.test(await page.locator("#problem").textContent()));
    await page.keyboard.press("u");
    await until("undone at once", async () => (await address(page)).get("maze") === "rooms");
  });
});

describe("lessons", () => {
  test("each opens its scene, says what to look for, and is a link", { settings: ["--speed", "50"] }, async (page) => {
    assert.ok(LESSONS.length >= 5 && LESSONS.length <= 6);
    for (const { id, title, text: said, query } of LESSONS) {
      assert.equal(said.match(/[.!?](\s|$)/g).length, 2, `${id}: two sentences`);
      await page.locator("#lessons-open").click();
      const link = page.locator("#lesson-list a", { hasText: title });
      assert.match(await link.getAttribute("href"), new RegExp(`lesson=${id}$`));
      await link.click();
      await until("its text", async () => (await text(page, "lesson-text")) === `${title}. ${said}`);
      const wanted = new URLSearchParams(query);
      await until("its scene", async () => (await address(page)).get("lesson") === id && (await address(page)).get(wanted.has("world") ? "world" : "maze") === wanted.get(wanted.has("world") ? "world" : "maze"));
      for (const [name, value] of wanted) {
        assert.equal((await address(page)).get(name)?.split(":")[0], value.split(":")[0], `${id}: ${name}`);
      }
      assert.equal(await text(page, "run"), "Pause");
      await until("it runs", async () => (await steps(page)) > 3);
    }
    await page.locator("#lesson-end").click();
    assert.equal(await page.locator("#lesson").isVisible(), false);
  });

  test("a link to a lesson opens it", { query: `?${LESSONS[1].query}&run=0&lesson=${LESSONS[1].id}` }, async (page) => {
    await until("its text", async () => (await text(page, "lesson-text")).startsWith(LESSONS[1].title));
    await until("its world, with its own discount", async () => (await address(page)).get("world") === "cliff_walking");
    const { worlds } = await ask(page, "about");
    assert.equal(Number((await address(page)).get("gamma")), worlds.find(({ name }) => name === "cliff_walking").discount);
  });

  test("the paper, the documentation, the source and how to cite", { query: "?run=0&maze=paper" }, async (page) => {
    const links = await page.locator(".page-foot a").evaluateAll((all) => all.map(({ href }) => href));
    for (const part of ["arxiv.org/abs/1301.2343", "github.io/backsweep", "github.com/backsweep/backsweep", "CITATION.cff"]) assert.ok(links.some((link) => link.includes(part)), part);
    await page.locator(".page-foot summary").click();
    assert.match(await page.locator(".page-foot").innerText(), /van Seijen and R\. S\. Sutton\. Planning by Prioritized Sweeping/);
  });
});

describe("after the tour", () => {
  test("the maze begins when the reader arrives", { options: { isFirstVisit: true } }, async (page) => {
    await page.locator("#tour").waitFor({ state: "visible" });
    await until("the maze waits", async () => (await text(page, "state")) === "paused");
    const waited = await steps(page);
    await page.waitForTimeout(500);
    assert.equal(await steps(page), waited);
    const life = await page.evaluate(() => document.body.dataset.life);
    await page.keyboard.press("Escape");
    await until("it begins again, and runs", async () => (await page.evaluate(() => document.body.dataset.life)) !== life && (await text(page, "run")) === "Pause");
    assert.match(await text(page, "kind-0"), /made of small backups/);
  });

  test("one click starts the race on equal work, and Figure 3 fills in", { settings: ["--paused"], query: "?tour=1&lesson=rooms", options: desktop }, async (page) => {
    await page.locator("#tour").waitFor({ state: "visible" });
    for (let k = 1; k < STEPS.length; k++) await page.locator("#tour-next").click();
    assert.equal(await text(page, "tour-next"), "Race");
    await page.locator("#tour-next").click();
    await until("the race", async () => /^\?planner=reversed_full_backups&rival=moore_atkeson&race=work/.test(await page.evaluate(() => location.search)));
    const box = await page.locator("#figure-3").boundingBox();
    assert.ok(box.y + box.height < 800, `Figure 3 is in sight: ${box.y}`);
    assert.equal(await page.evaluate(() => window.scrollY), 0);
    assert.equal(await page.locator("#lesson").isVisible(), false, "the text of a lesson goes with its scene");
    await until("who has taken how many steps", async () => /Equal work: [\d,]+ steps? of the paper’s planner, [\d,]+ steps? of Moore & Atkeson’s method/.test(await text(page, "race-line")));
    await shot(page, "race-after-tour");
    await page.locator("#speed").fill("60");
    await until("two points", async () => /reversed full backups with 1 cycle per step −\d.*Moore & Atkeson with 1 cycle per step −\d|Moore & Atkeson.*reversed full backups/.test(await text(page, "figure-text")));
    await until("what it showed", async () => /Over the first 200 episodes each, the paper’s planner earned more: −5\d\.\d on average against −\d/.test(await text(page, "race-line")));
    await until("who came near first", async () => /^The paper’s planner came within 5 % of the optimum after [\d,]+ additions\. Moore & Atkeson’s method needed [\d,]+: [\d.]+ times as many\./.test(await text(page, "race-line")));
    await until("it is said aloud", async () => /^The paper’s planner came within 5 % of the optimum after [\d,]+ additions\. Moore/.test(await page.locator("#live").textContent()));
    assert.match(await page.locator(".more").first().innerText(), /^… and [\d,]+ more$/);
    await page.locator("#run").click();
    await until("it is paused", async () => (await text(page, "run")) === "Run");
    const { agents } = await page.evaluate(() => window.backsweep.frame);
    const apart = Math.abs(agents[0].additions - agents[1].additions);
    assert.ok(apart < 0.01 * agents[0].additions + 5000, `${agents[0].additions} and ${agents[1].additions} additions`);
    await shot(page, "race-figure");
  });
});

describe("every dialog is accessible", () => {
  for (const [name, options] of [["dark", {}], ["light", { colorScheme: "light" }], ["phone", phone], ["phone-light", { ...phone, colorScheme: "light" }]]) {
    test(`axe-core, ${name}`, { settings: ["--paused"], query: "?lesson=rooms", options }, async (page) => {
      for (const [open, id] of [["tour-open", "tour"], ["lessons-open", "lessons"], ["glossary-open", "glossary"], ["share", "sharing"]]) {
        await page.locator(`#${open}`).click();
        await page.locator(`#${id}`).waitFor({ state: "visible" });
        assert.deepEqual(await violations(page), [], id);
        assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= (options.viewport?.width ?? 1400), id);
        await shot(page, `dialog-${id}-${name}`);
        await page.keyboard.press("Escape");
        await page.locator(`#${id}`).waitFor({ state: "hidden" });
      }
    });
  }
});

describe("10,000 cells", () => {
  const maze = `100x100-s${"9998"}fg`;
  for (const speed of ["600", "max"]) {
    test(`at 30 frames per second, with less than 1 MB per second, speed ${speed}`, { query: `?run=1&maze=${maze}&law=four&m=1&speed=${speed}`, ofServer: true }, async (page, server) => {
      await until("it learns", async () => (await steps(page)) > 3000);
      const frame = () => page.evaluate(() => Number(document.body.dataset.frame));
      const [from, began] = [await frame(), Date.now()];
      // Another viewer, whose bytes are counted as they arrive.
      let bytes = 0;
      const stream = get(new URL("/api/frames", server.url), { headers: { "accept-encoding": "gzip" } }, (answer) => answer.on("data", (part) => (bytes += part.length)));
      await page.waitForTimeout(5000);
      stream.destroy();
      const seconds = (Date.now() - began) / 1000;
      const [rate, fps] = [bytes / seconds / 1000, ((await frame()) - from) / seconds];
      const line = `10,000 cells, speed ${speed}: ${rate.toFixed(0)} kB per second, ${fps.toFixed(1)} frames per second`;
      writeFileSync(join(output, `large-${speed}.txt`), `${line}\n`);
      console.log(line);
      assert.ok(bytes > 1000, "the stream is seen");
      // What a frame takes, at the highest rate at which frames are sent.
      assert.ok((rate / Math.max(fps, 1)) * 30 < 1000, line);
      if (timed) assert.ok(fps > 28, line);
    });
  }
});
