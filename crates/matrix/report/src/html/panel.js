// The panel with all fields of one cell.

const panel = byId("panel");
const EVIDENCE = {
  M: "measured on a real system",
  K: "read in the kernel's source",
  T: "asserted by another test suite",
  I: "an issue, a pull request or a commit",
  D: "a manual page or a standard",
  "?": "no known source",
};

/** Creates a section of the panel, or returns null if it has no content. */
function part(heading, ...content) {
  const children = content.flat().filter((child) => child !== null && child !== undefined);
  return children.length === 0 ? null : element("section", {}, element("h3", {}, heading), children);
}

function facts(entries) {
  const shown = entries.filter(([, value]) => value !== "" && value !== null);
  const one = ([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value));
  return element("dl", {}, shown.map(one));
}

/** Creates a command with a button that copies it. */
function command(text, label) {
  const code = element("code", {}, text);
  const press = button("Copy", () => copy(text, code, press), { class: "copy", "aria-label": label });
  return element("div", { class: "command" }, element("pre", { tabindex: 0 }, code), press);
}

/** Creates the table of checks, with expected and observed answers. */
function checksTable(checks) {
  const head = ["", "Check", "Expected", "Observed"].map((name) =>
    element("th", { scope: "col", role: "columnheader" }, name || element("span", { class: "unseen" }, "Holds")),
  );
  const body = checks.map((check) => {
    const holds = element(
      "td",
      { role: "cell", class: "mark" },
      check.holds ? "✓" : "✗",
      element("span", { class: "unseen" }, check.holds ? "holds" : "does not hold"),
    );
    const allowed = check.expected.map((answer) => element("li", {}, answer));
    return element(
      "tr",
      { role: "row", class: check.holds ? null : "wrong" },
      holds,
      element("th", { scope: "row", role: "rowheader" }, check.what, sourceOf(check)),
      element("td", { role: "cell", "data-label": "expected" }, element("ul", { class: "allowed" }, allowed)),
      element("td", { role: "cell", "data-label": "observed", class: "observed" }, check.observed),
    );
  });
  return element(
    "table",
    { role: "table", class: "checks" },
    element("thead", { role: "rowgroup" }, element("tr", { role: "row" }, head)),
    element("tbody", { role: "rowgroup" }, body),
  );
}

/** Creates the source of an expectation, with its evidence, versions and link. */
function sourceOf(check) {
  const parts = [linked(check.source)];
  if (check.evidence !== "") {
    const meaning = EVIDENCE[check.evidence] ?? "";
    parts.push([
      element("abbr", { title: meaning, class: "evidence" }, check.evidence),
      element("span", { class: "unseen" }, meaning),
    ]);
  }
  const since = check.since === "" ? null : `since ${check.since}`;
  const until = check.until === "" ? null : `until ${check.until}`;
  if (since || until) {
    parts.push([[since, until].filter(Boolean).join(", ")]);
  }
  if (check.url !== "") {
    parts.push([link(check.url)]);
  }
  return element(
    "span",
    { class: "source" },
    parts.flatMap((part, index) => (index > 0 ? [" · ", ...part] : part)),
  );
}

/** Creates the list of the other columns' answers. */
function otherColumns(cell) {
  const row = rows[cell[ROW]];
  const others = row.cells.filter(
    (other) => other !== null && other !== cell && columns[other[COLUMN]].kind !== ABSENT,
  );
  const shown = others.map((other) => {
    const { backend, target } = columns[other[COLUMN]];
    const found = difference(other, cell, "answers");
    const text = found === null ? "the same answers" : `${found.what}: ${found.one}; here ${found.other}`;
    const name = columns.every((column) => column.target === target) ? backend : `${backend} on ${target}`;
    const opens = button([badge(statusOf(other)), " ", name], () => openCell(other), { class: "other" });
    return element("li", {}, opens, " ", element("span", { class: "quiet" }, text));
  });
  return shown.length === 0 ? null : element("ul", { class: "elsewhere" }, shown);
}

/** Creates the picture of what each thread did, which the page has of some cells. */
function timelineOf(cell, id) {
  const drawn = packed.timelines.find(([index]) => packed.cells[index] === cell);
  if (drawn === undefined) {
    return null;
  }
  // The program has escaped the texts in it. A script in it would not run, either.
  const picture = new DOMParser().parseFromString(drawn[1], "image/svg+xml").documentElement;
  return element("section", { class: "sideways", "aria-label": `Timeline of ${id}`, tabindex: 0 }, picture);
}

/** Says what of a cell that passes is not in the page. */
function omitted(moreChecks, moreNotes) {
  const parts = [moreChecks > 0 && `${plural(moreChecks, "more check")} that hold`, moreNotes > 0 && plural(moreNotes, "note")];
  const text = parts.filter(Boolean).join(" and ");
  return text === "" ? null : element("p", { class: "quiet" }, `results.json has ${text}.`);
}

/** Returns the summaries of the target's runs. A cell does not record which of them it belongs to. */
function runsOf(target) {
  const summaries = packed.runs.filter(([name]) => textOf(name) === target).map(([, summary]) => textOf(summary));
  return summaries.length > 1 ? summaries.map((summary) => element("p", {}, summary)) : summaries;
}

function panelOf(cell) {
  const {
    id,
    row,
    column,
    status,
    layer,
    reason,
    passed,
    attempts,
    seed,
    duration,
    reproducer,
    checks,
    counters,
    notes,
    stderr,
    moreChecks,
    moreNotes,
  } = unpackCell(cell);
  const { scenario } = row;
  const { transport, trigger, threads, groups } = row.params;
  const cells = grid.selection.cells;
  const index = cells.indexOf(cell);
  const step = (by, label, sign) => {
    const next = index < 0 ? undefined : cells[index + by];
    return button(sign, () => openCell(next), {
      "aria-label": label,
      disabled: next === undefined,
      class: "step",
      "data-step": by,
    });
  };
  const wrong = checks.filter((check) => !check.holds).length;
  const addresses = [reason, ...checks.map((check) => check.source)].flatMap(
    (text) => text.match(/https?:\/\/[^\s<>"'`]*[^\s<>"'`.,;:!?)\]]/g) ?? [],
  );
  const urls = [...new Set([...checks.map((check) => check.url).filter(Boolean), ...addresses])];
  const leads = [...scenario.links.map(({ text, url }) => link(url, text)), ...urls.map((url) => link(url))];
  const shared = button("Copy link", () => copy(location.href, heading, shared));
  const heading = element("h2", { id: "panel-heading", tabindex: -1 }, id);
  return [
    element(
      "div",
      { class: "panel-bar" },
      step(-1, "Previous cell", "‹"),
      step(1, "Next cell", "›"),
      element("span", { class: "quiet" }, index < 0 ? "not among the cells shown" : `${index + 1} of ${cells.length}`),
      shared,
      button("Close", () => panel.close(), { class: "close" }),
    ),
    heading,
    scenario.title === "" ? null : element("p", { class: "title" }, scenario.title),
    scenario.question === "" ? null : element("p", { class: "question" }, scenario.question),
    element("p", { class: "status" }, badge(status), " ", element("strong", {}, status.label), ` on ${column.target}`),
    reason === "" ? null : element("pre", { class: "reason", tabindex: 0 }, linked(reason)),
    part("Run it again", command(reproducer, "Copy the command")),
    scenario.verbs === "" ? null : part("Script", command(scenario.verbs, "Copy the script")),
    checks.length === 0
      ? null
      : part(
          wrong === 0 ? "Expected and observed" : `Expected and observed: ${wrong} of ${checks.length} do not hold`,
          checksTable(checks),
        ),
    omitted(moreChecks, moreNotes),
    part("Timeline", timelineOf(cell, id)),
    part("Other columns", otherColumns(cell)),
    part(
      "Details",
      facts([
        ["layer", layer],
        [
          "clauses",
          scenario.clauses.length === 0
            ? ""
            : scenario.clauses.flatMap((clause, position) => [position > 0 ? ", " : "", ...linked(clause)]),
        ],
        ["parameters", [transport, trigger, plural(threads, "thread"), plural(groups, "group")].join(", ")],
        ["attempts", attempts === 0 ? "" : `${passed} of ${attempts} passed`],
        ["seed", seed],
        ["duration", attempts === 0 ? "" : `${duration} ms`],
        ["run", runsOf(column.target)],
      ]),
    ),
    part(
      "Links",
      leads.length === 0
        ? null
        : element(
            "ul",
            {},
            leads.map((lead) => element("li", {}, lead)),
          ),
    ),
    part("Counters", counters.length === 0 ? null : facts(counters.map(([name, value]) => [name, String(value)]))),
    part(
      "Trace and notes",
      notes.map((note) => element("pre", { tabindex: 0 }, linked(note))),
    ),
    part("The end of standard error", stderr === "" ? null : element("pre", { tabindex: 0 }, stderr)),
  ].filter((child) => child !== null);
}

/** Opens the panel with a cell, or shows another cell in the open panel. */
function openCell(cell) {
  const by = panel.contains(document.activeElement) ? document.activeElement.dataset.step : undefined;
  panel.replaceChildren(...panelOf(cell));
  panel.scrollTop = 0;
  if (!panel.open) {
    panel.showModal();
  }
  // After a step, the same button keeps the focus. Otherwise the heading gets it, so that screen readers
  // announce it.
  const stepButton = by && panel.querySelector(`[data-step="${by}"]:enabled`);
  (stepButton || byId("panel-heading")).focus();
  setCell(cell);
}

panel.addEventListener("close", () => {
  const cell = query.cell;
  setCell(null);
  panel.replaceChildren();
  // Focuses the cell that was shown last. The browser would focus the one that was opened first.
  if (cell !== null) {
    focusCell(cell);
  }
});
