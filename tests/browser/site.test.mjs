// Tests the site in a real browser, from files: no page needs a server. ci/browser.sh runs this file:
//
//   SITE=FOLDER SITE_LARGE=FOLDER SITE_HOSTILE=FOLDER CHROMIUM=/usr/bin/chromium [SCREENSHOTS=FOLDER] \
//     node --test site.test.mjs

import assert from "node:assert/strict";
import { mkdirSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { accessible, launch, open as openPage } from "./browser.mjs";
import { SHOWN } from "./samples.mjs";

for (const name of ["SITE", "SITE_LARGE", "SITE_HOSTILE"]) {
  assert.ok(process.env[name], `${name} is a folder with a site`);
}
const address = (path, site = "SITE") => pathToFileURL(resolve(process.env[site], path)).href;

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());

const open = (path, options, test) => openPage(browser, address(path, options.site), options, test);
const overflow = (page) => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
const focused = (page) => page.evaluate(() => document.activeElement.textContent.trim());
const hash = (page) => page.evaluate(() => location.hash);

/** One page of each kind. */
const PAGES = [
  "index.html",
  "matrix.html",
  "findings.html",
  "compare.html",
  "search.html",
  "rows/V26.html",
  "rows/2.7.html",
  "rows/F08.html",
  "systems/linux.html",
  "systems/linux-6.18.44.html",
  "systems/freebsd-12.3.5.html",
  "pollers/epoll.html",
  "pollers/mio.html",
  "scenarios/migration/idle-takeover.html",
];

async function screenshot(page, name) {
  if (process.env.SCREENSHOTS) {
    mkdirSync(process.env.SCREENSHOTS, { recursive: true });
    await page.screenshot({ path: join(process.env.SCREENSHOTS, `site-${name}.png`) });
  }
}

for (const colorScheme of ["light", "dark"]) {
  test(`axe finds nothing on a page of each kind: ${colorScheme}`, async () => {
    for (const path of PAGES) {
      await open(path, { colorScheme, reducedMotion: "reduce" }, async (page) => {
        await screenshot(page, `${path.replaceAll("/", "-")}-${colorScheme}`);
        await accessible(page, path);
      });
    }
  });
}

test("axe finds nothing in results of a search and a comparison, nor on a phone", async () => {
  await open("search.html", { fragment: "#text=pipe" }, (page) => accessible(page, "search"));
  const sides = "#left=linux-6.18.44/poll&right=freebsd-12.3.5/poll";
  await open("compare.html", { fragment: sides }, (page) => accessible(page, "compare"));
  const phone = { viewport: { width: 360, height: 740 } };
  await open("rows/V26.html", phone, (page) => accessible(page, "a phone"));
});

test("on a phone no page is wider than the screen", async () => {
  for (const path of PAGES) {
    await open(path, { viewport: { width: 360, height: 740 } }, async (page) => {
      const wide = await overflow(page);
      assert.ok(wide <= 0, `${path}: ${wide} pixels too wide`);
      await screenshot(page, `${path.replaceAll("/", "-")}-phone`);
    });
  }
});

test("without scripts every page shows its content, and controls that need scripts are hidden", async () => {
  for (const path of PAGES) {
    await open(path, { javaScriptEnabled: false }, async (page) => {
      assert.ok((await page.innerText("main")).length > 60, path);
      assert.ok(await page.isVisible("h1"), path);
      assert.equal(await page.locator("form:visible, button:visible").count(), 0, path);
    });
  }
  await open("rows/V26.html", { javaScriptEnabled: false }, async (page) => {
    assert.match(await page.innerText("#main"), /own and peer are connected, watch own, peer closes/);
    assert.ok(await page.isVisible("table.answers"));
  });
  for (const path of ["search.html", "compare.html"]) {
    await open(path, { javaScriptEnabled: false }, async (page) => {
      assert.match(await page.innerText("main"), /needs JavaScript/);
    });
  }
});

test("a row has the answers of each system with their sources, and what pollers hide", async () => {
  await open("rows/V26.html", {}, async (page) => {
    const heads = await page.$$eval("table.answers thead", ([table]) =>
      [...table.querySelectorAll("th")].map((head) => head.textContent),
    );
    assert.match(heads[1], /FreeBSD 12\.3\.5|Linux 6\.1\.176/);
    const all = heads.join("; ");
    for (const system of ["Linux 6.1.192", "Linux 6.12.117", "Linux 6.18.44", "FreeBSD 12.3.5"]) {
      assert.ok(all.includes(system), all);
    }
    assert.match(await page.innerText("#sources ~ dl"), /M\d+ \(measured\)\s*measured/);
    const mio = page.locator("section:has(#pollers) tr", { hasText: "mio" }).first();
    assert.match(await mio.innerText(), /hides /);
  });
});

test("the keyboard alone leads from the front page to an answer, and back", async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  try {
    await page.goto(address("index.html"));
    await page.keyboard.press("Tab");
    assert.equal(await focused(page), "Skip to the content");
    const visible = await page.evaluate(() => document.activeElement.getBoundingClientRect().left >= 0);
    assert.ok(visible, "the focused skip link is on the screen");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    assert.equal(await focused(page), "The matrix");
    const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
    assert.equal(outline, "solid", "the focus is visible");
    await page.keyboard.press("Enter");
    await page.waitForURL(/matrix\.html$/);
    await page.focus("#search");
    await page.keyboard.type("V26");
    for (let count = 0; count < 40 && (await focused(page)) !== "V26"; count += 1) {
      await page.keyboard.press("Tab");
    }
    assert.equal(await focused(page), "V26");
    await page.keyboard.press("Enter");
    await page.waitForURL(/rows\/V26\.html$/);
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    assert.equal(await focused(page), "pollmatrix");
    await page.keyboard.press("Enter");
    await page.waitForURL(/index\.html$/);
  } finally {
    await context.close();
  }
});

test("the search finds rows by id, question, verb and answer, and keeps its address", async () => {
  await open("search.html", {}, async (page) => {
    const find = async (text) => {
      await page.fill("#search", text);
      return page.$$eval("#results a", (links) => links.map((link) => link.getAttribute("href")));
    };
    assert.equal((await find("v26"))[0], "rows/V26.html");
    assert.equal(await hash(page), "#text=v26");
    assert.ok((await find("low-water mark")).includes("rows/V16.html"));
    assert.ok((await find("MSG_OOB")).includes("rows/V15.html"));
    assert.equal((await find("FreeBSD 12.3.5"))[0], "systems/freebsd-12.3.5.html");
    assert.ok((await find("libkqueue")).includes("pollers/libkqueue.html"));
    assert.deepEqual(await find("no-such-text"), []);
    assert.equal(await page.textContent("#shown"), "0 found");
  });
  await open("search.html", { fragment: "#text=W13" }, async (page) => {
    assert.equal(await page.inputValue("#search"), "W13");
    assert.equal(await page.getAttribute("#results a", "href"), "rows/W13.html");
  });
});

test("two sides are compared question by question, under an address that stays", async () => {
  const fragment = "#left=linux-6.18.44/poll&right=freebsd-12.3.5/poll";
  await open("compare.html", { fragment }, async (page) => {
    assert.equal(await page.inputValue("#left"), "linux-6.18.44/poll");
    const [differing, common] = (await page.textContent("#shown")).match(/\d+/g).map(Number);
    assert.ok(differing > 10 && common > differing, `${differing} of ${common}`);
    const lines = () =>
      page.$$eval("#body tr", (rows) => rows.map((row) => [...row.children].map((field) => field.textContent)));
    const shown = await lines();
    assert.equal(shown.length, differing);
    assert.deepEqual(
      shown.find(([row, state, asked]) => row === "V26" && state === "pipe:read-end-never-data" && asked === "@level"),
      ["V26", "pipe:read-end-never-data", "@level", "HUP", "IN|HUP"],
    );
    await page.check("#all");
    assert.equal((await lines()).length, common);
    await page.selectOption("#right", "linux-6.18.44/poll");
    assert.equal(await hash(page), "#left=linux-6.18.44/poll&right=linux-6.18.44/poll");
    assert.match(await page.textContent("#shown"), /^0 of /);
  });
});

test("the matrix is filtered by text and by difference", async () => {
  await open("matrix.html", {}, async (page) => {
    const shown = () => page.$$eval(".entry:not([hidden]) th a", (links) => links.map((link) => link.textContent));
    const all = await shown();
    assert.ok(all.length > 200, `${all.length}`);
    await page.fill("#search", "V26");
    assert.deepEqual(await shown(), ["V26"]);
    await page.fill("#search", "");
    await page.check("#differing");
    const differing = await shown();
    assert.ok(differing.includes("V26") && differing.length < all.length, differing.join());
  });
});

test("an address of the earlier front page leads to the report", async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  try {
    await page.goto(`${address("index.html")}#status=fail`);
    await page.waitForURL(/report\.html#status=fail$/);
    await page.goto(`${address("index.html")}#findings`);
    assert.match(page.url(), /index\.html#findings$/);
  } finally {
    await context.close();
  }
});

test("the theme changes, and is remembered on another page", async () => {
  const context = await browser.newContext({ colorScheme: "dark" });
  const page = await context.newPage();
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  try {
    await page.goto(address("index.html"));
    const dark = await background();
    await page.click("#theme-button");
    const light = await background();
    assert.notEqual(light, dark);
    await page.goto(address("rows/V26.html"));
    assert.equal(await background(), light);
  } finally {
    await context.close();
  }
});

test("hostile results neither run nor load anything, and are shown as they are", async () => {
  const site = "SITE_HOSTILE";
  const folder = process.env[site];
  const pages = readdirSync(folder, { recursive: true }).filter((path) => path.endsWith(".html"));
  const own = pages.filter((path) => /^(scenarios\/group|pollers\/b)/.test(path));
  assert.ok(own.length >= 2, own.join());
  let seen = 0;
  for (const path of [...own, "index.html", "matrix.html", "search.html", "compare.html"]) {
    await open(path, { site }, async (page) => {
      assert.equal(await page.evaluate(() => globalThis.broken), undefined, path);
      assert.equal(await page.locator("img").count(), 0, path);
      seen += (await page.innerText("body")).includes(SHOWN) ? 1 : 0;
    });
  }
  assert.ok(seen >= 3, `${seen}`);
});

test("pages about 20,000 cells have them, and load", async (context) => {
  for (const path of ["index.html", "matrix.html", "search.html", "compare.html", "scenarios/group-0/scenario-0.html"]) {
    await open(path, { site: "SITE_LARGE" }, async (page) => {
      const time = await page.evaluate(() => performance.getEntriesByType("navigation")[0].loadEventEnd);
      context.diagnostic(`${path}: loaded after ${Math.round(time)} ms`);
      if (path === "matrix.html") {
        const counts = await page.$$eval("section, main", ([main]) =>
          [...main.querySelectorAll("h2#contract + div .tally")].map((tally) => Number(tally.lastChild.textContent)),
        );
        assert.equal(counts.reduce((sum, count) => sum + count, 0), 20_000);
      }
      await screenshot(page, `large-${path.replaceAll("/", "-")}`);
    });
  }
});
