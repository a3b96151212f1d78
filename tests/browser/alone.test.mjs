// What only a page without a server can do: open without a network, and at any step.

import assert from "node:assert/strict";
import { describe } from "node:test";
import { address, ask, drawn, number, site, until, withPages } from "./helper.mjs";

const { test } = withPages();
const steps = (page) => number(page, "Steps");

describe("a page without a server", { skip: site ? false : "this is a server" }, () => {
  test("opens without a network once it was loaded", { query: "?run=0&maze=rooms&seed=3" }, async (page) => {
    await page.evaluate(() => navigator.serviceWorker.ready);
    await until("it is kept", async () => page.evaluate(async () => (await caches.keys()).length === 1 && Boolean(navigator.serviceWorker.controller)));
    await page.context().setOffline(true);
    await page.reload();
    await drawn(page);
    await until("the same scene", async () => (await address(page)).get("maze") === "rooms" && (await address(page)).get("seed") === "3");
    await page.keyboard.press("s");
    await until("the engine works", async () => (await steps(page)) === 1);
  });

  test("commands do not wait behind the engine's messages to itself", { query: "?run=1&maze=rooms&speed=max" }, async (page) => {
    const [worker] = page.workers();
    await worker.evaluate(() => {
      const { port2 } = soon;
      const send = port2.postMessage.bind(port2);
      const receive = soon.port1.onmessage;
      self.waiting = [0, 0]; // now, and at most
      port2.postMessage = (message) => {
        self.waiting[0] += 1;
        self.waiting[1] = Math.max(...self.waiting);
        send(message);
      };
      soon.port1.onmessage = (event) => {
        self.waiting[0] -= 1;
        receive(event);
      };
    });
    for (let i = 0; i < 30; i++) await ask(page, "cell/20");
    const [, most] = await worker.evaluate(() => self.waiting);
    assert.ok(most >= 0 && most <= 1, `${most} messages wait`);
    await page.keyboard.press("Space");
    await until("it is paused", async () => (await page.locator("#run").innerText()) === "Run");
  });

  test("a link opens at the step at which it was copied", { query: "?run=0&maze=rooms&m=1&cycles=2&seed=5" }, async (page) => {
    for (let i = 0; i < 37; i++) await page.keyboard.press("s");
    await until("the address says so", async () => (await address(page)).get("step") === "37");
    const { agents } = await ask(page, "values");
    await page.reload();
    await drawn(page);
    await until("as many steps", async () => (await steps(page)) === 37);
    assert.deepEqual((await ask(page, "values")).agents, agents);
    // Cycles by hand are not steps: their number would not tell where the agent is.
    await page.keyboard.press("c");
    await until("the address says nothing", async () => (await address(page)).get("step") === null);
  });
});
