// A real server and a real browser. With BACKSWEEP_SITE, a folder made by scripts/site takes the place of the server: the same
// page, with the engine in it.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { after, before, it } from "node:test";
import { chromium } from "playwright-core";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
/** Where screenshots are kept. */
export const output = join(root, "test-output", process.env.BACKSWEEP_SITE ? "browser-site" : "browser");
mkdirSync(output, { recursive: true });
const program = (process.env.BACKSWEEP_WATCH ?? "").split(" ").filter(Boolean);
/** The folder of static files to test, if not a server. */
export const site = process.env.BACKSWEEP_SITE ?? null;
if (program.length === 0 && !site) throw new Error("BACKSWEEP_WATCH must hold the command to test; run scripts/test-browser");

/** Whether times are asserted and not only reported (docs/testing.md). */
export const timed = process.env.BACKSWEEP_TIMED === "1";
/** The timeout for anything that should happen, in milliseconds: machines may be slow and busy. */
export const PATIENCE = Number(process.env.BACKSWEEP_PATIENCE ?? 120) * 1000;

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".wasm": "application/octet-stream" };
/** Where the static files are: not at the root, and with a type for WebAssembly that forbids to stream it. */
const FOLDER = "/some/folder/";

/** Serves the static files without any header of ours; settings of the command become part of the address. */
async function serveSite(...settings) {
  const server = createServer((request, answer) => {
    const { pathname } = new URL(request.url, "http://localhost");
    const name = pathname === FOLDER ? "index.html" : pathname.slice(FOLDER.length);
    try {
      if (!pathname.startsWith(FOLDER) || name.includes("/")) throw new Error(pathname);
      answer.setHeader("content-type", TYPES[extname(name)]).end(readFileSync(join(root, site, name)));
    } catch {
      answer.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const query = new URLSearchParams();
  for (let i = 0; i < settings.length; i++) {
    const name = settings[i].slice(2);
    if (name === "paused") query.set("run", "0");
    else query.set(name, settings[++i]);
  }
  // A query that names no setting of a scene is not a scene.
  if (query.size) query.set("epsilon", query.get("epsilon") ?? "0.05");
  const end = () => new Promise((resolve) => server.close(() => resolve({ code: 0 })).closeAllConnections());
  return { url: `http://127.0.0.1:${server.address().port}${FOLDER}`, query, end };
}

/** The address of a scene: the settings that a site was started with, and a query. */
const at = (server, query = "") => {
  if (!server.query) return server.url + query;
  const all = new URLSearchParams([...server.query, ...new URLSearchParams(query)]);
  const last = new URLSearchParams(Object.fromEntries(all));
  return last.size ? `${server.url}?${last}` : server.url;
};

/** Starts `backsweep watch` and resolves to its address. */
export const startServer = (...settings) => (site ? serveSite(...settings) : startProgram(...settings));

async function startProgram(...settings) {
  const child = spawn(program[0], [...program.slice(1), ...settings], { stdio: ["ignore", "pipe", "inherit"], cwd: root });
  const url = await new Promise((resolve, reject) => {
    let text = "";
    child.stdout.on("data", (data) => {
      text += data;
      if (text.includes("\n")) resolve(text.split("\n")[0]);
    });
    child.on("exit", (code) => reject(new Error(`the server ended with ${code}`)));
  });
  const ended = new Promise((resolve) => child.on("exit", (code, signal) => resolve({ code, signal })));
  return {
    url,
    signal: (name) => child.kill(name),
    async end() {
      child.kill("SIGINT");
      return ended;
    },
  };
}

/** The engine as WebAssembly, if it was built. */
export const engineFile = process.env.BACKSWEEP_ENGINE ?? null;

/** A native engine behind its server, without a page. */
export async function startNative(...settings) {
  const { url, end } = await startProgram(...settings);
  const token = /name="backsweep-token" content="(\w+)"/.exec(await (await fetch(url)).text())[1];
  const values = async () => (await (await fetch(`${url}api/values`)).json()).agents;
  /** Takes steps; resolves to the frame in which they are done. */
  const step = async (count, total) => {
    const headers = { "content-type": "application/json", "x-backsweep-token": token };
    await fetch(`${url}api/order`, { method: "POST", headers, body: JSON.stringify({ do: "step", count }) });
    const abort = new AbortController();
    let text = "";
    try {
      const answer = await fetch(`${url}api/frames`, { signal: abort.signal });
      for await (const part of answer.body.pipeThrough(new TextDecoderStream())) {
        text += part;
        const whole = text.split("\n\n");
        text = whole.pop();
        const frames = whole.filter((event) => event.startsWith("event: frame")).map((event) => JSON.parse(event.slice(event.indexOf("{"))));
        const done = frames.find((frame) => frame.agents[0].steps === total && !frame.busy);
        if (done) return done;
      }
    } finally {
      abort.abort();
    }
    throw new Error("the stream of frames ended");
  };
  return { end, values, step };
}

/** The machine's own browser, without access to the network. */
export function startBrowser() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    timeout: PATIENCE,
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
}

/** Opens a page that remembers every error, warning and foreign request. */
export async function open(browser, server, query, { isFirstVisit = false, ...options } = {}) {
  const url = at(server, query);
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 }, colorScheme: "dark", ...options });
  context.setDefaultTimeout(PATIENCE);
  // The tour is offered on the first visit; most tests are about what comes after it.
  if (!isFirstVisit) await context.addInitScript(() => localStorage.setItem("backsweep-tour", "seen"));
  const page = await context.newPage();
  const problems = [];
  page.on("console", (message) => {
    // The tests read pixels where the page never does.
    if (message.text().includes("willReadFrequently")) return;
    if (["error", "warning"].includes(message.type())) problems.push(message.text());
  });
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("request", (request) => {
    if (!request.url().startsWith(new URL(url).origin) && !request.url().startsWith("data:")) problems.push(`foreign request ${request.url()}`);
  });
  await page.goto(url);
  await drawn(page);
  return { page, problems, context };
}

/** Waits until a page that was just loaded shows something, and the scene of its address if it has one. */
export const drawn = (page) => page.waitForFunction(() => document.body.dataset.drawn !== undefined && document.body.dataset.arriving === undefined);

/** Waits until the picture shows this frame or a later one and has stopped moving. The engine must be paused. */
export const atRest = (page, number = 0) =>
  page.evaluate(
    (number) =>
      new Promise((resolve) => {
        // The first pictures may be from before what the test has just done.
        let pictures = 0;
        const look = () => {
          const { frame, drawn, still } = document.body.dataset;
          if (++pictures > 2 && Number(drawn) >= number && drawn === frame && still === "true") resolve();
          else requestAnimationFrame(look);
        };
        requestAnimationFrame(look);
      }),
    number,
  );

/** The settings in the address, as the page itself sees it: the browser reports a change a little later. */
export const address = async (page) => new URLSearchParams(await page.evaluate(() => location.search));

/** Asks the server, or the engine in the page, from within the page: "about", "values" or "cell/5". */
export const ask = (page, path) =>
  page.evaluate(
    async ([path, site]) => {
      if (!site) return (await fetch(`/api/${path}`)).json();
      const [what, value] = path.split("/");
      const { source } = await import(new URL("alone.js", document.baseURI));
      return source[what](Number(value));
    },
    [path, site],
  );

/** Sends a command past the page's controls. Resolves when it was answered, even if it was refused. */
export const command = (page, order) =>
  page.evaluate(
    async ([order, site]) => {
      if (site) {
        const { source } = await import(new URL("alone.js", document.baseURI));
        return source.order(order).catch(() => {});
      }
      const headers = { "content-type": "application/json", "x-backsweep-token": document.querySelector('meta[name="backsweep-token"]').content };
      await fetch("/api/order", { method: "POST", headers, body: JSON.stringify(order) });
    },
    [order, site],
  );

/** A number below a maze, by its name; waits until it is there. */
export async function number(page, name, agent = 0) {
  const find = ([name, agent]) => {
    const found = [...document.querySelectorAll(`#numbers-${agent} div`)].find((box) => box.firstChild.textContent === name);
    return found?.lastChild.textContent;
  };
  const text = await (await page.waitForFunction(find, [name, agent])).jsonValue();
  return Number(text.replaceAll(",", "").replace("−", "-").replace(/M$/, "e6"));
}

/** The middle of a cell on the page. */
export async function place(page, cell, columns, agent = 0) {
  const box = await page.locator(`#maze-${agent}`).boundingBox();
  const side = box.width / columns;
  return { x: box.x + ((cell % columns) + 0.5) * side, y: box.y + (Math.floor(cell / columns) + 0.5) * side };
}

/** Chooses a brush: look, toggle, start or goal. */
export const choose = (page, brush) => page.locator(`label:has(input[value="${brush}"])`).click();

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What axe-core finds wrong with what is shown. The page's own rules forbid foreign scripts, so it is injected by the debugger. */
export async function violations(page) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html.slice(0, 120)} (${failureSummary.split("\n")[1]?.trim()})`).join("; ")}`);
}

/** The color of the canvas within a cell, at a part of its side from the upper left. */
export const color = (page, cell, columns, [right, down]) =>
  page.evaluate(
    ([cell, columns, right, down]) => {
      const canvas = document.getElementById("maze-0");
      const side = canvas.width / columns;
      const x = ((cell % columns) + right) * side;
      const y = (Math.floor(cell / columns) + down) * side;
      return [...canvas.getContext("2d").getImageData(Math.floor(x), Math.floor(y), 1, 1).data.slice(0, 3)];
    },
    [cell, columns, right, down],
  );

/** Waits until something holds, or fails. A page that is reloading when it is asked has no answer yet. */
export async function until(what, holds) {
  const end = Date.now() + PATIENCE;
  const isLoading = (error) => /Execution context was destroyed/.test(error.message);
  for (;;) {
    const found = await holds().catch((error) => {
      if (isLoading(error)) return false;
      throw error;
    });
    if (found) return;
    if (Date.now() > end) throw new Error(`waited ${PATIENCE / 1000} s for: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 60));
  }
}

/** A guard against hanging: longer than any other wait. */
export const LIMIT = { timeout: 300_000 };

/** Keeps a screenshot. */
export const shot = (page, name, options = {}) => page.screenshot({ path: join(output, `${name}.png`), ...options });

/** A phone. */
export const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 };

/** A browser for the tests of a file, and a function that defines a test with its own server and page, which must have had no problems at the end. */
export function withPages() {
  let browser;
  before(async () => {
    browser = await startBrowser();
  });
  after(async () => browser?.close());
  const test = (name, { settings = [], query = "", options = {}, expected = [], ofServer = false }, body) =>
    it(name, { ...LIMIT, skip: ofServer && site ? "needs a server" : false }, async () => {
      const server = await startServer(...settings);
      let opened;
      try {
        opened = await open(browser, server, query, options);
        await body(opened.page, server);
        assert.deepEqual(opened.problems.filter((line) => !expected.some((part) => line.includes(part))), []);
      } catch (error) {
        // Without a page there is no picture of it; the error is what counts.
        await opened?.page.screenshot({ path: join(output, `failed-${name.replaceAll(/[^a-z]+/g, "-")}.png`), timeout: 20_000 }).catch(() => {});
        throw error;
      } finally {
        await opened?.context.close();
        const { code } = await server.end();
        assert.equal(code, 0, "Ctrl-C ends the server cleanly");
      }
    });
  return { test, browser: () => browser };
}
