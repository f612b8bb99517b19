// Tests catalogue.html in a real browser. ci/browser.sh runs this file:
//
//   CATALOGUE=site/catalogue.html CHROMIUM=/usr/bin/chromium [SCREENSHOTS=FOLDER] \
//     node --test catalogue.test.mjs

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { accessible, launch, open as openPage } from "./browser.mjs";

assert.ok(process.env.CATALOGUE, "CATALOGUE is the path of the page");
const address = pathToFileURL(resolve(process.env.CATALOGUE)).href;

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());

const open = (options, test) => openPage(browser, address, options, test);
const shown = (page) => page.textContent("#shown");
const ids = (page, which) => page.$$eval(`.row${which}`, (rows) => rows.map(({ id }) => id));
const visible = (page) => ids(page, ":not([hidden])");
const hash = (page) => page.evaluate(() => location.hash);
/** Returns the texts of one row of a behaviour's table: the question, then the answers. */
const tableRow = (page, behaviour, state, question) =>
  page.$$eval(
    `#${behaviour} tbody`,
    (states, [state, question]) => {
      const found = states.find((body) => body.querySelector(".state").textContent === state);
      const rows = [...found.querySelectorAll("tr:not(.state)")];
      const texts = rows.map((row) => [...row.children].map((field) => field.textContent.trim()));
      return texts.find(([name]) => name.split(" ")[0] === question);
    },
    [state, question],
  );

async function screenshot(page, name) {
  if (process.env.SCREENSHOTS) {
    mkdirSync(process.env.SCREENSHOTS, { recursive: true });
    await page.screenshot({ path: join(process.env.SCREENSHOTS, `${name}.png`) });
  }
}

test("every behaviour is listed, folded, and opens with its scenarios and its answers", async () => {
  await open({}, async (page) => {
    const all = await visible(page);
    assert.equal(await shown(page), `${all.length} of ${all.length} behaviours`);
    assert.ok(all.length > 130 && all.includes("X13"), `${all.length}`);
    assert.deepEqual(await ids(page, "[open]"), []);
    await page.click("#V26 summary");
    assert.equal(await hash(page), "#V26");
    const commands = await page.$$eval("#V26 .command pre", (all) => all.map((command) => command.textContent));
    assert.ok(
      commands.includes(
        "pollmatrix probe 'own and peer are connected, watch own, peer closes, look at own as read-end-never-data' --transport pipe",
      ),
      commands.join("\n"),
    );
    const [, linux, freebsd] = await tableRow(page, "V26", "pipe:read-end-never-data", "poll@level");
    assert.match(linux, /^HUP M\d+$/);
    assert.match(freebsd, /^IN\|HUP M\d+$/);
    assert.match(await page.textContent("#V26 .sources"), /M\d+ \(measured\)measured on Linux [\d.]+/);
    assert.match(await page.textContent("#F08"), /No scenario observes it: needs a device that can only be polled\./);
  });
});

test("the columns of past systems follow those of current ones", async () => {
  await open({ fragment: "#2.7" }, async (page) => {
    assert.deepEqual(await ids(page, "[open]"), ["2.7"]);
    const heads = await page.$$eval("[id='2.7'] thead th", (heads) => heads.map((head) => head.textContent));
    assert.deepEqual(heads, ["question", "Linux", "FreeBSD", "macOS", "FreeBSD 4", "FreeBSD 7", "Linux 2.6.10"]);
    const answers = await tableRow(page, "\\32\\.7", "unix:state-6a-drained", "poll-IN@level");
    assert.deepEqual(
      answers.slice(1).map((answer) => answer.split(" ")[0]),
      ["IN|HUP", "IN|HUP", "", "IN", "IN", "IN|HUP"],
    );
    await screenshot(page, "catalogue-past");
  });
});

test("a search shows the behaviours that contain all words, in ids, questions, verbs and answers", async () => {
  await open({}, async (page) => {
    const find = async (text) => {
      await page.fill("#search", text);
      return visible(page);
    };
    const all = await visible(page);
    assert.deepEqual(await find("v26"), ["V26"]);
    assert.match(await hash(page), /^#text=v26$/);
    assert.deepEqual(await find("woken by the old file"), ["A15"]);
    const verbs = await find("shuts write");
    assert.ok(verbs.includes("V06") && !verbs.includes("V26"), verbs.join());
    // An answer that only one family has, and both names of the queue.
    const urgent = await find("PRI MSG_OOB");
    assert.ok(urgent.includes("V15") && urgent.length < 10, urgent.join());
    assert.deepEqual(await find("kqueue-add-before@level 2.6.10"), ["2.7"]);
    assert.deepEqual(await find("no-such-text"), []);
    assert.equal(await shown(page), `0 of ${all.length} behaviours`);
    await page.click("#clear");
    assert.deepEqual(await visible(page), all);
    assert.equal(await hash(page), "");
  });
  await open({ fragment: "#text=NOTE_LOWAT10" }, async (page) => {
    assert.equal(await page.inputValue("#search"), "NOTE_LOWAT10");
    assert.deepEqual(await visible(page), ["V16"]);
  });
});

test("the filter for differences hides behaviours and answers without one", async () => {
  await open({}, async (page) => {
    const all = await visible(page);
    await page.check("#differing");
    const left = await visible(page);
    assert.ok(left.length > 0 && left.length < all.length, `${left.length}`);
    await page.click("#V26 summary");
    const rows = page.locator("#V26 tbody tr:not(.state)");
    const seen = await rows.evaluateAll((rows) =>
      rows.filter((row) => row.checkVisibility()).map((row) => row.className),
    );
    assert.ok(seen.length > 0 && seen.every((name) => name === "differs"), seen.join());
    assert.ok((await rows.count()) > seen.length);
  });
});

test("all behaviours can be unfolded and folded, and a command copied", async () => {
  await open({ permissions: ["clipboard-read", "clipboard-write"] }, async (page) => {
    await page.fill("#search", "V2");
    await page.click("#unfold");
    assert.deepEqual(await ids(page, "[open]"), await visible(page));
    await page.click("#fold");
    assert.deepEqual(await ids(page, "[open]"), []);
    await page.click("#V26 summary");
    await page.click("#V26 .command button");
    await page.waitForSelector("#V26 .command button:text-is('Copied')");
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    assert.equal(copied, await page.textContent("#V26 .command pre"));
  });
});

test("a behaviour opens from the keyboard", async () => {
  await open({}, async (page) => {
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    assert.deepEqual(await ids(page, "[open]"), ["V01"]);
  });
});

test("without scripts the behaviours open, and controls that need scripts are hidden", async () => {
  await open({ javaScriptEnabled: false }, async (page) => {
    await page.click("#V26 summary");
    assert.ok(await page.isVisible("#V26 .answers"));
    assert.ok(!(await page.isVisible("#filters")) && !(await page.isVisible("#theme-button")));
    assert.match(await page.innerText("header"), /Searching needs JavaScript/);
  });
});

test("on a phone only scrolling regions are wider than the screen", async () => {
  await open({ viewport: { width: 360, height: 740 }, fragment: "#2.7" }, async (page) => {
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wide <= 0, `${wide} pixels too wide`);
    await screenshot(page, "catalogue-phone");
  });
});

for (const scheme of ["light", "dark"]) {
  test(`axe finds nothing: ${scheme}`, async () => {
    await open({ colorScheme: scheme, reducedMotion: "reduce" }, async (page) => {
      await page.fill("#search", "pipe's read end");
      await page.click("#unfold");
      await screenshot(page, `catalogue-${scheme}`);
      await accessible(page, "found and open");
    });
  });
}

test("the theme changes, and is remembered", async () => {
  await open({ colorScheme: "dark" }, async (page) => {
    const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const dark = await background();
    await page.click("#theme-button");
    assert.notEqual(await background(), dark);
    const light = await background();
    await page.reload();
    assert.equal(await background(), light);
  });
});
