// What is asked for, in the address, and what of the results answers it.

/** What can be chosen from. Nothing chosen is everything. */
const FACETS = [
  { name: "status", label: "Status", of: (cell) => statusOf(cell).name },
  {
    name: "backend",
    label: "Backend",
    of: (cell) => columns[cell[COLUMN]].backend,
    ofColumn: (column) => column.backend,
  },
  { name: "os", label: "System", of: (cell) => columns[cell[COLUMN]].os, ofColumn: (column) => column.os },
  { name: "target", label: "Target", of: (cell) => columns[cell[COLUMN]].target, ofColumn: (column) => column.target },
  { name: "layer", label: "Layer", of: (cell) => textOf(cell[LAYER]) },
];

/** The values of each facet, with how many cells have them. */
for (const facet of FACETS) {
  const counts = new Map();
  for (const column of facet.ofColumn ? columns : []) {
    counts.set(facet.ofColumn(column), 0);
  }
  for (const cell of packed.cells) {
    const value = facet.of(cell);
    counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  // The column of a target that was not run has no backend.
  counts.delete("");
  const order = facet.name === "status" ? STATUSES.map((status) => status.name) : [...counts.keys()].sort();
  facet.values = order.filter((value) => counts.has(value)).map((value) => ({ value, count: counts.get(value) }));
}

const hasAbsent = columns.some((column) => column.kind === ABSENT);

/** What two columns may differ in: see `difference`. */
const WITHIN = ["answers", "observed", "status"];

function emptyQuery() {
  const chosen = Object.fromEntries(FACETS.map((facet) => [facet.name, new Set()]));
  return { chosen, absent: false, text: "", one: null, other: null, within: WITHIN[0], cell: null };
}

/** What the address asks for. What it names and this report does not have is left out; `missing` is such a cell. */
function readFragment(fragment) {
  const asked = new URLSearchParams(fragment.replace(/^#/, ""));
  const query = emptyQuery();
  for (const facet of FACETS) {
    const known = new Set(facet.values.map(({ value }) => value));
    const named = (asked.get(facet.name) ?? "").split(",");
    query.chosen[facet.name] = new Set(named.filter((value) => known.has(value)));
  }
  query.absent = asked.has("absent");
  query.text = asked.get("text") ?? "";
  const columnOf = (key) => columns.find((column) => column.key === key && column.kind !== NOT_RUN) ?? null;
  query.one = columnOf(asked.get("one"));
  query.other = columnOf(asked.get("other"));
  query.within = WITHIN.find((within) => within === asked.get("in")) ?? WITHIN[0];
  const id = asked.get("cell");
  query.cell = id === null ? null : findCell(id, asked.get("on") ?? "");
  query.missing = id !== null && query.cell === null ? id : null;
  return query;
}

function writeFragment(query) {
  const parts = FACETS.map((facet) => [facet.name, [...query.chosen[facet.name]].join(",")]);
  parts.push(["absent", query.absent ? "1" : ""], ["text", query.text]);
  parts.push(["one", query.one?.key ?? ""], ["other", query.other?.key ?? ""]);
  parts.push(["in", query.within === WITHIN[0] ? "" : query.within]);
  parts.push(["cell", query.cell === null ? "" : idOf(query.cell)]);
  parts.push(["on", query.cell === null ? "" : columns[query.cell[COLUMN]].target]);
  // These need no escape in a fragment, and ids can be read without.
  const escaped = (text) => encodeURIComponent(text).replace(/%(2F|40|2C|3A)/g, decodeURIComponent);
  return parts
    .filter(([, value]) => value !== "")
    .map(([name, value]) => `${name}=${escaped(value)}`)
    .join("&");
}

/** Which of the words are in a text, as bits. */
function wordMasks(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean).slice(0, 30);
  const all = 2 ** words.length - 1;
  const maskOf = (text) => {
    const lower = text.toLowerCase();
    return words.reduce((mask, word, bit) => (lower.includes(word) ? mask | (1 << bit) : mask), 0);
  };
  const known = new Map();
  const maskOfIndex = (index) => {
    let mask = known.get(index);
    if (mask === undefined) {
      mask = maskOf(textOf(index));
      known.set(index, mask);
    }
    return mask;
  };
  return { all, maskOf, maskOfIndex };
}

/** Says of a cell whether the query asks for it: status, layer and words. The columns are chosen before. */
function cellFilter(query) {
  const { all, maskOf, maskOfIndex } = wordMasks(query.text);
  const statuses = STATUSES.map(({ name }) => query.chosen.status.size === 0 || query.chosen.status.has(name));
  const layers = query.chosen.layer;
  const ofScenario = new Map(
    scenarios.map((scenario) => [
      scenario,
      maskOf([scenario.title, scenario.question, ...scenario.clauses].join("\n")),
    ]),
  );
  const ofTarget = columns.map((column) => maskOf(`${column.target}\n${column.os}`));
  return (cell) => {
    if (!statuses[cell[STATUS]] || (layers.size > 0 && !layers.has(textOf(cell[LAYER])))) {
      return false;
    }
    if (all === 0) {
      return true;
    }
    const about = ofScenario.get(rows[cell[ROW]].scenario) | ofTarget[cell[COLUMN]] | maskOfIndex(cell[REASON]);
    return (about | maskOf(idOf(cell))) === all;
  };
}

/** Whether columns are shown that have nothing but "unsupported". */
const showsAbsent = (query) => query.absent || query.chosen.status.has("unsupported");

/** The columns that are asked for. */
function chosenColumns(query) {
  if (query.one !== null && query.other !== null) {
    return [query.one, query.other];
  }
  const facets = FACETS.filter((facet) => facet.ofColumn && query.chosen[facet.name].size > 0);
  return columns.filter(
    (column) =>
      facets.every((facet) => query.chosen[facet.name].has(facet.ofColumn(column))) &&
      (column.kind !== ABSENT || showsAbsent(query) || query.chosen.backend.has(column.backend)),
  );
}

/** What was observed, and whether it holds, by what was looked at. */
function answersOf(cell) {
  const byWhat = new Map();
  for (const index of packed.lists[cell[CHECKS]]) {
    const [what, , observed, , holds] = packed.checks[index];
    const known = byWhat.get(what);
    if (known === undefined) {
      byWhat.set(what, { observed: [observed], holds: [holds] });
    } else {
      known.observed.push(observed);
      known.holds.push(holds);
    }
  }
  return byWhat;
}

/**
 * What two cells differ in: `{ what, one, other }`, or null. `within` is `status`, `answers` or `observed`.
 *
 * Answers of contract cells differ if one holds and one does not: of two that hold, one is as good as the other, and
 * many are numbers that no two runs have in common. Answers of other cells differ if they are not the same.
 */
function difference(one, other, within) {
  if (one[STATUS] !== other[STATUS]) {
    return { what: "status", one: statusOf(one).name, other: statusOf(other).name };
  }
  // The same list of checks is there once.
  if (within === "status" || one[CHECKS] === other[CHECKS]) {
    return null;
  }
  const onlyHolds = within === "answers" && textOf(one[LAYER]) === "contract";
  const [ones, others] = [answersOf(one), answersOf(other)];
  for (const what of new Set([...ones.keys(), ...others.keys()])) {
    const [here, there] = [ones.get(what), others.get(what)];
    const differ = onlyHolds
      ? here !== undefined && there !== undefined && here.holds.join() !== there.holds.join()
      : here?.observed.join() !== there?.observed.join();
    if (differ) {
      const words = (answers) => answers?.observed.map(textOf).join("; ") ?? "not looked at";
      return { what: textOf(what), one: words(here), other: words(there) };
    }
  }
  return null;
}

/**
 * The answer to a query: the columns; the groups, scenarios and rows that are left; the cells in reading order.
 * `tallies` are arrays by column of counts by status.
 */
function select(query) {
  const chosen = chosenColumns(query);
  const compared = query.one !== null && query.other !== null;
  const asksFor = cellFilter(query);
  const selection = { columns: chosen, compared, groups: [], cells: [], scenarios: 0, rows: 0, lone: 0, both: 0 };
  selection.matching = new Set();
  selection.differences = new Map();
  const noTallies = () => chosen.map(() => new Uint32Array(STATUSES.length));
  for (const group of groups) {
    const leftGroup = { name: group.name, scenarios: [], tallies: noTallies() };
    for (const { scenario, rows: all } of group.scenarios) {
      const leftScenario = { scenario, rows: [], tallies: noTallies() };
      for (const row of all) {
        const cells = chosen.map((column) => row.cells[column.index]);
        const asked = cells.map((cell) => cell !== null && asksFor(cell));
        if (!asked.includes(true)) {
          continue;
        }
        if (compared) {
          const [one, other] = cells;
          if (one === null || other === null) {
            selection.lone += 1;
            continue;
          }
          selection.both += 1;
          const found = difference(one, other, query.within);
          if (found === null) {
            continue;
          }
          selection.differences.set(row, found);
          asked.fill(true);
        }
        leftScenario.rows.push(row);
        for (const [place, cell] of cells.entries()) {
          if (asked[place]) {
            selection.matching.add(cell);
            selection.cells.push(cell);
            leftScenario.tallies[place][cell[STATUS]] += 1;
            leftGroup.tallies[place][cell[STATUS]] += 1;
          }
        }
      }
      if (leftScenario.rows.length > 0) {
        leftGroup.scenarios.push(leftScenario);
        selection.rows += leftScenario.rows.length;
      }
    }
    if (leftGroup.scenarios.length > 0) {
      selection.groups.push(leftGroup);
      selection.scenarios += leftGroup.scenarios.length;
    }
  }
  return selection;
}

const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

/** What is shown, in words, for everybody to see and for screen readers to say. */
function inWords(selection, query) {
  const total = packed.cells.length;
  if (selection.compared) {
    if (query.one === query.other) {
      return "One column is compared with itself: choose another one";
    }
    const names = `${query.one.name} and ${query.other.name}`;
    const lone = selection.lone === 0 ? "" : `; ${plural(selection.lone, "row")} in one of them only`;
    return `${selection.rows} of ${plural(selection.both, "row")} differ between ${names}${lone}`;
  }
  const hidden = columns.filter((column) => column.kind === ABSENT).length;
  const left = hidden > 0 && !showsAbsent(query) && query.chosen.backend.size === 0;
  const without = left ? ` (${plural(hidden, "column")} without the backend left out)` : "";
  return `${selection.cells.length} of ${plural(total, "cell")} shown${without}`;
}
