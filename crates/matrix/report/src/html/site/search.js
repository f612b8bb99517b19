// The search: shows the entries that contain all words. The fragment of the address holds the text.

const entries = JSON.parse(byId("data").textContent);
const input = byId("search");
/** The lower-case text of each entry, with both names of the queue. */
const texts = entries.map(({ title, text }) =>
  `${title} ${text}`.replace(/\bqueue([-@]\S*)/g, "$& epoll$1 kqueue$1").toLowerCase(),
);
/** As many links are quick to read and to make. */
const MOST = 200;

function show() {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = words.length === 0 ? [] : entries.filter((_, index) => words.every((word) => texts[index].includes(word)));
  // An entry with all words in its title comes first.
  const inTitle = ({ title }) => words.every((word) => title.toLowerCase().includes(word));
  const sorted = [...found.filter(inTitle), ...found.filter((entry) => !inTitle(entry))];
  byId("found").replaceChildren(
    ...sorted
      .slice(0, MOST)
      .map(({ kind, path, title }) => element("li", {}, element("a", { href: path }, title), ` (${kind})`)),
  );
  byId("shown").textContent = words.length === 0 ? `${entries.length} entries` : `${found.length} of ${entries.length} entries`;
}

function follow() {
  try {
    const fragment = decodeURIComponent(location.hash.slice(1));
    input.value = fragment.startsWith("text=") ? fragment.slice("text=".length) : "";
  } catch {
    // The fragment was not written by this page.
    input.value = "";
  }
  show();
}

byId("search-form").hidden = false;
input.addEventListener("input", () => {
  show();
  setFragment(input.value === "" ? "" : `text=${encodeURIComponent(input.value)}`);
});
addEventListener("hashchange", follow);
follow();
input.focus();
