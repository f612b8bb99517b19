// Compares two systems or two pollers. The fragment of the address holds both: #linux..freebsd.

const { rows, asked } = JSON.parse(byId("data").textContent);
const [first, second] = [byId("first"), byId("second")];
const table = document.querySelector("#differences table");

const number = (select) => select.selectedIndex;
const name = (select) => select.selectedOptions[0].textContent;
const group = (select) => select.selectedOptions[0].parentElement.label;
/** Whether two lists of allowed answers have one in common. A `*` matches any text. */
function agree(one, two) {
  const matches = (pattern, text) => {
    const parts = pattern.split("*").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    return new RegExp(`^${parts.join("[^]*")}$`).test(text);
  };
  return one.some((answer) => two.some((other) => answer === other || matches(answer, other) || matches(other, answer)));
}

function codes(answers) {
  return answers.flatMap((answer, index) => (index === 0 ? [element("code", {}, answer)] : [" or ", element("code", {}, answer)]));
}

function show() {
  for (const body of table.querySelectorAll("tbody")) {
    body.remove();
  }
  byId("differences").hidden = true;
  if (group(first) !== group(second)) {
    byId("shown").textContent = "Choose two systems, or two pollers.";
    return;
  }
  if (number(first) === number(second)) {
    byId("shown").textContent = "Choose another one beside it.";
    return;
  }
  const [one, two] = [number(first), number(second)];
  const both = asked.filter(({ answers }) => one in answers && two in answers);
  const differing = both.filter(({ answers }) => !agree(answers[one], answers[two]));
  let body;
  let last = -1;
  for (const { row, state, asked: question, answers } of byId("all").checked ? both : differing) {
    if (row !== last) {
      last = row;
      const heading = element("a", { href: rows[row].path }, rows[row].title);
      body = element("tbody", {}, element("tr", { class: "state" }, element("th", { scope: "rowgroup", colspan: 4 }, heading)));
      table.append(body);
    }
    body.append(
      element(
        "tr",
        { class: agree(answers[one], answers[two]) ? null : "differs" },
        element("th", { scope: "row" }, question),
        element("td", {}, element("code", {}, state)),
        element("td", {}, codes(answers[one])),
        element("td", {}, codes(answers[two])),
      ),
    );
  }
  byId("first-name").textContent = name(first);
  byId("second-name").textContent = name(second);
  byId("differences").hidden = body === undefined;
  byId("shown").textContent = `${differing.length} of ${both.length} answers differ`;
}

function follow() {
  const [one = "", two = ""] = location.hash.slice(1).split("..");
  for (const [select, id] of [[first, one], [second, two]]) {
    const option = [...select.options].find(({ value }) => value === id);
    if (option !== undefined) {
      option.selected = true;
    }
  }
  show();
}

for (const control of [first, second]) {
  control.addEventListener("change", () => {
    show();
    setFragment(`${first.value}..${second.value}`);
  });
}
byId("all").addEventListener("change", show);
byId("sides").hidden = false;
if (second.options.length > 1) {
  second.selectedIndex = 1;
}
addEventListener("hashchange", follow);
follow();
