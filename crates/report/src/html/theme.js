"use strict";
// In the head, before anything is painted. Storage may be refused: from file://, or by a setting.
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
      // It holds until the page is left.
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
