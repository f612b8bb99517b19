// Searches the titles and texts of all pages. The fragment of the address holds the text: #text=pipe

const LIMIT = 100;
const pages = JSON.parse(byId("data").textContent);
const search = byId("search");
/** The search texts: everything about a page, in lower case. */
const texts = pages.map(([kind, title, , text]) => `${kind} ${title} ${text}`.toLowerCase());

/** Returns the places of the pages that contain all words: first those whose title does. */
function find(words) {
  const found = pages.map((_, place) => place).filter((place) => words.every((word) => texts[place].includes(word)));
  const inTitle = (place) => words.every((word) => pages[place][1].toLowerCase().includes(word));
  return [...found.filter(inTitle), ...found.filter((place) => !inTitle(place))];
}

function show() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = words.length === 0 ? [] : find(words);
  const shown = found.slice(0, LIMIT).map((place) => {
    const [kind, title, path] = pages[place];
    return element("li", {}, element("a", { href: path }, title), element("span", { class: "quiet" }, ` ${kind}`));
  });
  byId("results").replaceChildren(...shown);
  const more = found.length > LIMIT ? `, the first ${LIMIT} are shown` : "";
  byId("shown").textContent =
    words.length === 0 ? `${pages.length} pages and sections` : `${found.length} found${more}`;
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
byId("form").addEventListener("submit", (event) => event.preventDefault());
addEventListener("hashchange", follow);
byId("form").hidden = false;
follow();
