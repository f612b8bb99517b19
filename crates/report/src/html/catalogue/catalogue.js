// Searching, folding, and copying. The address says which row is open, or what is looked for.

const rows = [...document.querySelectorAll(".row")];
const families = [...document.querySelectorAll(".family")];
const search = byId("search");
const differing = byId("differing");

/** What a row is found by: all that it says, and both names of the queue. */
const textOf = (row) => row.textContent.replace(/\bqueue([-@]\S*)/g, "$& epoll$1 kqueue$1").toLowerCase();
/** Made when they are first asked for. */
const texts = new Map();

/** Leaves the rows that have all the words, and says how many there are. */
function show() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  document.body.classList.toggle("only-differing", differing.checked);
  let shown = 0;
  for (const row of rows) {
    if (words.length > 0 && !texts.has(row)) {
      texts.set(row, textOf(row));
    }
    const found = words.every((word) => texts.get(row).includes(word));
    row.hidden = !found || (differing.checked && row.querySelector(".differs") === null);
    shown += row.hidden ? 0 : 1;
  }
  for (const family of families) {
    family.hidden = family.querySelector(".row:not([hidden])") === null;
  }
  byId("shown").textContent = `${shown} of ${rows.length} rows`;
}

function setAddress(fragment) {
  const address = fragment === "" ? location.pathname + location.search : `#${fragment}`;
  try {
    history.replaceState(null, "", address);
  } catch {
    location.replace(`#${fragment}`);
  }
}

/** Does what the address asks for: opens a row, or looks for a text. */
function follow() {
  let fragment = "";
  try {
    fragment = decodeURIComponent(location.hash.slice(1));
  } catch {
    // Not one of this page's.
  }
  const row = rows.find(({ id }) => id === fragment);
  if (row !== undefined) {
    search.value = "";
    differing.checked = false;
    show();
    row.open = true;
    row.scrollIntoView();
  } else {
    search.value = fragment.startsWith("text=") ? fragment.slice("text=".length) : search.value;
    show();
  }
}

byId("filters").addEventListener("submit", (event) => event.preventDefault());
byId("filters").addEventListener("reset", (event) => {
  event.preventDefault();
  search.value = "";
  differing.checked = false;
  show();
  setAddress("");
});
search.addEventListener("input", () => {
  show();
  setAddress(search.value === "" ? "" : `text=${encodeURIComponent(search.value)}`);
});
differing.addEventListener("change", show);
const foldAll = (open) => rows.filter((row) => !row.hidden).forEach((row) => (row.open = open));
byId("unfold").addEventListener("click", () => foldAll(true));
byId("fold").addEventListener("click", () => foldAll(false));
for (const row of rows) {
  row.querySelector("summary").addEventListener("click", () => {
    // It is still as it was before.
    if (!row.open && search.value === "") {
      setAddress(row.id);
    }
  });
}
for (const command of document.querySelectorAll(".command")) {
  const shown = command.querySelector("pre");
  const of = command.parentElement.querySelector("code").textContent;
  const press = button("Copy", () => copy(shown.textContent, shown, press), { "aria-label": `Copy the command of ${of}` });
  command.append(press);
}
addEventListener("hashchange", follow);

byId("filters").hidden = false;
follow();
