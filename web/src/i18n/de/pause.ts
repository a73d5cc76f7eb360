import type { Translation } from "../catalogues.ts";

export const pause: Translation["pause"] = {
  pause: "Gedächtnis pausieren",
  resume: "Fortsetzen",
  resumeMemory: "Gedächtnis fortsetzen",
  help: "Während der Pause wird nichts gelernt oder gespeichert, Chats werden nicht aufbewahrt, und Assistenten sehen deine Erinnerungen nicht. Lesen, bearbeiten und löschen kannst du weiterhin.",
  title: "Das Gedächtnis ist pausiert.",
  text: "Nichts wird gelernt oder gespeichert, und Assistenten sehen deine Erinnerungen nicht.",
};
