import type { Translation } from "../catalogues.ts";

export const filing: Translation["filing"] = {
  title: "Erinnerungen in Bereiche sortieren",
  text: "Ändere oder entferne, was nicht passt. Der Rest wird auf einmal sortiert und kann in einem Schritt rückgängig gemacht werden.",
  area: "Bereich von „{memory}“",
  save: "{count, plural, =0 {Sortieren} one {# Erinnerung sortieren} other {# Erinnerungen sortieren}}",
  more: "{count, plural, one {# weitere kann danach sortiert werden.} other {# weitere können danach sortiert werden.}}",
  off: "Einige handeln wohl von Bereichen, die aus sind. Für sie wird nichts vorgeschlagen: {areas}.",
  settings: "Bereiche in den Einstellungen",
};
