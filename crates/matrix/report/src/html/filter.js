// The query, which is kept in the address, and the selection of cells that match it.

/** The filters. A filter without a chosen value matches every cell. */
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

/** The values of each facet, with their numbers of cells. */
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

/** The ways to compare two columns: see `difference`. */
const WITHIN = ["answers", "observed", "status"];

function emptyQuery() {
  const chosen = Object.fromEntries(FACETS.map((facet) => [facet.name, new Set()]));
  return { chosen, absent: false, text: "", one: null, other: null, within: WITHIN[0], cell: null };
}

/**
 * Reads the query from the address. Ignores values that the report does not have. `missing` is the id of such
 * a cell.
 */
function readFragment(fragment) {
  const fields = new URLSearchParams(fragment.replace(/^#/, ""));
  const query = emptyQuery();
  for (const facet of FACETS) {
    const known = new Set(facet.values.map(({ value }) => value));
    const named = (fields.get(facet.name) ?? "").split(",");
    query.chosen[facet.name] = new Set(named.filter((value) => known.has(value)));
  }
  query.absent = fields.has("absent");
  query.text = fields.get("text") ?? "";
  const columnOf = (key) => columns.find((column) => column.key === key && column.kind !== NOT_RUN) ?? null;
  query.one = columnOf(fields.get("one"));
  query.other = columnOf(fields.get("other"));
  query.within = WITHIN.find((within) => within === fields.get("in")) ?? WITHIN[0];
  const id = fields.get("cell");
  query.cell = id === null ? null : findCell(id, fields.get("on") ?? "");
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
  // These characters need no escape in a fragment, and ids stay readable.
  const escaped = (text) => encodeURIComponent(text).replace(/%(2F|40|2C|3A)/g, decodeURIComponent);
  return parts
    .filter(([, value]) => value !== "")
    .map(([name, value]) => `${name}=${escaped(value)}`)
    .join("&");
}

/** Returns functions that return the words of the query that a text contains, one bit per word. */
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

/**
 * Returns a function that tests status, layer and text of a cell. `chosenColumns` applies the other filters.
 */
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

/** Returns whether columns with only unsupported cells are shown. */
const showsAbsent = (query) => query.absent || query.chosen.status.has("unsupported");

/** Returns the columns that match the query. */
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

/** Returns the observed values of a cell, and whether they hold, by the name of the check. */
function answersOf(cell) {
  const byWhat = new Map();
  for (const index of packed.lists[cell[CHECKS]]) {
    const [, , , observed, , holds] = packed.checks[index];
    const what = whatOf(index);
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
 * Returns the first difference of two cells as `{ what, one, other }`, or null. `within` is `status`, `answers`
 * or `observed`.
 *
 * Answers of contract cells differ if one holds and the other does not: many of them are numbers that vary from
 * run to run. Answers of characterisation cells differ if they are not equal.
 */
function difference(one, other, within) {
  if (one[STATUS] !== other[STATUS]) {
    return { what: "status", one: statusOf(one).label, other: statusOf(other).label };
  }
  // Equal lists of checks have the same index.
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
      const inWords = (answers) => answers?.observed.map(textOf).join("; ") ?? "not checked";
      return { what, one: inWords(here), other: inWords(there) };
    }
  }
  return null;
}

/**
 * Applies a query. Returns the columns, the matching groups, scenarios and rows, and the matching cells in
 * reading order. `tallies` has one array per column, with the number of cells per status.
 */
function select(query) {
  const chosen = chosenColumns(query);
  const compared = query.one !== null && query.other !== null;
  const matches = cellFilter(query);
  const selection = { columns: chosen, compared, groups: [], cells: [], scenarios: 0, rows: 0, lone: 0, both: 0 };
  selection.matching = new Set();
  selection.differences = new Map();
  const noTallies = () => chosen.map(() => new Uint32Array(STATUSES.length));
  for (const group of groups) {
    const shownGroup = { name: group.name, scenarios: [], tallies: noTallies() };
    for (const { scenario, rows: all } of group.scenarios) {
      const shownScenario = { scenario, rows: [], tallies: noTallies() };
      for (const row of all) {
        const cells = chosen.map((column) => row.cells[column.index]);
        const matching = cells.map((cell) => cell !== null && matches(cell));
        if (!matching.includes(true)) {
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
          matching.fill(true);
        }
        shownScenario.rows.push(row);
        for (const [index, cell] of cells.entries()) {
          if (matching[index]) {
            selection.matching.add(cell);
            selection.cells.push(cell);
            shownScenario.tallies[index][cell[STATUS]] += 1;
            shownGroup.tallies[index][cell[STATUS]] += 1;
          }
        }
      }
      if (shownScenario.rows.length > 0) {
        shownGroup.scenarios.push(shownScenario);
        selection.rows += shownScenario.rows.length;
      }
    }
    if (shownGroup.scenarios.length > 0) {
      selection.groups.push(shownGroup);
      selection.scenarios += shownGroup.scenarios.length;
    }
  }
  return selection;
}

const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

/** Describes the selection in a sentence, which screen readers announce, too. */
function describe(selection, query) {
  const total = packed.cells.length;
  if (selection.compared) {
    if (query.one === query.other) {
      return "The column is compared with itself: choose another one";
    }
    const names = `${query.one.name} and ${query.other.name}`;
    const lone = selection.lone === 0 ? "" : `; ${plural(selection.lone, "row")} in one of them only`;
    return `${selection.rows} of ${plural(selection.both, "row")} differ between ${names}${lone}`;
  }
  const hidden = columns.filter((column) => column.kind === ABSENT).length;
  const isHidden = hidden > 0 && !showsAbsent(query) && query.chosen.backend.size === 0;
  const note = isHidden ? ` (${plural(hidden, "column")} of absent backends hidden)` : "";
  return `${selection.cells.length} of ${plural(total, "cell")} shown${note}`;
}
