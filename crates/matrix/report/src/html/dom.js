// Creates elements. Texts from the results become text nodes only: no function here parses HTML.

const byId = (id) => document.getElementById(id);

/** Returns the data of the page, which is deflated JSON in base64. Its element goes: that frees memory, and tests wait for it. */
async function unpacked() {
  if (typeof DecompressionStream === "undefined") {
    byId("old").hidden = false;
  }
  const bytes = Uint8Array.from(atob(byId("data").textContent), (character) => character.charCodeAt(0));
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const data = await new Response(plain).json();
  byId("data").remove();
  return data;
}

/** Creates an element with these attributes and children. A string becomes a text node. */
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

/** Creates a button that calls `act`. */
function button(label, act, attributes = {}) {
  const made = element("button", { type: "button", ...attributes }, label);
  made.addEventListener("click", act);
  return made;
}

/** Creates a link to a web address. Any other address (javascript:, file:) stays text. */
function link(url, text = url) {
  let protocol = "";
  try {
    protocol = new URL(url).protocol;
  } catch {
    // Not a URL.
  }
  if (protocol !== "https:" && protocol !== "http:") {
    return element("span", {}, text);
  }
  return element("a", { href: url, rel: "noopener noreferrer", target: "_blank" }, text);
}

/** Returns the parts of a text, with links for its web addresses. */
function linked(text) {
  return text
    .split(/(https?:\/\/[^\s<>"'`]*[^\s<>"'`.,;:!?)\]])/)
    .map((part, index) => (index % 2 === 1 ? link(part) : part));
}

/**
 * Copies a text to the clipboard. Selects it instead if that is not allowed, so that it can be copied by
 * hand.
 */
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

/** Sets the fragment of the address, without an entry in the history. */
function setFragment(fragment) {
  const address = fragment === "" ? location.pathname + location.search : `#${fragment}`;
  try {
    history.replaceState(null, "", address);
  } catch {
    location.replace(`#${fragment}`);
  }
}
