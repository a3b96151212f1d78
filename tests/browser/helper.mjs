// A real server and a real browser.

import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
/** Where screenshots are kept. */
export const output = join(root, "test-output", "browser");
mkdirSync(output, { recursive: true });
const command = (process.env.BACKSWEEP_WATCH ?? "").split(" ").filter(Boolean);
if (command.length === 0) throw new Error("BACKSWEEP_WATCH must hold the command to test; run scripts/test-browser");

/** Starts `backsweep watch` and resolves to its address. */
export async function startServer(...settings) {
  const child = spawn(command[0], [...command.slice(1), ...settings], { stdio: ["ignore", "pipe", "inherit"], cwd: root });
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
    async end() {
      child.kill("SIGINT");
      return ended;
    },
  };
}

/** The browser: as the machine has it, with nothing that goes out to the network. */
export function startBrowser() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
}

/** Opens a page that remembers every error, warning and foreign request. */
export async function open(browser, url, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 }, colorScheme: "dark", ...options });
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
  await page.waitForFunction(() => document.body.dataset.frame !== undefined);
  return { page, problems, context };
}

/** Asks the server from within the page. */
export const ask = (page, path) => page.evaluate(async (path) => (await fetch(path)).json(), path);

/** The text of a number below a maze, by its name. */
export const number = (page, name, agent = 0) =>
  page.evaluate(
    ([name, agent]) => {
      const found = [...document.querySelectorAll(`#numbers-${agent} div`)].find((box) => box.firstChild.textContent === name);
      return Number(found.lastChild.textContent.replaceAll(",", "").replace("−", "-").replace(/M$/, "e6"));
    },
    [name, agent],
  );

/** The middle of a cell on the page. */
export async function place(page, cell, columns, agent = 0) {
  const box = await page.locator(`#maze-${agent}`).boundingBox();
  const side = box.width / columns;
  return { x: box.x + ((cell % columns) + 0.5) * side, y: box.y + (Math.floor(cell / columns) + 0.5) * side };
}

/** The colour of the canvas within a cell, at a part of its side from the upper left. */
export const colour = (page, cell, columns, [right, down]) =>
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

/** Waits until something holds, or fails. */
export async function until(what, holds, seconds = 30) {
  const end = Date.now() + seconds * 1000;
  for (;;) {
    if (await holds()) return;
    if (Date.now() > end) throw new Error(`waited ${seconds} s for: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 60));
  }
}
