"use strict";
// Runs in the head, before the first paint. Storage may be unavailable: for file:// addresses, or by a
// setting.
const remembered = {
  get(key) {
    try {
      return localStorage.getItem(`pollmatrix-${key}`);
    } catch {
      return null;
    }
  },
  set(key, value) {
    try {
      localStorage.setItem(`pollmatrix-${key}`, value);
    } catch {
      // The value is lost when the page is closed.
    }
  },
};

const THEMES = ["system", "light", "dark"];

function applyTheme(theme) {
  if (theme === "light" || theme === "dark") {
    document.documentElement.dataset.theme = theme;
  } else {
    delete document.documentElement.dataset.theme;
  }
}

applyTheme(remembered.get("theme"));
