// Filters the rows of the matrix. The fragment of the address is a family's, or holds the text: #text=pipe

const entries = [...document.querySelectorAll(".entry")];
const families = [...document.querySelectorAll(".family")];
const texts = entries.map((entry) => entry.textContent.toLowerCase());
const [search, differing] = [byId("search"), byId("differing")];

function show() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  entries.forEach((entry, place) => {
    const found = words.every((word) => texts[place].includes(word));
    entry.hidden = !found || (differing.checked && !entry.classList.contains("differs"));
    shown += entry.hidden ? 0 : 1;
  });
  for (const family of families) {
    family.hidden = family.querySelector(".entry:not([hidden])") === null;
  }
  byId("shown").textContent = `${shown} of ${entries.length} rows`;
}

function follow() {
  try {
    const fragment = decodeURIComponent(location.hash.slice(1));
    search.value = fragment.startsWith("text=") ? fragment.slice("text=".length) : search.value;
  } catch {
    // The fragment was not written by this page.
  }
  show();
}

search.addEventListener("input", () => {
  show();
  history.replaceState(null, "", search.value === "" ? location.pathname : `#text=${encodeURIComponent(search.value)}`);
});
differing.addEventListener("change", show);
byId("filters").addEventListener("submit", (event) => event.preventDefault());
addEventListener("hashchange", follow);
byId("filters").hidden = false;
follow();
