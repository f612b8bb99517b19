// Elements. Whatever comes from the results becomes text and nothing else: there is no other way here.

const byId = (id) => document.getElementById(id);

/** An element with these attributes and children. Children that are texts stay texts. */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) {
    if (value === true) {
      made.setAttribute(attribute, "");
    } else if (value !== null && value !== false) {
      made.setAttribute(attribute, value);
    }
  }
  made.append(...children.flat().filter((child) => child !== null));
  return made;
}

/** A button that does something. */
function button(label, act, attributes = {}) {
  const made = element("button", { type: "button", ...attributes }, label);
  made.addEventListener("click", act);
  return made;
}

/** A link, if it leads to the web; anything else (javascript:, file:) stays the text that it is. */
function link(url, text = url) {
  let protocol = "";
  try {
    protocol = new URL(url).protocol;
  } catch {
    // No URL.
  }
  if (protocol !== "https:" && protocol !== "http:") {
    return element("span", {}, text);
  }
  return element("a", { href: url, rel: "noopener noreferrer", target: "_blank" }, text);
}

/** A text whose addresses are links. */
function linked(text) {
  return text
    .split(/(https?:\/\/[^\s<>"'`]*[^\s<>"'`.,;:!?)\]])/)
    .map((part, index) => (index % 2 === 1 ? link(part) : part));
}

/** Puts a text on the clipboard; where that is not allowed, selects it, so that it can be copied by hand. */
async function copy(text, shown, button) {
  const label = button.dataset.label ?? button.textContent;
  button.dataset.label = label;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(shown);
    button.textContent = "Selected: copy it";
  }
  setTimeout(() => (button.textContent = label), 2000);
}
