// The button that switches to the next theme.

function showTheme(theme) {
  const button = byId("theme-button");
  button.textContent = `Theme: ${theme}`;
  button.dataset.theme = theme;
  button.hidden = false;
}

byId("theme-button").addEventListener("click", (event) => {
  const theme = THEMES[(THEMES.indexOf(event.currentTarget.dataset.theme) + 1) % THEMES.length];
  remembered.set("theme", theme);
  applyTheme(theme);
  showTheme(theme);
});

{
  const theme = remembered.get("theme");
  showTheme(THEMES.includes(theme) ? theme : "system");
}
