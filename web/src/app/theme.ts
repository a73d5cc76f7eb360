/** Applies the preferred theme and density, also when the system's theme changes. */
import { preferences, subscribe } from "../base/preferences.ts";

const dark = matchMedia("(prefers-color-scheme: dark)");

function apply(): void {
  const { theme, density } = preferences();
  const root = document.documentElement;
  root.dataset.theme = theme === "system" ? (dark.matches ? "dark" : "light") : theme;
  root.dataset.density = density;
}

export function followTheme(): void {
  apply();
  subscribe(apply);
  dark.addEventListener("change", apply);
}
