// Unpacks the results. Texts are indices into one table. A cell stays an array, as in the file, because there
// may be tens of thousands of them.

const packed = await unpacked();
/** Returns a function that adds a step to those before it. */
const adder = () => {
  let sum = 0;
  return (step) => (sum += step);
};
/** From a list for each field to one for each value. The numbers of the field `rising` are steps. */
const byValue = (fields, rising) => {
  fields[rising] = (fields[rising] ?? []).map(adder());
  return fields[rising].map((_, index) => fields.map((field) => field[index]));
};
packed.cells = byValue(packed.cells, 0);
packed.checks = byValue(packed.checks, 1);
const added = adder();
packed.lists = packed.lists.map((list) => list.map(added));
const textOf = (index) => packed.strings[index];
const STATUSES = packed.statuses.map(([letter, name, style, label]) => ({ letter, name, style, label }));

/** The kinds of columns that have no results. */
const ABSENT = 1;
const NOT_RUN = 2;

/** The indices into the array of a cell. */
const ROW = 0;
const COLUMN = 1;
const STATUS = 2;
const LAYER = 3;
const REASON = 4;
const CHECKS = 12;

const columns = packed.columns.map(([target, os, backend, note, kind], index) => {
  const column = { index, target: textOf(target), os: textOf(os), backend: textOf(backend), note: textOf(note), kind };
  // The name of the column in the fragment of a shared address.
  column.key = `${column.backend}@${column.target}`;
  column.name = column.backend === "" ? column.target : `${column.backend} on ${column.target}`;
  return column;
});

const scenarios = packed.scenarios.map(({ id, title, clauses, question, verbs, links }) => ({
  id: textOf(id),
  group: textOf(id).split("/", 1)[0],
  title: textOf(title),
  clauses: clauses.map(textOf),
  question: textOf(question),
  verbs: textOf(verbs),
  links: links.map(([text, url]) => ({ text: textOf(text), url: textOf(url) })),
}));

const rows = packed.rows.map(([scenario, variant, transport, trigger, threads, groups], index) => ({
  index,
  scenario: scenarios[scenario],
  variant: textOf(variant),
  key: `${scenarios[scenario].id}/${textOf(variant)}`,
  params: { transport: textOf(transport), trigger: textOf(trigger), threads, groups },
  /** The cells by column, null if a column has none. */
  cells: new Array(columns.length).fill(null),
}));

for (const cell of packed.cells) {
  rows[cell[ROW]].cells[cell[COLUMN]] = cell;
}

/** The groups with their scenarios and rows, in the order of the file. */
const groups = [];
{
  const scenarioOf = new Map();
  const groupOf = new Map();
  for (const row of rows) {
    let scenario = scenarioOf.get(row.scenario);
    if (scenario === undefined) {
      scenario = { scenario: row.scenario, rows: [] };
      scenarioOf.set(row.scenario, scenario);
      const name = row.scenario.group;
      let group = groupOf.get(name);
      if (group === undefined) {
        group = { name, scenarios: [] };
        groupOf.set(name, group);
        groups.push(group);
      }
      group.scenarios.push(scenario);
    }
    scenario.rows.push(row);
  }
}

const statusOf = (cell) => STATUSES[cell[STATUS]];
const idOf = (cell) => `${rows[cell[ROW]].key}@${columns[cell[COLUMN]].backend}`;

/** Returns what a check compares: its poller, if it has one, and the state. */
function whatOf(index) {
  const [poller, what] = packed.checks[index];
  return poller === 0 ? textOf(what) : `${textOf(poller)} ${textOf(what)}`;
}

/** Unpacks one check of a cell. */
function unpackCheck(index) {
  const [, , expected, observed, source, holds, since, until, url, evidence] = packed.checks[index];
  return {
    what: whatOf(index),
    expected: (expected ?? [observed]).map(textOf),
    observed: textOf(observed),
    source: textOf(source),
    holds: holds === 1,
    since: textOf(since),
    until: textOf(until),
    url: textOf(url),
    evidence: textOf(evidence),
  };
}

/** Unpacks all fields of a cell. */
function unpackCell(cell) {
  const [
    row,
    column,
    ,
    layer,
    reason,
    passed,
    attempts,
    seed,
    duration,
    before,
    after,
    repeated,
    checks,
    counters,
    notes,
    stderr,
    moreChecks,
    moreNotes,
  ] = cell;
  const id = idOf(cell);
  return {
    id,
    row: rows[row],
    column: columns[column],
    status: statusOf(cell),
    layer: textOf(layer),
    reason: textOf(reason),
    passed,
    attempts,
    seed: textOf(seed),
    duration,
    // Most commands contain the cell's id.
    reproducer: `${textOf(before)}${repeated === 1 ? id : ""}${textOf(after)}`,
    checks: packed.lists[checks].map(unpackCheck),
    counters: counters.map(([name, value]) => [textOf(name), value]),
    notes: notes.map(textOf),
    stderr: textOf(stderr),
    moreChecks,
    moreNotes,
  };
}

/** Returns the cell with this id, on this target unless `target` is empty. */
function findCell(id, target) {
  for (const row of rows) {
    if (!id.startsWith(row.key)) {
      continue;
    }
    const found = row.cells.find(
      (cell) => cell !== null && idOf(cell) === id && (target === "" || columns[cell[COLUMN]].target === target),
    );
    if (found !== undefined) {
      return found;
    }
  }
  return null;
}
