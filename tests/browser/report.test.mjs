// Tests report.html in a real browser. ci/report.sh browser runs this file:
//
//   REPORTS=FOLDER CHROMIUM=/usr/bin/chromium [SCREENSHOTS=FOLDER] node --test report.test.mjs
//
// REPORTS is the folder that samples.mjs wrote. The expected content comes from the results.json beside each
// report.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { accessible, eventually, launch, open as openPage } from "./browser.mjs";
import { HOSTILE, SHOWN } from "./samples.mjs";

const reports = process.env.REPORTS;
const screenshots = process.env.SCREENSHOTS;
assert.ok(reports, "REPORTS is the folder of the reports");

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());

const results = (name) => JSON.parse(readFileSync(join(reports, name, "results.json"), "utf8"));

/** Opens a report and runs `test` on it. */
const open = (name, options, test) =>
  openPage(browser, pathToFileURL(resolve(reports, name, "report.html")).href, options, test);

async function screenshot(page, name) {
  if (screenshots) {
    mkdirSync(screenshots, { recursive: true });
    const fullPage = await page.$eval("#panel", (panel) => !panel.open);
    await page.screenshot({ path: join(screenshots, `${name}.png`), fullPage });
  }
}

/**
 * Reads the fragment in the page, because the browser reports changes of the address to the test with a
 * delay.
 */
const hash = (page) => page.evaluate(() => location.hash);
const shown = (page) => page.textContent("#shown");
/** Returns the shown rows of cells as `variant letters`. */
const rowsShown = (page) =>
  page.$$eval("#lines > tr.row", (rows) =>
    rows.map((row) =>
      [...row.children]
        .map((child) => child.textContent)
        .join(" ")
        .trim(),
    ),
  );
const linesShown = (page) =>
  page.$$eval("#lines > tr > th", (headings) => headings.map((heading) => heading.textContent));
const press = (page, facet, value) => page.click(`.chip[data-facet="${facet}"][data-value="${value}"]`);
const clear = (page) => page.click("#clear");

/** Returns the number of cells that satisfy `predicate`. */
const count = (predicate) => results("mixed").cells.filter((cell) => predicate(cell)).length;
/** Returns whether the backend of a cell exists on its system. */
const exists = (cell) => !(cell.backend === "kqueue" && cell.target.includes("linux"));

test("all cells are shown, with the tallies of the other reports", async () => {
  await open("mixed", {}, async (page) => {
    assert.equal(
      await shown(page),
      `${count(exists)} of ${count(() => true)} cells shown (1 column of absent backends hidden)`,
    );
    const heads = await page.$$eval("#grid thead th", (heads) => heads.map((head) => head.textContent));
    assert.deepEqual(heads.slice(0, 4), ["Scenario", "x86_64-freebsd", "x86_64-linux-gnu", "x86_64-openbsd"]);
    assert.deepEqual(heads.slice(-7), ["kqueue", "poll", "select", "epoll", "poll", "select", "not run"]);
    const tallies = await page.$$eval("#lines > tr.scenario", (rows) =>
      rows.map((row) => [...row.querySelectorAll("td.tallies")].map((cell) => cell.textContent)),
    );
    assert.deepEqual(tallies[0], ["P4", "P4", "P4", "P4", "P4", "P1 L1 B1 T1", "·"]);
    assert.deepEqual(tallies[1], ["P4", "P4", "P4", "P4 F1", "P3 K1", "P4", "·"]);
    const cut = await page.$$eval(
      "#lines td.tallies",
      (cells) => cells.filter((cell) => cell.scrollWidth > cell.clientWidth).length,
    );
    assert.equal(cut, 0, "no tally is cut off");
    assert.match(await page.textContent("main"), /x86_64-openbsd.*built, not run: no such machine/s);
    await page.click("#absent");
    assert.equal(await shown(page), `${count(() => true)} of ${count(() => true)} cells shown`);
  });
});

test("the verdicts count the contract layer only", async () => {
  await open("mixed", {}, async (page) => {
    const cards = await page.$$eval(".card", (cards) =>
      cards.map((card) => `${card.querySelector("h3").textContent}: ${card.querySelector(".verdict").textContent}`),
    );
    assert.deepEqual(cards, [
      "epoll: 1 of 9 contract cells do not hold",
      "kqueue: all 8 contract cells hold",
      "poll: all 16 contract cells hold, 1 of them as documented",
      "select: 2 of 16 contract cells do not hold",
    ]);
  });
});

test("each filter shows the matching cells, and their number", async () => {
  const total = count(() => true);
  await open("mixed", {}, async (page) => {
    const filters = [
      ["status", "fail", (cell) => cell.status === "fail"],
      ["status", "unsupported", (cell) => cell.status === "unsupported"],
      ["backend", "select", (cell) => cell.backend === "select"],
      ["backend", "kqueue", (cell) => cell.backend === "kqueue"],
      ["os", "freebsd", (cell) => cell.target === "x86_64-freebsd"],
      ["target", "x86_64-freebsd", (cell) => cell.target === "x86_64-freebsd"],
      ["layer", "characterisation", (cell) => cell.layer === "characterisation" && exists(cell)],
    ];
    for (const [facet, value, matches] of filters) {
      await press(page, facet, value);
      assert.match(await shown(page), new RegExp(`^${count(matches)} of ${total} cells shown`), value);
      assert.equal(await page.getAttribute(`.chip[data-value="${value}"]`, "aria-pressed"), "true");
      await press(page, facet, value);
      assert.match(await shown(page), new RegExp(`^${count(exists)} of`));
    }
    await press(page, "status", "fail");
    assert.deepEqual(await rowsShown(page), ["tcp-level-2t1g P P P F P P ·"], "the other cells of the row stay");
    assert.equal(await page.$$eval("#lines .cell:not(.unasked)", (cells) => cells.length), 1);
    await clear(page);
    for (const [text, matches] of [
      ["takeover 4t2g", (cell) => cell.id.includes("idle-takeover/tcp-level-4t2g")],
      ["V26 linux", (cell) => cell.layer === "characterisation" && cell.target.includes("linux")],
      ["WHY IT IS TIMEOUT", (cell) => cell.status === "timeout"],
      ["deletion/own-handler/unix-level-2t1g@poll", (cell) => cell.id === "deletion/own-handler/unix-level-2t1g@poll"],
    ]) {
      await page.fill("#search", text);
      assert.match(
        await shown(page),
        new RegExp(`^${count((cell) => matches(cell) && exists(cell))} of ${total} cells`),
        text,
      );
    }
    await page.fill("#search", "no such text");
    assert.match(await shown(page), /^0 of/);
    assert.deepEqual(await linesShown(page), []);
  });
});

test("the address contains the filters, and restores them", async () => {
  let fragment;
  await open("mixed", {}, async (page) => {
    await press(page, "backend", "poll");
    await press(page, "status", "known-fail");
    await page.fill("#search", "idle take");
    fragment = await hash(page);
  });
  assert.equal(fragment, "#status=known-fail&backend=poll&text=idle%20take");
  await open("mixed", { fragment }, async (page) => {
    assert.match(await shown(page), /^1 of/);
    assert.equal(await page.inputValue("#search"), "idle take");
    assert.equal(await page.getAttribute('.chip[data-value="poll"]', "aria-pressed"), "true");
    // Typed into the address by hand.
    await page.evaluate(() => (location.hash = "#backend=select,nosuch"));
    await eventually(async () => assert.match(await shown(page), /^18 of/));
    await clear(page);
    assert.equal(await hash(page), "");
  });
});

test("groups and scenarios fold", async () => {
  await open("mixed", {}, async (page) => {
    const all = await linesShown(page);
    await page.click("#lines .fold >> text=idle-takeover");
    assert.equal((await linesShown(page)).length, all.length - 5);
    await page.click("#lines .fold >> text=deletion");
    assert.deepEqual((await linesShown(page)).slice(0, 3), ["deletion 1", "migration 1", "idle-takeover 5"]);
    assert.equal(await page.getAttribute("#lines .fold >> nth=0", "aria-expanded"), "false");
    await page.click("#fold");
    assert.deepEqual(await linesShown(page), ["deletion 1", "migration 1", "raw 1"]);
    await page.click("#unfold");
    assert.deepEqual(await linesShown(page), all);
  });
});

test("a comparison of two columns shows only rows that differ, and their difference", async () => {
  const choose = async (page, one, other) => {
    await page.selectOption("#compare-a", { label: one });
    await page.selectOption("#compare-b", { label: other });
  };
  await open("mixed", {}, async (page) => {
    await choose(page, "epoll on x86_64-linux-gnu", "poll on x86_64-linux-gnu");
    assert.equal(
      await shown(page),
      "3 of 9 rows differ between epoll on x86_64-linux-gnu and poll on x86_64-linux-gnu; 1 row in one of them only",
    );
    assert.deepEqual(await rowsShown(page), [
      "tcp-level-2t1g F P status: fail ≠ pass",
      "tcp-level-4t2g P K status: pass ≠ known failure",
      "pipe-level-1t1g P P the first wait: IN|HUP ≠ HUP",
    ]);
    assert.equal(await page.$$eval("#lines .differs", (cells) => cells.length), 6);
    await screenshot(page, "compared");
    await page.selectOption("#compare-in", "status");
    assert.match(await shown(page), /^2 of 9 rows differ/);
    await page.selectOption("#compare-in", "observed");
    assert.equal((await rowsShown(page))[0], "tcp-level-4t2g P P iterations of the loop: 108 ≠ 117");
    assert.match(await shown(page), /^4 of 9 rows differ/);
    await choose(page, "poll on x86_64-freebsd", "poll on x86_64-linux-gnu");
    await page.selectOption("#compare-in", "answers");
    assert.match(await shown(page), /^2 of 9 rows differ/);
    const fragment = await hash(page);
    assert.equal(fragment, "#one=poll@x86_64-freebsd&other=poll@x86_64-linux-gnu");
    await clear(page);
    assert.match(await shown(page), /cells shown/);
  });
});

/** Asserts that the panel shows every field of a cell in results.json. */
async function assertPanel(page, cell) {
  assert.equal(await page.textContent("#panel-heading"), cell.id);
  const text = await page.textContent("#panel");
  for (const part of [
    cell.reason ?? "",
    cell.target,
    cell.reproducer,
    cell.layer,
    cell.stderr ?? "",
    ...(cell.status === "pass" ? [] : cell.notes),
    ...Object.keys(cell.counters),
  ]) {
    assert.ok(text.includes(part), `${part} is not in ${text}`);
  }
  const rows = await page.$$eval("#panel .checks tbody tr", (rows) =>
    rows.map((row) => ({
      expected: [...row.querySelectorAll(".allowed li")].map((answer) => answer.textContent),
      observed: row.querySelector(".observed").textContent,
      source: row.querySelector(".source").textContent,
      holds: row.querySelector(".mark .unseen").textContent === "holds",
    })),
  );
  assert.deepEqual(
    rows.map(({ expected, observed, holds }) => ({ expected, observed, holds })),
    cell.checks.map(({ expected, observed, holds }) => ({ expected, observed, holds })),
  );
  rows.forEach(({ source }, index) => {
    const { source: own, since, until, url } = cell.checks[index];
    for (const part of [own, since && `since ${since}`, until && `until ${until}`, url].filter(Boolean)) {
      assert.ok(source.includes(part), `${part} is not in ${source}`);
    }
  });
}

const cellOf = (id, target) => results("mixed").cells.find((cell) => cell.id === id && cell.target === target);
const FAILED = "migration/idle-takeover/tcp-level-2t1g@epoll";
const KNOWN = "migration/idle-takeover/tcp-level-4t2g@poll";

test("the mouse opens and closes a cell, which shows its fields in results.json", async () => {
  await open("mixed", {}, async (page) => {
    await page.click(`#lines .cell[aria-label="F fail: ${FAILED} on x86_64-linux-gnu"]`);
    await assertPanel(page, cellOf(FAILED, "x86_64-linux-gnu"));
    const links = await page.$$eval("#panel a", (links) => links.map((link) => [link.href, link.rel]));
    assert.ok(
      links.every(([href, rel]) => /^https?:/.test(href) && rel === "noopener noreferrer"),
      `${links}`,
    );
    // The full stop at the end of the sentence is not part of the link.
    assert.ok(
      links.some(([href]) => href === "https://example.org/bugs/7"),
      `${links}`,
    );
    await screenshot(page, "cell-light");
    assert.equal(await hash(page), `#cell=${FAILED}&on=x86_64-linux-gnu`);
    await page.click("#panel .elsewhere button >> text=kqueue on x86_64-freebsd");
    assert.equal(await page.textContent("#panel-heading"), FAILED.replace("epoll", "kqueue"));
    // A click beside the panel.
    await page.mouse.click(20, 400);
    assert.equal(await page.isVisible("#panel"), false);
    await eventually(async () => assert.equal(await hash(page), ""));
  });
});

test("keys alone select, open, step through and close cells", async () => {
  await open("mixed", {}, async (page) => {
    const label = () =>
      page.evaluate(() => document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent);
    await page.keyboard.press("/");
    assert.equal(await page.evaluate(() => document.activeElement.id), "search");
    await page.keyboard.type("idle-takeover tcp");
    await page.focus("#fold");
    await page.keyboard.press("Tab");
    assert.equal(await label(), "migration 1", "the grid is one tab stop");
    for (const key of ["ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight", "ArrowRight", "ArrowRight"]) {
      await page.keyboard.press(key);
    }
    assert.equal(await label(), `F fail: ${FAILED} on x86_64-linux-gnu`);
    assert.equal(await page.$$eval('#lines [tabindex="0"]', (stops) => stops.length), 1);
    await page.keyboard.press("Enter");
    await assertPanel(page, cellOf(FAILED, "x86_64-linux-gnu"));
    assert.equal(await page.evaluate(() => document.activeElement.id), "panel-heading");
    await page.keyboard.press("j");
    assert.equal(await page.textContent("#panel-heading"), FAILED.replace("epoll", "poll"));
    await page.keyboard.press("k");
    await page.keyboard.press("k");
    assert.equal(await page.textContent("#panel-heading"), FAILED.replace("epoll", "select"));
    await page.keyboard.press("Escape");
    const left = `P pass: ${FAILED.replace("epoll", "select")} on x86_64-freebsd`;
    await eventually(async () => assert.equal(await label(), left));
    for (const [key, expected] of [
      ["End", /^not run|^$/],
      ["Home", /tcp-level-2t1g/],
      ["Control+Home", /^migration 1/],
      ["Enter", /^migration 1/],
    ]) {
      await page.keyboard.press(key);
      assert.match(await label(), expected, key);
    }
    assert.deepEqual(await linesShown(page), ["migration 1"]);
    await page.keyboard.press("?");
    assert.equal(await page.isVisible("#keys"), true);
    await page.click("#single-keys");
    await page.keyboard.press("Escape");
    await page.keyboard.press("/");
    assert.notEqual(await page.evaluate(() => document.activeElement.id), "search", "single keys can be switched off");
  });
});

test("an address opens its cell under any filter, and a missing cell is reported", async () => {
  await open("mixed", { fragment: `#status=pass&cell=${KNOWN}&on=x86_64-linux-gnu` }, async (page) => {
    await assertPanel(page, cellOf(KNOWN, "x86_64-linux-gnu"));
    assert.equal(await page.isDisabled('[data-step="1"]'), true);
    await page.click("#panel .close");
    await eventually(async () => assert.equal(await hash(page), "#status=pass"));
  });
  await open("mixed", { fragment: "#cell=raw/pipe-drained/pipe-level-1t1g@poll&on=x86_64-freebsd" }, async (page) => {
    await assertPanel(page, cellOf("raw/pipe-drained/pipe-level-1t1g@poll", "x86_64-freebsd"));
    const panel = await page.textContent("#panel");
    for (const part of [
      "What does a poller say of a pipe at its end?",
      "pipe; write 1; close w; read 1; wait",
      "measured on a real system",
    ]) {
      assert.ok(panel.includes(part), part);
    }
    const links = await page.$$eval("#panel a", (links) => links.map((link) => link.href));
    assert.ok(
      links.includes("https://man.example.org/poll.2") && links.includes("https://example.org/table"),
      `${links}`,
    );
    assert.equal(await page.textContent("#panel .elsewhere li:has-text('epoll') .quiet"), "the same answers");
  });
  await open("mixed", { fragment: "#cell=no/such/cell@poll" }, async (page) => {
    assert.match(await shown(page), /This report has no cell no\/such\/cell@poll/);
    assert.equal(await page.isVisible("#panel"), false);
  });
});

test("the command is copied, or selected if copying is not allowed", async () => {
  const { reproducer } = cellOf(FAILED, "x86_64-linux-gnu");
  const fragment = `#cell=${FAILED}&on=x86_64-linux-gnu`;
  await open("mixed", { fragment, permissions: ["clipboard-read", "clipboard-write"] }, async (page) => {
    await page.click('[aria-label="Copy the command"]');
    await page.waitForSelector("text=Copied");
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), reproducer);
  });
  await open("mixed", { fragment }, async (page) => {
    await page.evaluate(() => (navigator.clipboard.writeText = () => Promise.reject(new Error("refused"))));
    await page.click('[aria-label="Copy the command"]');
    await page.waitForSelector("text=Selected: copy it");
    assert.equal(await page.evaluate(() => getSelection().toString()), reproducer);
  });
});

test("hostile texts stay texts: they do not run, load or overflow", async () => {
  const [cell] = results("hostile").cells;
  assert.ok(cell.reason.includes(HOSTILE));
  const fields = { cell: cell.id, text: SHOWN };
  for (const name of ["nothing", "cell", "text"]) {
    const fragment = name in fields ? `#${name}=${encodeURIComponent(fields[name])}` : "";
    await open("hostile", { fragment }, async (page) => {
      if (name !== "cell") {
        await page.click("#lines .cell");
      }
      const text = await page.textContent("#panel");
      for (const name of [
        "title ",
        "question ",
        "verbs ",
        "clause ",
        "link ",
        "reason ",
        "reproducer ",
        "what ",
        "expected ",
        "observed ",
        "counter ",
        "note ",
        "stderr ",
      ]) {
        assert.ok(text.includes(name + SHOWN), `${name}${SHOWN} is not in ${text}`);
      }
      assert.equal(text.includes("\u202E"), false);
      const main = await page.textContent("main");
      for (const name of ["commit ", "emulator ", "kernel ", "selection ", "why not "]) {
        assert.ok(main.includes(name + SHOWN), name);
      }
      assert.ok(main.includes("never"), "the target that was not run");
      const found = await page.evaluate(() => ({
        broken: globalThis.broken,
        images: document.images.length,
        scripts: document.scripts.length,
        addresses: [...document.querySelectorAll("a")]
          .map((link) => link.protocol)
          .filter((protocol) => !["file:", "https:"].includes(protocol)),
        handlers: [...document.querySelectorAll("*")].filter((element) =>
          [...element.attributes].some(({ name }) => name.startsWith("on")),
        ).length,
        overflow: document.documentElement.scrollWidth - innerWidth,
      }));
      assert.deepEqual(found, { broken: undefined, images: 0, scripts: 2, addresses: [], handlers: 0, overflow: 0 });
    });
  }
});

test("the policy of the page blocks added scripts and requests", async () => {
  await open("mixed", {}, async (page) => {
    const complaint = page.waitForEvent("console");
    const ran = await page.evaluate(async () => {
      const script = document.createElement("script");
      script.textContent = "globalThis.broken = 1";
      document.body.append(script);
      const fetched = await fetch("https://example.org/").then(
        () => true,
        () => false,
      );
      return { broken: globalThis.broken, fetched };
    });
    assert.deepEqual(ran, { broken: undefined, fetched: false });
    await complaint;
  }).then(
    () => assert.fail("the browser reports no violation"),
    // The console has one message per violation, and nothing else.
    (error) => {
      assert.ok(Array.isArray(error.actual), error.stack);
      assert.ok(
        error.actual.length > 0 &&
          error.actual.every((line) => line.startsWith("console:") && line.includes("Content Security Policy")),
        `${error.actual}`,
      );
    },
  );
});

test("without JavaScript the verdicts, the failures and the scenarios are read", async () => {
  await open("mixed", { javaScriptEnabled: false }, async (page) => {
    const failures = await page.$$eval(".failures li", (items) => items.map((item) => item.textContent.replace(/\s+/g, " ")));
    assert.equal(failures.length, count(({ status }) => ["fail", "flaky", "timeout", "broken"].includes(status)));
    const reason = "reports: expected 1/0:before 1/1:after, observed 1/0:before 1/0:after, see https://example.org/bugs/7.";
    assert.ok(failures.includes(`F ${FAILED} on x86_64-linux-gnu: ${reason}`), failures.join("\n"));
    await page.click("#by-scenario summary");
    const rows = await page.$$eval("#by-scenario tbody tr", (rows) =>
      rows.map((row) => [...row.children].map((child) => child.textContent).join(" ")),
    );
    assert.equal(rows[1], "migration/idle-takeover P4 P4 P4 P4 F1 U4 P3 K1 P4");
    assert.equal(await page.isVisible("#grid"), false);
  });
});

test("a failure in the list opens its cell, with the timeline of its threads", async () => {
  await open("mixed", {}, async (page) => {
    await page.click(`.failures a >> text=${FAILED}`);
    await assertPanel(page, cellOf(FAILED, "x86_64-linux-gnu"));
    const lanes = await page.$$eval("#panel svg.timeline text.name", (names) => names.map((name) => name.textContent));
    assert.deepEqual(lanes, ["worker 1/0", "worker 1/1", "kernel"]);
    const texts = await page.$$eval("#panel svg.timeline text.event", (events) => events.map((event) => event.textContent));
    assert.deepEqual(texts, ["reports 9", "takes over 9", "returns 9", "WRONG reports"]);
    const [line, wrong] = await page.$$eval("#panel .timeline .life, #panel .timeline .wrong", (shapes) =>
      [shapes[0], shapes.at(-1)].map((shape) => getComputedStyle(shape)).map(({ stroke, fill }) => [stroke, fill]),
    );
    assert.notEqual(line[0], "none", "the page's style reaches the picture");
    assert.notEqual(wrong[1], "rgb(0, 0, 0)", "a violated check has a colour of its own");
    await page.$eval("#panel svg.timeline", (picture) => picture.scrollIntoView());
    await screenshot(page, "timeline");
    await accessible(page, "a timeline");
    await page.keyboard.press("Escape");
    await eventually(async () => assert.equal(await hash(page), ""));
    await page.click(`#lines .cell[aria-label="P pass: ${FAILED.replace("2t1g", "4t2g")} on x86_64-linux-gnu"]`);
    assert.equal(await page.$$eval("#panel svg.timeline", (pictures) => pictures.length), 0);
    assert.match(await page.textContent("#panel"), /results\.json has 1 note\./);
  });
});

test("of 20,000 cells only the visible ones are elements", async (t) => {
  await open("large", {}, async (page) => {
    assert.equal(await shown(page), "20000 of 20000 cells shown");
    const bytes = statSync(join(reports, "large", "report.html")).size;
    const opened = await page.evaluate(() => Math.round(performance.getEntriesByName("open")[0].duration));
    t.diagnostic(`the page has ${Math.round(bytes / 1000)} kB and was shown after ${opened} ms`);
    const elements = () => page.evaluate(() => document.querySelectorAll("*").length);
    const folded = await elements();
    await page.click("#unfold");
    const unfolded = await elements();
    assert.ok(unfolded < 4000, `${unfolded} elements`);
    const lines = 5 + 100 + 2000;
    assert.equal(await page.getAttribute("#grid", "aria-rowcount"), String(lines + 2));
    // Scroll to the end and back.
    await page.$eval("#box", (box) => box.scrollTo(0, box.scrollHeight));
    await page.waitForSelector(`#lines > tr[data-line="${lines - 1}"]`);
    const atBottom = () =>
      page.$eval("#box", (box) => {
        const { bottom } = box.getBoundingClientRect();
        const last = [...document.querySelectorAll("#lines > tr")].at(-1).getBoundingClientRect();
        return last.bottom <= bottom + 1 && last.bottom > bottom - 40;
      });
    await eventually(async () => assert.ok(await atBottom(), "the last line is at the bottom"));
    assert.ok((await elements()) < 4000);
    await page.focus("#fold");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Control+Home");
    await page.waitForSelector('#lines > tr[data-line="0"]');
    await page.keyboard.press("PageDown");
    assert.notEqual(await page.evaluate(() => document.activeElement.closest("tr")?.dataset.line), "0");
    await page.evaluate(() => performance.clearMeasures());
    await page.fill("#search", "scenario-7 fail");
    await press(page, "status", "fail");
    const expected = results("large").cells.filter(
      ({ status, id }) => status === "fail" && id.includes("scenario-7"),
    ).length;
    assert.match(await shown(page), new RegExp(`^${expected} of 20000 cells`));
    await page.selectOption("#compare-a", { index: 1 });
    await page.selectOption("#compare-b", { index: 2 });
    const took = await page.evaluate(() =>
      performance.getEntriesByName("filter").map(({ duration }) => Math.round(duration)),
    );
    t.diagnostic(`elements: ${folded} folded, ${unfolded} unfolded; filters took ${took.join(", ")} ms`);
    await clear(page);
    await screenshot(page, "large");
  });
});

for (const scheme of ["light", "dark"]) {
  test(`axe finds nothing: ${scheme}`, async () => {
    const options = { colorScheme: scheme, reducedMotion: "reduce" };
    await open("mixed", options, async (page) => {
      await screenshot(page, `page-${scheme}`);
      await accessible(page, "the page");
      await press(page, "status", "fail");
      await accessible(page, "filtered");
      await page.click("#keys-button");
      await accessible(page, "the keys");
    });
    await open("mixed", { ...options, fragment: `#cell=${KNOWN}&on=x86_64-linux-gnu` }, async (page) => {
      await screenshot(page, `cell-${scheme}`);
      await accessible(page, "a cell");
    });
    await open("mixed", { ...options, fragment: "#one=epoll@x86_64-linux-gnu&other=poll@x86_64-linux-gnu" }, (page) =>
      accessible(page, "compared"),
    );
  });
}

test("the theme is the system's until another is chosen, and the choice is remembered", async () => {
  await open("mixed", { colorScheme: "dark" }, async (page) => {
    const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const dark = await background();
    await page.click("#theme-button");
    assert.equal(await page.textContent("#theme-button"), "Theme: light");
    const light = await background();
    assert.notEqual(light, dark);
    await page.reload();
    assert.equal(await background(), light);
    await page.click("#theme-button");
    await page.click("#theme-button");
    assert.equal(await page.textContent("#theme-button"), "Theme: system");
    assert.equal(await background(), dark);
  });
});

for (const [name, fragment] of [
  ["the page", ""],
  ["a cell", `#cell=${FAILED}&on=x86_64-linux-gnu`],
  ["two columns", "#one=epoll@x86_64-linux-gnu&other=poll@x86_64-linux-gnu"],
]) {
  test(`on a phone only the grid is wider than the screen: ${name}`, async () => {
    await open(
      "mixed",
      { fragment, viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, reducedMotion: "reduce" },
      async (page) => {
        const wide = await page.evaluate(() => {
          const over = (element) =>
            element.getBoundingClientRect().right > innerWidth + 1 && !element.closest("#box, .sideways, .skip");
          const place = document.querySelector("#panel[open]") ?? document.body;
          return {
            page: document.documentElement.scrollWidth,
            screen: innerWidth,
            over: [...place.querySelectorAll("*")].filter(over).map((element) => element.outerHTML.slice(0, 80)),
          };
        });
        assert.deepEqual(wide, { page: 390, screen: 390, over: [] });
        await screenshot(page, `phone-${name.replaceAll(" ", "-")}`);
        if (fragment === "") {
          // The first column and the headings do not scroll.
          const corner = () => page.$eval(".corner", (corner) => corner.getBoundingClientRect().x);
          const before = await corner();
          await page.$eval("#box", (box) => box.scrollTo(200, 100));
          assert.equal(await corner(), before);
          assert.ok((await page.$eval("#box", (box) => box.scrollLeft)) > 0);
        }
      },
    );
  });
}
