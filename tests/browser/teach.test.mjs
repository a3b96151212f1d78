// The page's teaching features: the tour, the drawn sweep, the race, breaking the world, explanations, sharing and saving.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { STEPS } from "../../crates/backsweep-watch/assets/tour-steps.js";
import { address, ask, atRest, choose, command, drawn, LIMIT, number, output, phone, place, shot, site, until, violations, withPages } from "./helper.mjs";

const steps = (page) => number(page, "Steps");
const text = (page, id) => page.locator(`#${id}`).innerText();

const { test, browser } = withPages();

describe("the tour", () => {
  it("says little at a time", () => {
    for (const { title, text } of STEPS) {
      const plain = (typeof text === "function" ? text({ n: 8, cells: 2, small: 8, full: 20, before: 7.8, now: 0.01, late: 0.02, one: -52, ten: -51.8 }) : text).replaceAll(/\[([^|]+)\|\w+\]/g, "$1");
      const words = plain.split(/\s+/).filter((word) => /\p{L}|\d/u.test(word));
      assert.ok(words.length <= 40, `${title}: ${words.length} words`);
    }
  });

  for (const [size, options] of [["desktop", {}], ["phone", phone]]) {
    test(`from start to end by keyboard alone, ${size}`, { settings: ["--paused"], options: { ...options, isFirstVisit: true } }, async (page) => {
      await page.locator("#tour").waitFor({ state: "visible" });
      const buttons = new Set();
      for (let k = 0; k < STEPS.length; k++) {
        assert.equal(await text(page, "tour-title"), STEPS[k].title);
        assert.equal(await page.evaluate(() => document.activeElement.id), "tour-next", "one button is enough");
        assert.deepEqual(await violations(page), []);
        assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= (options.viewport?.width ?? 1400));
        const queue = (await page.locator("#tour-queue li").allInnerTexts()).map((line) => line.replaceAll(/\s+/g, " "));
        if (k === 2) assert.deepEqual(queue, ["Cell 4 10"]);
        if (k === 3) assert.deepEqual(queue, ["Cell 4 10 · popped", "Cell 3 8 · new"]);
        if (k === 3) assert.match(await text(page, "tour-numbers"), /8 \(\+9\)/);
        if (k === 5) assert.deepEqual(queue, ["Cell 3 8 · popped", "Cell 2 6.2 · new"]);
        if (k === 6) assert.deepEqual(queue, ["Cell 2 6.2 · popped", "Cell 1 4.58 · new"]);
        // A priority is what the table says: V less the V that others use.
        const table = await page.locator("#tour-numbers tbody tr").allInnerTexts();
        for (const [, cell, priority, popped] of queue.map((line) => /^Cell (\d) ([\d.]+)( · popped)?/.exec(line)).filter(Boolean)) {
          const numbers = table[cell - 1].split(/\s+/).map((word) => Number(word.replace("−", "-")));
          if (!popped && k < 8) assert.ok(Math.abs(Math.abs(numbers[2] - numbers.at(-1)) - priority) < 0.011, `step ${k + 1}: ${table[cell - 1]}`);
        }
        if (k === 7) assert.equal(await text(page, "tour-waiting"), "empty");
        // One cycle per step keeps up: the bars have shrunk, and V is almost what it would be without a queue.
        const longest = await page.locator("#tour-queue .bar i").evaluateAll((bars) => (bars.length ? new DOMMatrix(getComputedStyle(bars[0]).transform).a : null));
        if (k === 8) assert.equal(longest, 1);
        if (k === 10) assert.ok(longest < 0.02, `${longest}`);
        if (k === 11) {
          assert.match(await text(page, "tour-numbers"), /V if the queue were empty/);
          assert.match(await text(page, "tour-text"), /would change V by 0\.0\d at most.*from −52\.0 to −51\.8/);
          for (const row of await page.locator("#tour-numbers tbody tr").allInnerTexts()) {
            const [value, , planned] = row.split("\t").slice(1).map((word) => Number(word.replace("−", "-")));
            assert.ok(value > 1 && Math.abs(value - planned) < 0.025, row);
          }
        }
        const { x, y } = await page.locator("#tour-next").boundingBox();
        buttons.add(size === "phone" ? `${x} ${y}` : x);
        await shot(page, `tour-${size}-${k + 1}`);
        if (k < STEPS.length - 1) await page.keyboard.press("Enter");
      }
      assert.equal(buttons.size, 1, "nothing moves under the thumb");
      assert.equal(await text(page, "state"), "paused", "the maze waits");
      await page.locator("#tour-skip").click();
      await page.locator("#tour").waitFor({ state: "hidden" });
      await until("the maze has the focus", async () => (await page.evaluate(() => document.activeElement.id)) === "maze-0");
      await until("the maze runs", async () => (await text(page, "run")) === "Pause");
      await page.reload();
      await drawn(page);
      assert.equal(await page.locator("#tour").isVisible(), false, "it is remembered");
    });
  }

  test("can be skipped, stepped back through, and reopened", { settings: ["--paused"], query: "?tour=1" }, async (page) => {
    await page.locator("#tour").waitFor({ state: "visible" });
    await page.keyboard.press("Enter");
    await page.keyboard.press("Enter");
    await page.locator("#tour-back").click();
    assert.equal(await text(page, "tour-title"), STEPS[1].title);
    // A term of the paper leads to the glossary.
    await page.locator("#tour-text .link").first().click();
    await page.locator("#glossary").waitFor({ state: "visible" });
    assert.match(await page.evaluate(() => document.activeElement.textContent), /Model/);
    assert.deepEqual(await violations(page), []);
    await shot(page, "glossary");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await page.locator("#tour").waitFor({ state: "hidden" });
    assert.equal(await text(page, "run"), "Run", "skipping starts nothing");
    await page.keyboard.press("?");
    await page.locator("#tour").waitFor({ state: "visible" });
  });

  test("is a dialog with a name, its text and its table in the accessibility tree", { settings: ["--paused"], query: "?tour=1" }, async (page) => {
    const dialog = page.getByRole("dialog", { name: STEPS[0].title });
    await dialog.waitFor();
    await page.getByRole("button", { name: "Next" }).click();
    await page.getByRole("button", { name: "Next" }).click();
    assert.ok(await page.getByRole("dialog", { name: "A surprise" }).isVisible());
    const row = page.getByRole("row", { name: /Cell 4/ });
    assert.match((await row.innerText()).replaceAll(/\s+/g, " "), /Cell 4 10 10 0/);
    const list = page.locator("#tour-queue").getByRole("listitem");
    assert.equal(await list.count(), 1);
    assert.ok(await page.getByRole("button", { name: "Skip the tour" }).isVisible());
  });
});

describe("the sweep", () => {
  test("Cycle waits for something to do, and says so", { settings: ["--paused"] }, async (page) => {
    await page.locator("#cycle").click();
    await page.locator("#report").waitFor({ state: "visible" });
    assert.match(await text(page, "report"), /^Nothing was queued, so the agent took [\d,]+ steps? first\./);
    assert.ok((await steps(page)) > 0);
    for (let i = 0; i < 6; i++) {
      await page.keyboard.press("c");
      await atRest(page);
      assert.match(await text(page, "report"), /changed/, "no press does nothing");
    }
  });

  test("queue, arrows and card show one cycle", { query: "?run=0&m=1&cycles=0&maze=shortcut&law=four&intended=0.8" }, async (page) => {
    for (let i = 0; i < 120; i++) await page.keyboard.press("s");
    await until("120 steps", async () => (await steps(page)) === 120);
    const name = (cell) => `Row ${Math.floor(cell / 9) + 1}, column ${(cell % 9) + 1}`;
    await page.keyboard.press("c");
    await page.locator("#report").waitFor({ state: "visible" });
    await atRest(page);
    const rows = (await page.locator("#queue-0 li").allInnerTexts()).map((line) => line.replaceAll(/\s+/g, " "));
    assert.match(rows[0], /^Row \d+, column \d+ [\d.]+ · popped$/);
    const popped = Number(await page.locator("#queue-0 li").first().getAttribute("data-cell"));
    assert.match(await text(page, "report"), new RegExp(`^${name(popped)} came off the queue`));
    assert.match(await text(page, "report"), /ΔV = [+−][\d.]+/);
    // The second row is the most urgent cell now: priorities come in order.
    const priorities = rows.slice(1).map((row) => Number(row.match(/ ([\d.]+)( · new)?$/)[1]));
    assert.deepEqual(priorities, [...priorities].sort((a, b) => b - a));
    await shot(page, "sweep");
    // A cell that was updated: the card shows the terms that make its Q, and which one the backup changed.
    const [report] = await page.evaluate(() => window.backsweep.frame.cycles);
    const told = report.backups.find(([cell]) => cell !== report.popped)[0];
    const { x, y } = await place(page, told, 9);
    await page.mouse.move(x, y);
    await page.locator("#tip").waitFor({ state: "visible" });
    const card = await text(page, "tip");
    assert.match(card, /= R̂ \+ γ Σ P̂ V/);
    assert.match(card, /R̂, mean reward\s+−1\.000/);
    assert.match(await page.locator("#tip li.told").innerText(), /\(last backup [+−][\d.]+\)/);
    const terms = await page.locator("#tip ol.made li:not(.title, .sum) span:last-child").allInnerTexts();
    const q = Number((await page.locator("#tip li.sum span").last().innerText()).replace("−", "-"));
    const sum = terms.reduce((sum, term) => sum + Number(term.replace("−", "-")), 0);
    assert.ok(Math.abs(sum - q) < 0.004, `${terms.join(" + ")} is ${sum}, not ${q}`);
    assert.deepEqual(await violations(page), []);
    await shot(page, "card");
  });

  test("the queue is live while it runs", { settings: ["--speed", "max"] }, async (page) => {
    await until("cells wait", async () => (await page.locator("#queue-0 li[data-cell]").count()) >= 5);
    const read = () => page.locator("#queue-0").innerText();
    const first = await read();
    await until("the list changes", async () => (await read()) !== first);
  });
});

describe("words everywhere", () => {
  test("every control and legend entry explains itself", { settings: ["--paused"] }, async (page) => {
    const without = await page.evaluate(() =>
      [...document.querySelectorAll(".hands button, .hands input:not(#scrub), .paint button, .paint input, .choices input, .choices select, .legend button")].filter((control) => {
        const ids = (control.getAttribute("aria-describedby") ?? "").split(" ");
        return !ids.some((id) => document.getElementById(id)?.textContent.length > 10);
      }).map((control) => control.outerHTML),
    );
    assert.deepEqual(without, []);
    // By mouse, and by keyboard.
    await page.locator("#m").hover();
    await page.locator("#help").waitFor({ state: "visible" });
    assert.match(await text(page, "help"), /until it has been tried M times/);
    await page.mouse.move(2, 2);
    await page.locator("#help").waitFor({ state: "hidden" });
    await page.locator("#reset").focus();
    await page.keyboard.press("Shift+Tab");
    await until("focus explains", async () => /most urgent cell updates/.test(await page.locator("#help").textContent()) && (await page.locator("#help").isVisible()));
  });

  test("a tap explains", { settings: ["--paused"], options: phone }, async (page) => {
    await page.locator(".legend button", { hasText: "queued" }).tap();
    await page.locator("#help").waitFor({ state: "visible" });
    assert.match(await text(page, "help"), /on the queue/);
  });

  test("shortcuts work after any click", { settings: ["--paused"] }, async (page) => {
    const stepAfter = async (what, click) => {
      const before = await steps(page);
      await click();
      await page.keyboard.press("s");
      await until(`s steps after ${what}`, async () => (await steps(page)) === before + 1);
    };
    await stepAfter("a button", () => page.locator("#break-shortcut").click());
    await stepAfter("a brush", () => choose(page, "look"));
    await stepAfter("the slider", () => page.locator("#speed").click());
    await stepAfter("a number", () => page.locator("#cycles").click());
    await stepAfter("a legend entry", () => page.locator(".legend button").first().click());
    await page.locator("#theme").click();
    await page.keyboard.press("Space");
    await until("space runs, and does not press the button again", async () => (await text(page, "run")) === "Pause");
  });

  test("an unreachable goal and an invalid setting are reported where they are visible", { settings: ["--paused"], query: "?maze=3x1-sfg&law=four&run=0" }, async (page) => {
    await choose(page, "toggle");
    const { x, y } = await place(page, 1, 3);
    await page.mouse.click(x, y);
    await until("it says so", async () => /There is no path from the start to the goal/.test(await page.locator("#notice").textContent()));
    const [notice, maze] = [await page.locator("#notice").boundingBox(), await page.locator("#maze-0").boundingBox()];
    assert.ok(notice.y < maze.y && maze.y - notice.y < 200, "it stands right above the maze");
    assert.deepEqual(await violations(page), []);
    await shot(page, "closed");
    await page.locator("#undo").click();
    await page.locator("#notice").waitFor({ state: "hidden" });
    await page.locator("#epsilon").fill("7");
    await page.locator("#epsilon").press("Enter");
    await page.locator("#wrong-epsilon").waitFor({ state: "visible" });
    assert.match(await text(page, "wrong-epsilon"), /7 is out of range; expected a number from 0 to 1\. It stays at 0\.05\./);
    const [field, line] = [await page.locator("#epsilon").boundingBox(), await page.locator("#wrong-epsilon").boundingBox()];
    assert.ok(line.y >= field.y && line.y - field.y < 60, "it stands right below the field");
    await shot(page, "invalid");
  });

  test("reduced motion means no flashes and few pictures", { settings: ["--speed", "max"], options: { reducedMotion: "reduce" } }, async (page) => {
    await until("it learns", async () => (await number(page, "Episodes")) > 20);
    // The page's clock is stopped and moved on by hand, so that the machine's speed does not matter. A picture draws the colors once,
    // from a canvas with one pixel per cell.
    await page.clock.install();
    await page.evaluate(() => {
      const context = document.getElementById("maze-0").getContext("2d");
      const draw = context.drawImage.bind(context);
      window.pictures = 0;
      context.drawImage = (...given) => {
        if (given[0].width === 26) window.pictures += 1;
        draw(...given);
      };
    });
    await page.clock.pauseAt(Date.now() + 60_000);
    const frames = () => page.evaluate(() => Number(document.body.dataset.frame));
    const picturesIn = async (slices) => {
      await page.evaluate(() => (window.pictures = 0));
      for (let k = 0; k < slices; k++) {
        const before = await frames();
        await until("a new frame is there to be drawn", async () => (await frames()) > before);
        await page.clock.runFor(100);
      }
      return page.evaluate(() => window.pictures);
    };
    const calm = await picturesIn(20);
    assert.ok(calm >= 3 && calm <= 8, `${calm} pictures in 2 seconds`);
    await page.emulateMedia({ reducedMotion: "no-preference" });
    const lively = await picturesIn(20);
    assert.ok(lively > 3 * calm, `${lively} pictures with motion, ${calm} without`);
  });
});

describe("race and broken worlds", () => {
  test("a race on equal work, to the finish line", { query: "?run=1&maze=rooms&law=four&intended=0.9&m=1&epsilon=0.2&cycles=5&rival=value_iteration&speed=max" }, async (page) => {
    await page.locator("#equal").selectOption("work");
    await until("the address says so", async () => (await address(page)).get("race") === "work");
    await until("the first has crossed the line", async () => /Within 1 % of the optimum after [\d,]+ steps/.test(await text(page, "course-0")));
    await page.keyboard.press("Space");
    await until("it is paused", async () => (await text(page, "run")) === "Run");
    assert.match(await text(page, "race-line"), /came within 5 % of the optimum after (about )?[\d,]+ additions.*within 1 % (first, )?after [\d,]+ additions/);
    assert.match(await text(page, "race-line"), /Equal work: [\d,]+ steps of/);
    assert.ok((await steps(page)) > 3 * (await number(page, "Steps", 1)));
    assert.deepEqual(await violations(page), []);
    await shot(page, "race-work", { fullPage: true });
  });

  test("runs fill Figure 3", { query: "?run=1&speed=max&maze=paper&planner=small_backups&m=4&cycles=5" }, async (page) => {
    await until("a run is a point", async () => /Mean return of 200 episodes: small backups with 5 cycles per step −\d/i.test(await text(page, "figure-text")));
    await shot(page, "figure", { fullPage: true });
  });

  test("Figure 3 has the printed points of the paper's problem", { query: "?run=0" }, async (page) => {
    await until("all printed points are there", async () => (await page.locator("#figure-3").getAttribute("data-published")) === "15");
  });

  test("Figure 3 has no printed points in another maze", { query: "?run=0&maze=rooms" }, async (page) => {
    await until("there are none", async () => (await page.locator("#figure-3").getAttribute("data-published")) === "0");
  });

  test("value iteration has no queue, and a wall no value", { query: "?run=0&planner=value_iteration&maze=rooms" }, async (page) => {
    await until("it says so", async () => /has no queue: each cycle sweeps all cells/.test(await page.locator("#queue-0").innerText()));
    const { x, y } = await place(page, 7, 17);
    await page.mouse.move(x, y);
    await until("the card of a wall", async () => /wall[^]*A wall has no value/.test(await text(page, "tip")));
    assert.doesNotMatch(await text(page, "tip"), /V −?\d/);
  });

  test("the optimum is the best, and what ε costs is another line", { query: "?run=0&world=cliff_walking" }, async (page) => {
    await until("both are known", async () => /The optimum is −12\.\d, and −26\.9 with the random actions of ε/.test(await page.locator("#returns").getAttribute("aria-label")));
  });

  test("a wall on the path, right again, and undone", { query: "?run=0&maze=rooms&law=four&intended=0.9&m=1&epsilon=0.3&cycles=30&speed=max" }, async (page) => {
    // A fixed number of steps at a time: the more was seen of the old world, the longer the new one takes.
    for (let n = 2000; !/Within 1 %/.test(await text(page, "course-0")); n += 2000) {
      await command(page, { do: "step", count: 2000 });
      await until(`${n} steps`, async () => (await steps(page)) === n && (await text(page, "state")) === "paused");
      await page.waitForTimeout(300); // for the judge, which is not asked for anything here
    }
    await page.locator("#break-wall").click();
    await until("the world is another", async () => (await address(page)).get("maze") !== "rooms");
    await page.keyboard.press("Space");
    await until("it has recovered", async () => /Recovered after [\d,]+ steps|did not matter/.test(await text(page, "course-0")));
    await page.locator("#trials").waitFor({ state: "visible" });
    assert.match(await page.locator("#trials tbody tr").first().innerText(), /wall\s+reversed full backups\s+ε 0\.3, M 1\s+[\d,]+|no effect/);
    assert.deepEqual(await violations(page), []);
    await shot(page, "broken", { fullPage: true });
    await page.locator("#undo").click();
    await until("undone", async () => (await address(page)).get("maze") === "rooms");
    assert.equal(await page.locator("#undo").isDisabled(), true);
  });

  test("looking is the default, and a stroke is undone at once", { settings: ["--paused"] }, async (page) => {
    const maze = async () => (await address(page)).get("maze");
    const [from, to] = [await place(page, 5, 26), await place(page, 9, 26)];
    await page.mouse.click(from.x, from.y);
    await page.locator("#tip").waitFor({ state: "visible" });
    await page.keyboard.press("s");
    await until("a step", async () => (await steps(page)) === 1);
    assert.equal(await maze(), "paper", "a click only looked");
    await choose(page, "toggle");
    await page.mouse.move(from.x, from.y);
    await page.mouse.down();
    await page.mouse.move(to.x, to.y, { steps: 12 });
    await page.mouse.up();
    await until("five walls", async () => /^26x23-5f5w/.test(await maze()));
    await page.keyboard.press("u");
    await until("all are gone", async () => (await maze()) === "paper");
  });
});

describe("to take along", () => {
  test("link, picture and animation", { settings: ["--speed", "300"], options: { permissions: ["clipboard-read", "clipboard-write"] } }, async (page) => {
    await until("it has run a little", async () => (await steps(page)) > 300);
    await page.locator("#share").click();
    assert.deepEqual(await violations(page), []);
    await page.locator("#share-link").click();
    await until("copied", async () => /copied/.test(await text(page, "share-done")));
    assert.match(await page.evaluate(() => navigator.clipboard.readText()), /planner=reversed_full_backups/);
    const save = async (id) => {
      const download = page.waitForEvent("download");
      await page.locator(`#${id}`).click();
      const path = join(output, (await download).suggestedFilename());
      await (await download).saveAs(path);
      return readFileSync(path);
    };
    const picture = await save("share-picture");
    assert.equal(picture.subarray(1, 4).toString(), "PNG");
    const animation = await save("share-animation");
    assert.equal(animation.subarray(0, 4).toString() + animation.subarray(8, 12).toString(), "RIFFWEBP");
    assert.equal(animation.readUInt32LE(4) + 8, animation.length);
    // The browser itself decodes it: several pictures, not all the same.
    const frames = await page.evaluate(async (bytes) => {
      const decoder = new ImageDecoder({ data: Uint8Array.from(atob(bytes), (c) => c.charCodeAt(0)), type: "image/webp" });
      await decoder.tracks.ready;
      await decoder.completed;
      const n = decoder.tracks.selectedTrack.frameCount;
      const { image } = await decoder.decode({ frameIndex: n - 1 });
      return { n, width: image.displayWidth };
    }, animation.toString("base64"));
    assert.ok(frames.n > 3 && frames.width > 300, JSON.stringify(frames));
    await shot(page, "share");
  });

  it("one file with a recorded run, opened from disk with the network off", { ...LIMIT, skip: site ? "needs the command" : false }, async () => {
    const [program, ...rest] = process.env.BACKSWEEP_WATCH.split(" ");
    const file = join(output, "run.html");
    execFileSync(program, [...rest, "--export", file, "--after", "40"], { stdio: "inherit" });
    assert.ok(statSync(file).size <= 5_000_000, `${statSync(file).size} bytes`);
    const context = await browser().newContext({ offline: true, viewport: { width: 1400, height: 900 } });
    try {
      const page = await context.newPage();
      const problems = [];
      page.on("pageerror", (error) => problems.push(error.message));
      page.on("console", (message) => ["error", "warning"].includes(message.type()) && !message.text().includes("willReadFrequently") && problems.push(message.text()));
      page.on("request", (request) => /^(file|data|blob):/.test(request.url()) || problems.push(request.url()));
      await page.goto(`file://${file}`);
      await drawn(page);
      assert.equal(await text(page, "state"), "recorded");
      assert.equal(await steps(page), 0);
      await page.locator("#step").click();
      await until("the next frame", async () => (await steps(page)) > 0);
      await page.locator("#run").click();
      await until("it plays", async () => (await text(page, "run")) === "Pause");
      await until("it goes on", async () => Number(await page.locator("#scrub").inputValue()) > 5);
      await page.keyboard.press("Space");
      await until("it pauses", async () => (await text(page, "run")) === "Play");
      const last = await page.locator("#scrub").getAttribute("max");
      await page.locator("#scrub").fill(last);
      await until("all 40 episodes", async () => (await number(page, "Episodes")) === 40);
      await atRest(page);
      assert.ok((await page.locator("#queue-0 li[data-cell]").count()) > 3, "the queue is drawn");
      // Hovering: Q is the sum of its terms, from the recorded counts.
      const { x, y } = await place(page, 26 * 21 + 24, 26);
      await page.mouse.move(x, y);
      await page.locator("#tip").waitFor({ state: "visible" });
      assert.match(await text(page, "tip"), /row 22, column 25[\s\S]*= R̂ \+ γ Σ P̂ V/);
      assert.doesNotMatch(await text(page, "tip"), /is waiting for its backup/);
      assert.deepEqual(await violations(page), []);
      await shot(page, "exported");
      await page.locator("#scrub").fill("0");
      await until("back to the beginning", async () => (await steps(page)) === 0);
      assert.deepEqual(problems, []);
    } finally {
      await context.close();
    }
  });
});

describe("every view is accessible", () => {
  for (const [name, options] of [["dark", {}], ["light", { colorScheme: "light" }], ["phone", phone], ["phone-light", { ...phone, colorScheme: "light" }]]) {
    test(`axe-core, ${name}`, { query: "?run=0&rival=moore_atkeson&maze=gap&m=1&law=four", options }, async (page) => {
      for (let i = 0; i < 40; i++) await page.keyboard.press("s");
      await page.keyboard.press("c");
      await page.locator("#report").waitFor({ state: "visible" });
      await atRest(page);
      assert.deepEqual(await violations(page), []);
      await shot(page, `view-${name}`, { fullPage: true });
      const { agents } = await ask(page, "values");
      assert.equal(agents.length, 2);
    });
  }
});
