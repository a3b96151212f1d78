// What can go wrong around the page: too many tabs, too many viewers, a server that stops, external links, small screens.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, describe, it } from "node:test";
import { address, ask, choose, drawn, LIMIT, number, open, phone, place, shot, site, startBrowser, startServer, until } from "./helper.mjs";

const steps = (page) => number(page, "Steps");
const button = (page) => page.locator("#run").innerText();
const notice = (page) => page.locator("#notice").textContent();

let browser;
before(async () => {
  browser = await startBrowser();
});
after(async () => browser?.close());

const OF_SERVER = { ofServer: true };

/** A test with its own server. */
function test(name, settings, body, { ofServer = false } = {}) {
  it(name, { ...LIMIT, skip: ofServer && site ? "needs a server" : false }, async () => {
    const server = await startServer(...settings);
    const contexts = [];
    const show = async (query = "", options = {}) => {
      const opened = await open(browser, server, query, options);
      contexts.push(opened.context);
      return opened.page;
    };
    try {
      await body(show, server);
    } finally {
      for (const context of contexts) await context.close();
      await server.end();
    }
  });
}

describe("many viewers", () => {
  test("more tabs than a browser has connections", ["--speed", "200"], async (show, { url }) => {
    const first = await show();
    const pages = [first];
    for (let i = 0; i < 6; i++) {
      const page = await first.context().newPage();
      await page.goto(url);
      pages.push(page);
    }
    const crowded = pages.filter((_, i) => i >= 4);
    for (const page of crowded) await until("it says what is happening", async () => /already shows the page in four/.test(await notice(page)));
    await shot(crowded[0], "crowded");
    // Controls work in every tab, with and without a stream.
    await first.locator("#run").click();
    await until("the first tab pauses", async () => (await button(first)) === "Run");
    const { agents } = await ask(crowded[2], "values");
    await crowded[2].locator("#step").click();
    await until("a tab without a stream steps", async () => JSON.stringify((await ask(first, "values")).agents) !== JSON.stringify(agents) || (await steps(first)) > 0);
    // A tab that is closed makes room.
    await pages[1].close();
    await until("one of the others continues", async () => {
      const states = await Promise.all(crowded.map((page) => page.evaluate(() => document.body.dataset.link)));
      return states.filter((state) => state === "open").length === 1;
    });
  }, OF_SERVER);

  test("a hidden tab releases its stream", [], async (show) => {
    const page = await show();
    const seats = async () => (await ask(page, "about")).free_seats;
    await until("one seat is taken", async () => (await seats()) === 63);
    const see = (state) =>
      page.evaluate((state) => {
        Object.defineProperty(document, "visibilityState", { value: state, configurable: true });
        document.dispatchEvent(new Event("visibilitychange"));
      }, state);
    await see("hidden");
    await until("the seat is free", async () => (await seats()) === 64);
    const before = await steps(page);
    await see("visible");
    await until("it continues", async () => (await steps(page)) > before);
    assert.equal(await seats(), 63);
  }, OF_SERVER);

  test("one viewer too many gets a message, and gets in when there is room", [], async (show, { url }) => {
    const others = [];
    for (let i = 0; i < 64; i++) {
      const abort = new AbortController();
      await fetch(new URL("/api/frames", url), { signal: abort.signal });
      others.push(abort);
    }
    const context = await browser.newContext();
    try {
      const page = await context.newPage();
      await page.goto(url);
      await until("it says so", async () => /64 viewers are watching, which is the limit/.test(await notice(page)));
      assert.equal(await page.locator("#state").textContent(), "server full");
      await shot(page, "full");
      others.forEach((abort) => abort.abort());
      await until("it is let in", async () => (await page.evaluate(() => document.body.dataset.link)) === "open");
      assert.equal(await page.locator("#notice").isVisible(), false);
    } finally {
      await context.close();
    }
  }, OF_SERVER);

  test("two viewers change different settings at once", [], async (show) => {
    const [one, other] = [await show(), await show()];
    for (let i = 1; i <= 15; i++) {
      const set = (page, id, value) =>
        page.evaluate(
          ([id, value]) => {
            const field = document.getElementById(id);
            field.value = value;
            field.dispatchEvent(new Event("change"));
          },
          [id, value],
        );
      await Promise.all([set(one, "cycles", i), set(other, "epsilon", i / 100)]);
      await until(`both changes of round ${i} are kept`, async () => {
        const query = await address(one);
        return query.get("cycles") === String(i) && query.get("epsilon") === String(i / 100);
      });
    }
  }, OF_SERVER);
});

describe("the server ends", () => {
  test("stopped, and ended", ["--speed", "500"], async (show, server) => {
    const page = await show();
    await until("it learns", async () => (await page.locator("#state").textContent()) === "learning");
    server.signal("SIGSTOP");
    try {
      await until("a stopped server is noticed", async () => (await page.locator("#state").textContent()) === "disconnected");
      assert.doesNotMatch(await page.locator("#tags-0").textContent(), /\d/, "no old speed is shown");
      await shot(page, "disconnected");
    } finally {
      server.signal("SIGCONT");
    }
    await until("it is back", async () => (await page.locator("#state").textContent()) === "learning");
    await server.end();
    await until("a server that ended is noticed", async () => /is not responding/.test(await notice(page)));
    assert.equal(await page.locator("#state").textContent(), "disconnected");
  }, OF_SERVER);

  it("restarted: the painted maze comes back and orders are obeyed", { ...LIMIT, skip: site ? "needs a server" : false }, async () => {
    let server = await startServer("--paused");
    const { port } = new URL(server.url);
    const { page, context } = await open(browser, server, "");
    try {
      const { x, y } = await place(page, 30, 26);
      await choose(page, "toggle");
      await page.mouse.click(x, y);
      await until("the wall is in the address", async () => (await address(page)).get("maze").startsWith("26x23-"));
      const painted = (await address(page)).get("maze");
      await server.end();
      await until("it is noticed", async () => (await page.locator("#state").textContent()) === "disconnected");
      assert.equal((await address(page)).get("maze"), painted);
      server = await startServer("--paused", "--port", port);
      await until("the page is back", async () => (await page.evaluate(() => document.body?.dataset.link).catch(() => null)) === "open");
      await until("the maze is restored", async () => (await address(page)).get("maze") === painted && (await page.locator("#maze").inputValue()) === "painted");
      await page.keyboard.press("s");
      await until("an order is obeyed", async () => (await steps(page)) === 1);
    } finally {
      await context.close();
      await server.end();
    }
  });
});

describe("links", () => {
  test("a link on another site does not replace what is running", ["--speed", "500"], async (show, server) => {
    const link = `${server.url}?planner=value_iteration&cycles=10000&speed=max&maze=gap&run=1`;
    const evil = createServer((_, answer) => answer.setHeader("content-type", "text/html").end(`<a id="go" href="${link}">win</a>`));
    await new Promise((resolve) => evil.listen(0, "127.0.0.1", resolve));
    try {
      const page = await show();
      await until("it learns", async () => (await steps(page)) > 200);
      const life = await page.evaluate(() => document.body.dataset.life);
      const follow = async () => {
        // Another name for this machine is another site.
        await page.goto(`http://localhost:${evil.address().port}/`);
        await page.locator("#go").click();
        await drawn(page);
        await page.locator("#ask").waitFor({ state: "visible" });
      };
      await follow();
      await shot(page, "link-from-elsewhere");
      assert.match(await page.locator("#ask-text").textContent(), /what was learned in [\d,]+ steps would be lost/);
      assert.equal(await page.evaluate(() => document.body.dataset.life), life, "nothing is lost while it asks");
      await page.locator("#ask-keep").click();
      await until("the address is that of the scene that continues", async () => (await address(page)).get("maze") === "paper");
      assert.equal(await page.evaluate(() => document.body.dataset.life), life);
      assert.ok((await steps(page)) > 200);
      await follow();
      await page.locator("#ask-show").click();
      await until("the linked scene is shown", async () => (await address(page)).get("maze") === "gap" && (await address(page)).get("planner") === "value_iteration");
      // Even that scene does not freeze the page.
      await page.locator("#run").click();
      await until("it pauses", async () => (await button(page)) === "Run");
    } finally {
      evil.close();
    }
  }, OF_SERVER);

  test("an address that the user typed asks too once somebody has changed something", ["--paused"], async (show) => {
    const first = await show();
    await first.keyboard.press("s");
    await until("a step", async () => (await steps(first)) === 1);
    const second = await show("?maze=rooms&run=0");
    await second.locator("#ask").waitFor({ state: "visible" });
    await second.keyboard.press("Escape");
    await until("it is kept", async () => (await address(second)).get("maze") === "paper");
    assert.equal(await steps(second), 1);
  }, OF_SERVER);
});

describe("small things", () => {
  test("costly settings do not freeze the page", ["--speed", "500"], async (show) => {
    const page = await show();
    await page.waitForTimeout(3000); // as somebody who watches for a while first
    await page.locator("#cycles").fill("10");
    await page.locator("#cycles").press("Tab");
    await page.locator("#planner").selectOption("value_iteration");
    await page.locator("#speed").fill("60");
    await until("it runs", async () => (await steps(page)) > 20 && (await address(page)).get("speed") === "max");
    const began = Date.now();
    await page.locator("#run").click();
    await until("it pauses", async () => (await button(page)) === "Run");
    const took = Date.now() - began;
    console.log(`paused after ${took} ms`);
    assert.ok(took < 10_000, `the pause took ${took} ms`);
  });

  test("a fine number is not framed as wrong", ["--paused"], async (show) => {
    const page = await show();
    const edge = () => page.locator("#gamma").evaluate((field) => getComputedStyle(field).borderColor);
    const plain = await edge();
    await page.locator("#gamma").fill("0.999");
    await page.locator("#gamma").press("Enter");
    await until("the address says so", async () => (await address(page)).get("gamma") === "0.999");
    assert.equal(await edge(), plain);
    await page.locator("#gamma").fill("1.5");
    assert.notEqual(await edge(), plain);
  });

  test("a refused paint is not announced as done", ["--paused"], async (show) => {
    const page = await show();
    const goal = 26 * 23 - 1;
    const said = () => page.locator("#live").textContent();
    await choose(page, "toggle");
    let spot = await place(page, goal, 26);
    await page.mouse.click(spot.x, spot.y);
    await until("it says why", async () => /no goal/.test(await page.locator("#problem").textContent()));
    assert.doesNotMatch(await said(), /is now/);
    spot = await place(page, 30, 26);
    await page.mouse.click(spot.x, spot.y);
    await until("one that is done is announced", async () => (await said()) === "row 2, column 5 is now a wall");
  });

  test("a phone: the label goes away while scrolling", ["--paused"], async (show) => {
    const page = await show("", phone);
    const { x, y } = await place(page, 5, 26);
    await page.touchscreen.tap(x, y);
    await page.locator("#tip").waitFor({ state: "visible" });
    await page.evaluate(() => window.scrollTo(0, 300));
    await page.locator("#tip").waitFor({ state: "hidden" });
  });

  test("a phone: a maze of 100 by 100 cells fits", ["--paused"], async (show) => {
    const page = await show("?maze=100x100-s9998fg&run=0", phone);
    await until("it is shown", async () => (await page.locator("#maze").inputValue()) === "painted");
    const box = await page.locator("#maze-0").boundingBox();
    assert.ok(box.x >= 0 && box.x + box.width <= 390, `the maze reaches from ${box.x} to ${box.x + box.width}`);
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 390);
    await shot(page, "phone-100");
  });
});
