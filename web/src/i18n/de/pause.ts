import type { Translation } from "../catalogues.ts";

export const pause: Translation["pause"] = {
  pause: "Gedächtnis pausieren",
  resume: "Fortsetzen",
  resumeMemory: "Gedächtnis fortsetzen",
  help: "Nichts wird gelernt oder gespeichert, auch keine Chats; Assistenten sehen nichts. Bearbeiten geht.",
  title: "Das Gedächtnis ist pausiert.",
  text: "Nichts wird gelernt oder gespeichert, und Assistenten sehen deine Erinnerungen nicht.",
};
