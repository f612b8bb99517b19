// The search: shows the entries that contain all words, or the nearest ones. The fragment of the address holds the text.

const entries = await unpacked();
const input = byId("search");

/** Text without case, hyphens, underscores and the prefixes of flags: `EPOLLRDHUP`, `POLLRDHUP` and `rdhup` are one word. */
const plain = (text) =>
  text
    .toLowerCase()
    .replace(/[-_/|:+()=,]+/g, " ")
    .replace(/\bwake ups?\b/g, "wakeup")
    .replace(/\b(?:epoll|poll|ev|evfilt|note) ?(in|out|pri|err|hup|rdhup|nval|et|oneshot|exclusive|wakeup|eof|clear|dispatch|receipt)\b/g, "$1");
/** The text of each entry, with both names of the queue. */
const texts = entries.map(({ title, text }) => plain(`${title} ${text}`.replace(/\bqueue([-@]\S*)/g, "$& epoll$1 kqueue$1")));
const titles = entries.map(({ title }) => plain(title));
/** As many links are quick to read and to make. */
const MOST = 200;

/** Whether a text has a word: as it is, or without the ending of a plural or a verb. A short one is the beginning of a word. */
const has = (text, word) =>
  word.length < 4
    ? ` ${text}`.includes(` ${word}`)
    : text.includes(word) || (word.length > 4 && text.includes(word.replace(/(?:ing|ed|es|s)$/, "")));

function show() {
  const words = plain(input.value).split(/\s+/).filter(Boolean);
  const hits = (text) => words.filter((word) => has(text, word)).length;
  const scored = entries.map((entry, index) => ({ entry, found: hits(texts[index]), inTitle: hits(titles[index]) }));
  const all = scored.filter(({ found }) => words.length > 0 && found === words.length);
  // Nothing has all words: those with the most.
  const best = Math.max(...scored.map(({ found }) => found));
  const near = all.length === 0 && best > 0 ? scored.filter(({ found }) => found === best) : [];
  const sorted = [...all, ...near].sort((one, other) => other.inTitle - one.inTitle);
  byId("found").replaceChildren(
    ...sorted
      .slice(0, MOST)
      .map(({ entry: { kind, path, title } }) => element("li", {}, element("a", { href: path }, title), ` (${kind})`)),
  );
  const nearest = near.length === 0 ? "" : `; ${near.length} have ${best} of the ${words.length} words`;
  byId("shown").textContent =
    words.length === 0 ? `${entries.length} entries` : `${all.length} of ${entries.length} entries${nearest}`;
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
