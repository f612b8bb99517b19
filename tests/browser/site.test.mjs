// Tests the pages of `pollmatrix site` in a real browser. ci/report.sh browser runs this file:
//
//   SITE=FOLDER CHROMIUM=/usr/bin/chromium [SCREENSHOTS=FOLDER] node --test site.test.mjs

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { accessible, eventually, launch, open as openPage } from "./browser.mjs";

assert.ok(process.env.SITE, "SITE is the folder of the site");
const root = resolve(process.env.SITE);
const address = (path) => pathToFileURL(join(root, path)).href;
const PHONE = { viewport: { width: 360, height: 740 } };

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());

const open = (path, options, test) => openPage(browser, address(path), { within: address(""), ...options }, test);
const pathOf = (page) => page.url().slice(address("").length).replace(/^\//, "");

async function screenshot(page, name) {
  if (process.env.SCREENSHOTS) {
    mkdirSync(process.env.SCREENSHOTS, { recursive: true });
    await page.screenshot({ path: join(process.env.SCREENSHOTS, `${name}.png`) });
  }
}

/** One page of each kind. */
const KINDS = [
  "index.html",
  "behaviours/V26.html",
  "systems/linux.html",
  "systems/freebsd.html",
  "pollers/mio.html",
  "scenarios/migration/idle-takeover.html",
  "compare.html",
  "search.html",
  "findings.html",
  "costs.html",
  "peers.html",
  "assumptions.html",
];

for (const path of KINDS) {
  test(`${path} is accessible in both themes, and fits a phone`, async () => {
    for (const colorScheme of ["light", "dark"]) {
      await open(path, { colorScheme }, async (page) => {
        await accessible(page, `${path}, ${colorScheme}`);
        await screenshot(page, `site-${path.replace("/", "-")}-${colorScheme}`);
      });
    }
    await open(path, PHONE, async (page) => {
      const [content, screen] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
      assert.ok(content <= screen, `${path} is ${content} pixels wide on a screen of ${screen}`);
      await accessible(page, `${path} on a phone`);
      await screenshot(page, `site-${path.replace("/", "-")}-phone`);
    });
  });
}

test("every page names itself for previews and has one heading of the first level", async () => {
  for (const path of KINDS) {
    await open(path, {}, async (page) => {
      const property = (name) => page.getAttribute(`meta[property="og:${name}"]`, "content");
      assert.ok((await property("title")).length > 3, path);
      assert.ok((await property("description")).length > 10, path);
      assert.equal(await property("url"), `https://example.org/pollmatrix/${path}`);
      assert.equal(await page.locator("h1").count(), 1, path);
    });
  }
});

test("the pages are read without JavaScript", async () => {
  await open("behaviours/V26.html", { javaScriptEnabled: false }, async (page) => {
    assert.ok((await page.textContent("table.answers")).includes("poll@level"));
    await page.click("nav a.home");
    assert.equal(await page.textContent("h2#systems"), "Systems");
    await page.click("text=Search");
    assert.ok((await page.textContent("noscript")).includes("JavaScript"));
  });
});

test("a reader gets from the front page to a system, a behaviour and a poller by the keyboard alone", async () => {
  await open("index.html", {}, async (page) => {
    /** Presses the tabulator until the focus is on a link with this text, or with it before a colon. */
    const reach = async (text) => {
      for (let presses = 0; presses < 400; presses++) {
        await page.keyboard.press("Tab");
        const focused = await page.evaluate(() => document.activeElement.textContent.trim());
        if (focused === text || focused.startsWith(`${text}: `)) {
          return;
        }
      }
      assert.fail(`no link '${text}' is reached`);
    };
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "Skip to the content");
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate(() => document.activeElement.id), "content");
    await reach("FreeBSD");
    await page.keyboard.press("Enter");
    await eventually(async () => assert.equal(pathOf(page), "systems/freebsd.html"));
    await reach("V26");
    const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
    assert.notEqual(outline, "none", "the focus is visible");
    await page.keyboard.press("Enter");
    await eventually(async () => assert.equal(pathOf(page), "behaviours/V26.html"));
    await reach("mio");
    await page.keyboard.press("Enter");
    await eventually(async () => assert.equal(pathOf(page), "pollers/mio.html"));
  });
});

test("the search finds behaviours by flags of scripts, and its address keeps the text", async () => {
  await open("search.html", {}, async (page) => {
    assert.equal(await page.evaluate(() => document.activeElement.id), "search");
    const all = Number.parseInt(await page.textContent("#shown"));
    assert.ok(all > 140, `${all}`);
    await page.keyboard.type("shuts writing epoll");
    const found = Number.parseInt(await page.textContent("#shown"));
    assert.ok(found > 0 && found < all, `${found}`);
    assert.equal(await page.locator("#found li").count(), Math.min(found, 200));
    assert.equal(await page.evaluate(() => location.hash), "#text=shuts%20writing%20epoll");
    await page.fill("#search", "xyzzy plugh");
    assert.match(await page.textContent("#shown"), /^0 of \d+ entries$/);
    await page.fill("#search", "V26");
    assert.ok((await page.textContent("#found li")).startsWith("V26: "));
    await page.click("#found a");
    await eventually(async () => assert.equal(pathOf(page), "behaviours/V26.html"));
  });
  await open("search.html", { fragment: "#text=FreeBSD" }, async (page) => {
    assert.equal(await page.inputValue("#search"), "FreeBSD");
    assert.ok((await page.textContent("#found")).includes("FreeBSD (system)"));
  });
});

/** What a reader types, and the behaviour that must be among the first hits. */
const QUERIES = {
  EPOLLRDHUP: "V06",
  EV_EOF: "V26",
  ECONNREFUSED: "V14",
  "half close": "V06",
  "half-close": "V07",
  EPOLLHUP: "V26",
  POLLHUP: "V26",
  SHUT_WR: "V06",
  RST: "V11",
  ECONNRESET: "V11",
  EPOLLPRI: "V15",
  MSG_OOB: "V15",
  "out of band": "V15",
  "refused connect": "V14",
  EINPROGRESS: "C01",
  SO_ERROR: "C04",
  EPOLLET: "E01",
  EV_CLEAR: "E01",
  EPOLLONESHOT: "E10",
  "one shot": "E10",
  EPOLLEXCLUSIVE: "C10",
  "thundering herd": "C06",
  "spurious wakeup": "W10",
  "busy loop": "A20",
  EEXIST: "A01",
  EPOLL_CTL_DEL: "A03",
  EBADF: "A20",
  "stale event": "A08",
  "reused number": "A07",
  dup: "A02",
  fork: "A17",
  "nested epoll": "A23",
  ELOOP: "A23",
  "regular file": "F01",
  EPERM: "F01",
  timerfd: "F10",
  pidfd: "F11",
  SO_REUSEPORT: "C14",
  EMFILE: "C12",
  eventfd: "E05",
  pty: "V31",
  EINTR: "T06",
  FD_SETSIZE: "T10",
  "negative timeout": "T04",
  "broken pipe": "V27",
  ENOBUFS: "F07",
};

test("the search answers what readers type", async () => {
  await open("search.html", {}, async (page) => {
    const missed = [];
    for (const [query, behaviour] of Object.entries(QUERIES)) {
      await page.fill("#search", query);
      const shown = await page.textContent("#shown");
      const hits = await page.locator("#found li").allTextContents();
      const place = hits.findIndex((hit) => hit.startsWith(`${behaviour}: `));
      if (place === -1 || place >= 25 || shown.startsWith("0 of ")) {
        missed.push(`${query}: ${behaviour} is at ${place} of ${hits.length} (${shown})`);
      }
    }
    assert.deepEqual(missed, []);
    await page.fill("#search", "half close zeppelin");
    assert.match(await page.textContent("#shown"), /^0 of \d+ entries; \d+ have 2 of the 3 words$/);
  });
});

test("any two of systems and pollers are compared, and an address with another name says so", async () => {
  await open("compare.html", { fragment: "#linux..freebsd" }, async (page) => {
    const shown = () => page.textContent("#shown");
    assert.equal(await page.textContent("#first-name"), "Linux");
    assert.equal(await page.textContent("#second-name"), "FreeBSD");
    const [differ, of] = (await shown()).match(/\d+/g).map(Number);
    assert.ok(differ > 0 && differ < of, await shown());
    assert.equal(await page.locator("#differences tbody tr:not(.state)").count(), differ);
    await page.check("#all");
    assert.equal(await page.locator("#differences tbody tr:not(.state)").count(), of);
    await accessible(page, "a comparison");
    await page.selectOption("#second", "mio-linux");
    assert.match(await shown(), /^\d+ of \d+ answers differ$/);
    await page.selectOption("#first", "polling-linux");
    assert.match(await shown(), /^\d+ of \d+ answers differ$/);
    assert.equal(await page.evaluate(() => location.hash), "#polling-linux..mio-linux");
    await page.selectOption("#first", "mio-linux");
    assert.equal(await shown(), "Choose another one beside it.");
  });
  await open("compare.html", { fragment: "#linux..netbds" }, async (page) => {
    assert.equal(await page.textContent("#shown"), "Nothing here is called netbds. Choose above.");
    assert.ok(await page.isHidden("#differences"));
  });
});

test("the badges are pictures and endpoints that agree", async () => {
  const badges = readdirSync(join(root, "badges"));
  assert.ok(badges.includes("mio.svg") && badges.includes("mio.json"), badges.join());
  for (const json of badges.filter((name) => name.endsWith(".json"))) {
    const endpoint = JSON.parse(readFileSync(join(root, "badges", json), "utf8"));
    assert.equal(endpoint.schemaVersion, 1);
    const picture = readFileSync(join(root, "badges", json.replace(".json", ".svg")), "utf8");
    assert.ok(picture.includes(`<title>${endpoint.label}: ${endpoint.message}</title>`), json);
  }
  await open("badges/mio.svg", {}, async (page) => {
    const [picture, texts] = await page.evaluate(() => [
      document.documentElement.getBoundingClientRect().width,
      [...document.querySelectorAll("text")].map((text) => text.getBoundingClientRect().right),
    ]);
    assert.equal(texts.length, 2);
    assert.ok(texts.every((right) => right <= picture), `${texts} in ${picture}`);
  });
});
