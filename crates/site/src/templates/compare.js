// Compares the answers of two sides. The fragment of the address names them:
// #left=linux-6.18.44/epoll&right=freebsd-12.3.5/kqueue

const { rows, questions, texts, sides } = JSON.parse(byId("data").textContent);
const [left, right, all] = [byId("left"), byId("right"), byId("all")];

for (const select of [left, right]) {
  select.append(...sides.map(({ id, name }) => element("option", { value: id }, name)));
}

/** Returns the answers of a side: the text by the number of its question. */
function answersOf(id) {
  const answers = new Map();
  const packed = sides.find((side) => side.id === id)?.answers ?? [];
  for (let place = 0; place < packed.length; place += 2) {
    answers.set(packed[place], packed[place + 1]);
  }
  return answers;
}

const code = (text) => element("code", {}, text);

/** Returns the row of one question. */
function line(number, one, two) {
  const [row, state, asked] = questions[number];
  const [id, path] = rows[row];
  const fields = [state, asked].map((text) => element("td", {}, code(text)));
  const answers = [one, two].map((text) => element("td", {}, code(texts[text])));
  return element(
    "tr",
    { class: one === two ? null : "differs" },
    element("th", { scope: "row" }, element("a", { href: path }, id)),
    fields,
    answers,
  );
}

function show() {
  const [one, two] = [answersOf(left.value), answersOf(right.value)];
  const common = [...one.keys()].filter((number) => two.has(number)).sort((a, b) => a - b);
  const differing = common.filter((number) => one.get(number) !== two.get(number));
  const shown = all.checked ? common : differing;
  byId("body").replaceChildren(...shown.map((number) => line(number, one.get(number), two.get(number))));
  byId("left-name").textContent = left.selectedOptions[0]?.textContent ?? "left";
  byId("right-name").textContent = right.selectedOptions[0]?.textContent ?? "right";
  byId("region").hidden = shown.length === 0;
  byId("shown").textContent =
    common.length === 0
      ? "No question is answered by both."
      : `${differing.length} of ${common.length} common questions have different answers.`;
}

/** Selects the sides that the address names. */
function follow() {
  const named = new URLSearchParams(location.hash.slice(1));
  const has = (id) => sides.some((side) => side.id === id);
  const [first, second] = [named.get("left"), named.get("right")];
  left.value = has(first) ? first : left.value || (sides[0]?.id ?? "");
  right.value = has(second) ? second : right.value || (sides[0]?.id ?? "");
  show();
}

for (const control of [left, right, all]) {
  control.addEventListener("change", () => {
    // The ids need no escape.
    history.replaceState(null, "", `#left=${left.value}&right=${right.value}`);
    show();
  });
}
byId("form").addEventListener("submit", (event) => event.preventDefault());
addEventListener("hashchange", follow);
byId("form").hidden = false;
right.selectedIndex = Math.min(1, sides.length - 1);
follow();
