// Searching, folding and copying. The fragment of the address holds the id of the open behaviour, or the
// search text.

const behaviours = [...document.querySelectorAll(".row")];
const families = [...document.querySelectorAll(".family")];
const search = byId("search");
const differing = byId("differing");

/** Returns the text that is searched: all text of the behaviour, and both names of the queue. */
const textOf = (behaviour) => behaviour.textContent.replace(/\bqueue([-@]\S*)/g, "$& epoll$1 kqueue$1").toLowerCase();
/** The search texts, filled on the first search. */
const texts = new Map();

/** Shows the behaviours that contain all words, and their number. */
function show() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  document.body.classList.toggle("only-differing", differing.checked);
  let shown = 0;
  for (const behaviour of behaviours) {
    if (words.length > 0 && !texts.has(behaviour)) {
      texts.set(behaviour, textOf(behaviour));
    }
    const found = words.every((word) => texts.get(behaviour).includes(word));
    behaviour.hidden = !found || (differing.checked && behaviour.querySelector(".differs") === null);
    shown += behaviour.hidden ? 0 : 1;
  }
  for (const family of families) {
    family.hidden = family.querySelector(".row:not([hidden])") === null;
  }
  byId("shown").textContent = `${shown} of ${behaviours.length} behaviours`;
}

/** Applies the address: opens a behaviour, or searches for a text. */
function follow() {
  let fragment = "";
  try {
    fragment = decodeURIComponent(location.hash.slice(1));
  } catch {
    // The fragment was not written by this page.
  }
  const behaviour = behaviours.find(({ id }) => id === fragment);
  if (behaviour !== undefined) {
    search.value = "";
    differing.checked = false;
    show();
    behaviour.open = true;
    behaviour.scrollIntoView();
  } else {
    search.value = fragment.startsWith("text=") ? fragment.slice("text=".length) : search.value;
    show();
  }
}

byId("clear").addEventListener("click", () => {
  search.value = "";
  differing.checked = false;
  show();
  setFragment("");
});
search.addEventListener("input", () => {
  show();
  setFragment(search.value === "" ? "" : `text=${encodeURIComponent(search.value)}`);
});
differing.addEventListener("change", show);
const foldAll = (open) => behaviours.filter(({ hidden }) => !hidden).forEach((behaviour) => (behaviour.open = open));
byId("unfold").addEventListener("click", () => foldAll(true));
byId("fold").addEventListener("click", () => foldAll(false));
for (const behaviour of behaviours) {
  behaviour.querySelector("summary").addEventListener("click", () => {
    // The click has not changed `open` yet.
    if (!behaviour.open && search.value === "") {
      setFragment(behaviour.id);
    }
  });
}
for (const command of document.querySelectorAll(".command")) {
  const shown = command.querySelector("pre");
  const scenario = command.parentElement.querySelector("code").textContent;
  const label = `Copy the command of ${scenario}`;
  const press = button("Copy", () => copy(shown.textContent, shown, press), { "aria-label": label });
  command.append(press);
}
addEventListener("hashchange", follow);

byId("filters").hidden = false;
follow();
