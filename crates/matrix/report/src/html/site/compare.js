// Compares two systems or two pollers. The fragment of the address holds both: #linux..freebsd.

const { systems, rows, texts, names, asked: compact } = await unpacked();
/** The answers of each question by the number of the side: `0:12,14 3:9` are those of two. */
const asked = compact.map(([row, state, question, answers]) => ({
  row,
  state: names[state],
  question: names[question],
  answers: new Map(answers.split(" ").map((side) => side.split(":")).map(([side, of]) => [Number(side), of.split(",").map(Number)])),
}));
const [first, second] = [byId("first"), byId("second")];
const table = document.querySelector("#differences table");

const number = (select) => select.selectedIndex;
const name = (select) => select.selectedOptions[0].textContent;

/** Whether two lists of allowed answers have one in common: the same meaning, or the same notation. A `*` matches any text. */
function agree(one, two) {
  const matches = (pattern, text) => {
    const parts = pattern.split("*").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    return new RegExp(`^${parts.join("[^]*")}$`).test(text);
  };
  const same = ([text, means], [other, alsoMeans]) =>
    text === other || (means !== "" && means === alsoMeans) || matches(text, other) || matches(other, text);
  return one.some((answer) => two.some((other) => same(texts[answer], texts[other])));
}

/** Answers in common words, with the notation beside them. */
function words(answers) {
  return answers.flatMap((answer, index) => {
    const [text, means] = texts[answer];
    const code = element("code", {}, text);
    const shown = means === "" ? [code] : [`${means} `, element("small", {}, code)];
    return index === 0 ? shown : [" or ", ...shown];
  });
}

function show(problem = "") {
  for (const body of table.querySelectorAll("tbody")) {
    body.remove();
  }
  byId("differences").hidden = true;
  if (problem !== "") {
    byId("shown").textContent = problem;
    return;
  }
  if (number(first) === number(second)) {
    byId("shown").textContent = "Choose another one beside it.";
    return;
  }
  const [one, two] = [number(first), number(second)];
  // Systems have a question to their queue under its own name, too.
  const isTwice = (question) => one < systems && two < systems && question.startsWith("poller");
  const both = asked
    .filter(({ question, answers }) => answers.has(one) && answers.has(two) && !isTwice(question))
    .map(({ answers, ...rest }) => ({ ...rest, ours: answers.get(one), theirs: answers.get(two) }));
  const differing = both.filter(({ ours, theirs }) => !agree(ours, theirs));
  let body;
  let last = -1;
  for (const { row, state, question, ours, theirs } of byId("all").checked ? both : differing) {
    if (row !== last) {
      last = row;
      const heading = element("a", { href: rows[row].path }, rows[row].title);
      body = element("tbody", {}, element("tr", { class: "state" }, element("th", { scope: "rowgroup", colspan: 4 }, heading)));
      table.append(body);
    }
    body.append(
      element(
        "tr",
        { class: agree(ours, theirs) ? null : "differs" },
        element("th", { scope: "row" }, question),
        element("td", {}, element("code", {}, state)),
        element("td", {}, words(ours)),
        element("td", {}, words(theirs)),
      ),
    );
  }
  byId("first-name").textContent = name(first);
  byId("second-name").textContent = name(second);
  byId("differences").hidden = body === undefined;
  byId("shown").textContent =
    both.length === 0 ? "No question was put to both." : `${differing.length} of ${both.length} answers differ`;
}

function follow() {
  const [one = "", two = ""] = location.hash.slice(1).split("..");
  const unknown = [];
  for (const [select, id] of [[first, one], [second, two]]) {
    const option = [...select.options].find(({ value }) => value === id);
    if (option !== undefined) {
      option.selected = true;
    } else if (id !== "") {
      unknown.push(id);
    }
  }
  show(unknown.length === 0 ? "" : `Nothing here is called ${unknown.join(" or ")}. Choose above.`);
}

for (const control of [first, second]) {
  control.addEventListener("change", () => {
    show();
    setFragment(`${first.value}..${second.value}`);
  });
}
byId("all").addEventListener("change", () => show());
byId("sides").hidden = false;
if (second.options.length > 1) {
  second.selectedIndex = 1;
}
addEventListener("hashchange", follow);
follow();
