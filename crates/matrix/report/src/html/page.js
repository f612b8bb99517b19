// The controls, the address and the keys.

let query = readFragment(location.hash);

/** Shows the cells that match the query, and writes the query into the address. */
function show() {
  performance.mark("filter-begins");
  const selection = select(query);
  showGrid(selection);
  byId("shown").textContent = describe(selection, query);
  performance.measure("filter", "filter-begins");
  showAddress();
}

function showAddress() {
  setFragment(writeFragment(query));
}

/** Records the open cell in the query and the address. */
function setCell(cell) {
  query.cell = cell;
  showAddress();
}

/** Creates the buttons of a facet, any number of which can be pressed. */
function facetElement(facet) {
  const chosen = () => query.chosen[facet.name];
  const choices = facet.values.map(({ value, count }) => {
    const status = facet.name === "status" ? STATUSES.find(({ name }) => name === value) : null;
    const label = [
      status === null ? null : badge(status),
      element("span", {}, status === null ? value : status.label),
      element("span", { class: "size" }, String(count)),
    ];
    const press = button(label, () => {
      if (!chosen().delete(value)) {
        chosen().add(value);
      }
      showControls();
      show();
    });
    press.className = "chip";
    press.dataset.facet = facet.name;
    press.dataset.value = value;
    return press;
  });
  if (facet.name === "backend" && hasAbsent) {
    const press = button("show absent backends", () => {
      query.absent = !query.absent;
      showControls();
      show();
    });
    press.className = "chip";
    press.id = "absent";
    choices.push(press);
  }
  return element(
    "div",
    { role: "group", class: "facet", "aria-label": facet.label },
    element("span", { class: "label", "aria-hidden": "true" }, facet.label),
    choices,
  );
}

function makeControls() {
  byId("facets").append(...FACETS.filter((facet) => facet.values.length > 1).map(facetElement));
  const comparable = columns.filter((column) => column.kind !== NOT_RUN);
  for (const id of ["compare-a", "compare-b"]) {
    const options = comparable.map((column) => element("option", { value: column.index }, column.name));
    byId(id).append(element("option", { value: "" }, "–"), ...options);
  }
}

/** Updates the controls from the query. */
function showControls() {
  const compared = query.one !== null && query.other !== null;
  for (const press of byId("facets").querySelectorAll(".chip")) {
    const { facet, value } = press.dataset;
    const pressed = press.id === "absent" ? query.absent : query.chosen[facet].has(value);
    press.setAttribute("aria-pressed", String(pressed));
    // While two columns are compared, the filters of columns have no effect.
    press.disabled =
      compared && (press.id === "absent" || FACETS.some(({ name, ofColumn }) => name === facet && ofColumn));
  }
  byId("search").value = query.text;
  byId("compare-a").value = query.one?.index ?? "";
  byId("compare-b").value = query.other?.index ?? "";
  byId("compare-in").value = query.within;
}

/** Changes the query, and shows the result. */
function changeQuery(change) {
  Object.assign(query, change);
  showControls();
  show();
}

/** Reads the query from the address, applies it, and opens the cell in it. */
function follow() {
  query = readFragment(location.hash);
  const { cell, missing } = query;
  showControls();
  show();
  if (missing !== null) {
    byId("shown").textContent += `. This report has no cell ${missing}`;
  }
  if (cell !== null) {
    openCell(cell);
  } else if (panel.open) {
    panel.close();
  }
}

byId("clear").addEventListener("click", () => {
  changeQuery({ ...emptyQuery(), cell: query.cell });
});
const chosenColumn = (event) => columns[event.target.value || -1] ?? null;
byId("search").addEventListener("input", (event) => changeQuery({ text: event.target.value }));
byId("compare-a").addEventListener("change", (event) => changeQuery({ one: chosenColumn(event) }));
byId("compare-b").addEventListener("change", (event) => changeQuery({ other: chosenColumn(event) }));
byId("compare-in").addEventListener("change", (event) => changeQuery({ within: event.target.value }));
byId("unfold").addEventListener("click", () => foldAll(false));
byId("fold").addEventListener("click", () => foldAll(true));
byId("keys-button").addEventListener("click", () => byId("keys").showModal());
byId("single-keys").addEventListener("change", (event) => remembered.set("keys", event.target.checked ? "on" : "off"));
for (const dialog of document.querySelectorAll("dialog")) {
  dialog.addEventListener("click", (event) => {
    const { left, right, top, bottom } = dialog.getBoundingClientRect();
    const { clientX: x, clientY: y } = event;
    // A click from the keyboard has no position. A click on the backdrop has the dialog as its target, and a
    // position outside of it.
    const beside = event.target === dialog && event.detail > 0 && (x < left || x > right || y < top || y > bottom);
    if (beside || event.target.closest("[data-close]")) {
      dialog.close();
    }
  });
}
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest?.("input, select, textarea");
  if (typing || event.ctrlKey || event.metaKey || event.altKey || !byId("single-keys").checked) {
    return;
  }
  const step = { j: 1, k: -1 }[event.key];
  if (panel.open && step !== undefined) {
    panel.querySelector(`[data-step="${step}"]`).click();
  } else if (document.querySelector("dialog[open]") !== null) {
    return;
  } else if (event.key === "/") {
    byId("filters").open = true;
    byId("search").focus();
  } else if (event.key === "?") {
    byId("keys").showModal();
  } else {
    return;
  }
  event.preventDefault();
});
addEventListener("hashchange", () => {
  // The page's own changes of the address need no action.
  if (location.hash.replace(/^#/, "") !== writeFragment(query)) {
    follow();
  }
});

byId("matrix").hidden = false;
byId("by-scenario").remove();
byId("single-keys").checked = remembered.get("keys") !== "off";
byId("filters").open = matchMedia("(min-width: 48rem)").matches;
makeControls();
follow();
performance.measure("open", { start: 0 });
