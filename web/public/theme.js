// Sets the theme before the first paint, so that nothing flashes. What it reads is written by
// src/app/preferences.ts, and src/app/theme.ts takes over once the console has loaded.
(() => {
  let said = {};
  try {
    said = JSON.parse(localStorage.getItem("lukasa.preferences") || "{}");
  } catch {
    // Whoever forbids storage gets the theme of their system.
  }
  const dark =
    said.theme === "dark" ||
    (said.theme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  document.documentElement.dataset.density = said.density === "compact" ? "compact" : "comfortable";
})();
