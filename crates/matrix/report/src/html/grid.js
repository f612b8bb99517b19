// The matrix of groups, scenarios and rows. Only the visible lines are elements. The keys of a grid move the
// focus: one cell at a time is in the tab order.

const grid = {
  box: byId("box"),
  table: byId("grid"),
  selection: null,
  /** All lines that scrolling can reach: groups, and their unfolded scenarios and rows. */
  lines: [],
  /** The lines that the user folded or unfolded, by key; and the last choice for all lines of a kind. */
  folded: new Map(),
  allFolded: {},
  /** The range of lines that are elements now. */
  from: 0,
  to: 0,
  /**
   * The content of the last column: `difference` during a comparison, `title` if there is room, otherwise
   * null.
   */
  last: null,
  /** The position of the keyboard: the key of a line, and a column (-1: the heading). */
  at: { key: "", column: -1 },
};

/** Beyond these numbers, groups and scenarios are folded initially. */
const MOST_SCENARIOS = 200;
const MOST_ROWS = 80;
/** Longer names of targets are broken over several lines. */
const LONGEST_TARGET = 20;
/** The minimal width of the column of titles, in pixels. */
const LEAST_TITLE = 240;
/** The number of lines kept as elements above and below the visible ones. */
const SPARE = 15;

function isFolded(key, kind) {
  const byHand = grid.folded.get(key) ?? grid.allFolded[kind];
  if (byHand !== undefined) {
    return byHand;
  }
  return kind === "group" ? grid.selection.scenarios > MOST_SCENARIOS : grid.selection.rows > MOST_ROWS;
}

const groupKey = (name) => `group ${name}`;
const scenarioKey = ({ id }) => `scenario ${id}`;
const rowKey = (row) => `row ${row.index}`;

function makeLines() {
  grid.lines = [];
  for (const group of grid.selection.groups) {
    const key = groupKey(group.name);
    const folded = isFolded(key, "group");
    grid.lines.push({ kind: "group", key, name: group.name, tallies: group.tallies, folded, of: group });
    for (const scenario of folded ? [] : group.scenarios) {
      const { id, title } = scenario.scenario;
      const key = scenarioKey(scenario.scenario);
      const folded = isFolded(key, "scenario");
      const name = id.startsWith(`${group.name}/`) ? id.slice(group.name.length + 1) : id;
      grid.lines.push({ kind: "scenario", key, name, title, tallies: scenario.tallies, folded, of: scenario });
      for (const row of folded ? [] : scenario.rows) {
        grid.lines.push({ kind: "row", key: rowKey(row), name: row.variant, row });
      }
    }
  }
}

/**
 * Returns the widths of the columns in characters: every tally fits, and target names up to LONGEST_TARGET.
 */
function widths() {
  const { columns, compared } = grid.selection;
  const result = columns.map((column, index) => {
    const texts = grid.selection.groups
      .flatMap((group) => [group, ...group.scenarios])
      .map(({ tallies }) => {
        const counts = [...tallies[index]].filter((count) => count > 0);
        return counts.reduce((length, count) => length + 3 + String(count).length, 2);
      });
    return Math.max(5, (column.backend || "not run").length + 2, ...texts);
  });
  columns.forEach(({ target }, index) => {
    if (compared || columns[index + 1]?.target !== target) {
      const own = compared ? [index] : [...columns.keys()].filter((other) => columns[other].target === target);
      const together = own.reduce((sum, other) => sum + result[other], 0);
      result[index] += Math.max(0, Math.min(target.length, LONGEST_TARGET) + 2 - together);
    }
  });
  return result;
}

/** Creates the headings: targets above their backends. */
function showHeadings() {
  const { columns, compared } = grid.selection;
  const group = grid.table.querySelector("colgroup");
  group.replaceChildren(element("col", { class: "heading" }));
  for (const characters of widths()) {
    const col = element("col");
    col.style.width = `${characters}ch`;
    group.append(col);
  }
  const targets = element(
    "tr",
    { "aria-rowindex": 1 },
    element("th", { scope: "col", rowspan: 2, class: "corner" }, "Scenario"),
  );
  const backends = element("tr", { "aria-rowindex": 2 });
  for (let index = 0; index < columns.length;) {
    const { target, kind, note } = columns[index];
    let end = index + 1;
    while (!compared && end < columns.length && columns[end].target === target) {
      end += 1;
    }
    targets.append(element("th", { scope: "colgroup", colspan: end - index, class: "target" }, target));
    for (; index < end; index += 1) {
      const name = kind === NOT_RUN ? "not run" : columns[index].backend;
      backends.append(
        element("th", { scope: "col", title: kind === NOT_RUN ? note : columns[index].note || null }, name),
      );
    }
  }
  grid.table.tHead.replaceChildren(targets, backends);
  const free = grid.box.clientWidth - grid.table.offsetWidth;
  grid.last = compared ? "difference" : free >= LEAST_TITLE ? "title" : null;
  if (grid.last !== null) {
    const col = element("col", { class: grid.last });
    col.style.width = `${Math.max(free, LEAST_TITLE)}px`;
    group.append(col);
    const heading = grid.last === "difference" ? "Difference" : "Title";
    targets.append(element("th", { scope: "col", rowspan: 2, class: "last" }, heading));
  }
}

function lineElement(line, index) {
  const attributes = { "data-line": index, "aria-rowindex": index + 3, class: line.kind };
  const fold = line.kind !== "row";
  const heading = element("th", { scope: "row", "data-column": -1, tabindex: fold ? null : -1 });
  if (fold) {
    const size = line.kind === "group" ? line.of.scenarios.length : line.of.rows.length;
    heading.append(
      button([line.name, " ", element("span", { class: "size" }, String(size))], () => toggle(line), {
        class: "fold",
        tabindex: -1,
        "aria-expanded": String(!line.folded),
        title: line.title || null,
      }),
    );
  } else {
    heading.append(line.name);
  }
  const result = element("tr", attributes, heading);
  grid.selection.columns.forEach((column, columnIndex) =>
    result.append(fold ? tallyElement(line, columnIndex) : cellElement(line.row, column, columnIndex)),
  );
  if (grid.last !== null) {
    const text = grid.last === "difference" ? differenceOf(line) : [line.title ?? ""];
    result.append(element("td", { class: "last", "data-column": grid.selection.columns.length, tabindex: -1 }, text));
  }
  return result;
}

function differenceOf(line) {
  const found = line.row && grid.selection.differences.get(line.row);
  return found ? [element("b", {}, found.what), `: ${found.one} ≠ ${found.other}`] : [];
}

function tallyElement(line, columnIndex) {
  const notRun = grid.selection.columns[columnIndex].kind === NOT_RUN;
  const parts = notRun ? ["·"] : tallyParts(line.tallies[columnIndex]);
  return element(
    "td",
    { class: "tallies", "data-column": columnIndex, tabindex: -1, "aria-label": notRun ? "not run" : null },
    parts,
  );
}

function cellElement(row, column, columnIndex) {
  const cell = row.cells[column.index];
  if (cell === null) {
    const label = column.kind === NOT_RUN ? "not run" : "no such cell";
    const sign = column.kind === NOT_RUN ? "·" : "-";
    return element("td", { class: "nothing", "data-column": columnIndex, tabindex: -1, "aria-label": label }, sign);
  }
  const status = statusOf(cell);
  const matches = grid.selection.matching.has(cell);
  const differs = grid.selection.compared ? " differs" : "";
  const opens = button(status.letter, () => openCell(cell), {
    class: `cell ${matches ? status.style : "unasked"}${differs}`,
    tabindex: -1,
    "aria-label": `${status.letter} ${status.label}: ${idOf(cell)} on ${column.target}`,
    "aria-haspopup": "dialog",
  });
  return element("td", { "data-column": columnIndex }, opens);
}

/** Returns the element of a field that takes the focus. */
const focusable = (field) => field?.querySelector("button") ?? field;

function fieldElement({ key, column }) {
  const index = grid.lines.findIndex((line) => line.key === key);
  return grid.table.querySelector(`#lines > tr[data-line="${index}"] > [data-column="${column}"]`);
}

const lineHeight = () => byId("lines").rows[0]?.getBoundingClientRect().height || 28;

/** Creates elements for the visible lines, unless they exist already and `force` is false. */
function showLines(force) {
  const height = lineHeight();
  const head = grid.table.tHead.offsetHeight;
  const first = Math.max(0, Math.floor(grid.box.scrollTop / height));
  const last = first + Math.ceil((grid.box.clientHeight - head) / height) + 1;
  if (!force && first >= grid.from && Math.min(last, grid.lines.length) <= grid.to) {
    return;
  }
  const hadFocus = byId("lines").contains(document.activeElement) || document.activeElement === grid.box;
  grid.from = Math.max(0, first - SPARE);
  grid.to = Math.min(grid.lines.length, last + SPARE);
  const shown = grid.lines.slice(grid.from, grid.to).map((line, index) => lineElement(line, grid.from + index));
  byId("lines").replaceChildren(...shown);
  const spaces = grid.table.querySelectorAll(".space");
  const across = grid.selection.columns.length + (grid.last === null ? 1 : 2);
  [grid.from, grid.lines.length - grid.to].forEach((count, index) => {
    const cell = element("td", { colspan: across });
    cell.style.height = `${count * height}px`;
    spaces[index].replaceChildren(...(count > 0 ? [element("tr", {}, cell)] : []));
  });
  setTabStop();
  if (hadFocus) {
    // If the focused line was scrolled out of sight, the box gets the focus, and the keys still start at
    // `grid.at`.
    (focusable(fieldElement(grid.at)) ?? grid.box).focus({ preventScroll: true });
  }
}

/** Puts one field into the tab order: the one at the position of the keyboard, or the first one. */
function setTabStop() {
  for (const former of grid.table.querySelectorAll('#lines [tabindex="0"]')) {
    former.tabIndex = -1;
  }
  const field = focusable(fieldElement(grid.at)) ?? focusable(byId("lines").querySelector("[data-column]"));
  if (field) {
    field.tabIndex = 0;
  }
}

/** Shows a selection. */
function showGrid(selection) {
  const columnsOf = (selection) => selection?.columns.map((column) => column.index).join() + selection?.compared;
  const sameColumns = columnsOf(grid.selection) === columnsOf(selection);
  grid.selection = selection;
  makeLines();
  if (!grid.lines.some((line) => line.key === grid.at.key)) {
    grid.at = { key: grid.lines[0]?.key ?? "", column: -1 };
  }
  showHeadings();
  if (!sameColumns) {
    grid.box.scrollLeft = 0;
  }
  refreshLines();
}

function refreshLines() {
  grid.table.setAttribute("aria-rowcount", grid.lines.length + 2);
  grid.table.setAttribute("aria-colcount", grid.selection.columns.length + (grid.last === null ? 1 : 2));
  showLines(true);
  // The second call knows the height of a line.
  showLines(true);
}

function toggle(line) {
  grid.folded.set(line.key, !line.folded);
  grid.at = { key: line.key, column: -1 };
  makeLines();
  refreshLines();
  focusField();
}

function foldAll(folded) {
  grid.folded.clear();
  grid.allFolded = { group: folded, scenario: folded };
  makeLines();
  grid.box.scrollTop = 0;
  refreshLines();
}

/** Scrolls to the position of the keyboard, and focuses the field there. */
function focusField() {
  const index = grid.lines.findIndex((line) => line.key === grid.at.key);
  const height = lineHeight();
  const room = grid.box.clientHeight - grid.table.tHead.offsetHeight;
  const top = index * height;
  if (top < grid.box.scrollTop) {
    grid.box.scrollTop = top;
  } else if (top + height > grid.box.scrollTop + room) {
    grid.box.scrollTop = top + height - room;
  }
  showLines(false);
  setTabStop();
  const field = fieldElement(grid.at);
  focusable(field)?.focus({ preventScroll: true });
  if (grid.at.column >= 0 && field) {
    const heading = field.parentElement.firstElementChild.offsetWidth;
    const [left, right] = [field.offsetLeft - heading, field.offsetLeft + field.offsetWidth - grid.box.clientWidth];
    grid.box.scrollLeft = Math.max(Math.min(grid.box.scrollLeft, left), right);
  }
}

/**
 * Unfolds the group and the scenario of a cell, and focuses it. Returns false if the cell does not match the
 * query.
 */
function focusCell(cell) {
  if (!grid.selection.matching.has(cell)) {
    return false;
  }
  const row = rows[cell[ROW]];
  grid.folded.set(groupKey(row.scenario.group), false).set(scenarioKey(row.scenario), false);
  makeLines();
  refreshLines();
  grid.at = { key: rowKey(row), column: grid.selection.columns.findIndex((column) => column.index === cell[COLUMN]) };
  focusField();
  return true;
}

function moveBy(event) {
  const last = grid.lines.length - 1;
  const end = grid.selection.columns.length - (grid.last === null ? 1 : 0);
  let line = Math.max(
    0,
    grid.lines.findIndex(({ key }) => key === grid.at.key),
  );
  let { column } = grid.at;
  const screen = Math.max(1, Math.floor((grid.box.clientHeight - grid.table.tHead.offsetHeight) / lineHeight()) - 1);
  const across = event.ctrlKey || event.metaKey;
  const moves = {
    ArrowDown: () => (line += 1),
    ArrowUp: () => (line -= 1),
    ArrowRight: () => (column += 1),
    ArrowLeft: () => (column -= 1),
    PageDown: () => (line += screen),
    PageUp: () => (line -= screen),
    Home: () => ((column = -1), (line = across ? 0 : line)),
    End: () => ((column = end), (line = across ? last : line)),
  };
  const isArrow = event.key.startsWith("Arrow");
  if (!(event.key in moves) || event.altKey || event.shiftKey || (across && isArrow) || last < 0) {
    return;
  }
  moves[event.key]();
  event.preventDefault();
  const key = grid.lines[Math.min(last, Math.max(0, line))].key;
  grid.at = { key, column: Math.min(end, Math.max(-1, column)) };
  focusField();
}

grid.box.tabIndex = -1;
grid.box.addEventListener("scroll", () => showLines(false), { passive: true });
grid.box.addEventListener("keydown", (event) => {
  moveBy(event);
  const tallies = event.target.closest?.("td.tallies");
  if (tallies && (event.key === "Enter" || event.key === " ")) {
    event.preventDefault();
    toggle(grid.lines[tallies.parentElement.dataset.line]);
  }
});
grid.table.addEventListener("click", (event) => {
  const tallies = event.target.closest("td.tallies");
  if (tallies) {
    toggle(grid.lines[tallies.parentElement.dataset.line]);
  }
});
// A click or the tab key also moves the position of the keyboard.
grid.table.addEventListener("focusin", (event) => {
  const field = event.target.closest("[data-column]");
  const line = field && grid.lines[field.parentElement.dataset.line];
  if (line) {
    grid.at = { key: line.key, column: Number(field.dataset.column) };
    setTabStop();
  }
});
new ResizeObserver(() => {
  if (grid.selection !== null) {
    showHeadings();
    refreshLines();
  }
}).observe(grid.box);
