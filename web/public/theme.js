// Sets the theme before the first paint, so that nothing flashes. It reads what src/base/preferences.ts
// stores, and src/app/theme.ts takes over once the console has loaded.
(() => {
  let stored = {};
  try {
    stored = JSON.parse(localStorage.getItem("lukasa.preferences") || "{}");
  } catch {
    // Storage is forbidden: use the theme of the system.
  }
  const dark =
    stored.theme === "dark" ||
    (stored.theme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  document.documentElement.dataset.density =
    stored.density === "compact" ? "compact" : "comfortable";
})();
