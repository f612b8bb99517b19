// The browser for the tests of pages.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Starts a Chromium with a new profile, which makes no requests by itself. */
export const launch = () =>
  chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });

/** Waits until the script of the page has unpacked its data, if it has any, and has run. */
export const unpacked = (page) => page.waitForFunction(() => document.getElementById("data") === null);

/**
 * Opens a page and runs `test` on it. Fails if the page makes a request, has an error or writes to the
 * console. Pages whose address begins with `within` may be opened by its links.
 */
export async function open(browser, address, { fragment = "", within = null, ...options }, test) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  const violations = [];
  page.on("console", (message) => violations.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => violations.push(`error: ${error.stack}`));
  page.on("dialog", (dialog) => violations.push(`dialog: ${dialog.message()}`) && dialog.dismiss());
  context.on("page", () => violations.push("another page was opened"));
  page.on("request", (request) => {
    const url = request.url().split("#")[0];
    const isPage = within !== null && request.isNavigationRequest() && url.startsWith(within);
    if (url !== address && !isPage && !url.startsWith("data:")) {
      violations.push(`request: ${url}`);
    }
  });
  await page.goto(address + fragment);
  if (options.javaScriptEnabled !== false) {
    await unpacked(page);
  }
  try {
    await test(page);
    assert.deepEqual(violations, []);
  } finally {
    await context.close();
  }
}

/**
 * Repeats an assertion until it holds, because close and scroll events arrive after the calls have returned.
 */
export async function eventually(assertion) {
  for (const end = Date.now() + 20_000; ; await new Promise((wait) => setTimeout(wait, 20))) {
    try {
      return await assertion();
    } catch (error) {
      if (!(error instanceof assert.AssertionError) || Date.now() > end) {
        throw error;
      }
    }
  }
}

/** Asserts that axe, a checker of accessibility rules, finds no violation. */
export async function accessible(page, where) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() =>
    axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }),
  );
  const found = violations.map(
    ({ id, nodes }) =>
      `${id}: ${nodes
        .slice(0, 3)
        .map((node) => `${node.html} ${node.failureSummary}`)
        .join("; ")}`,
  );
  assert.deepEqual(found, [], where);
}
