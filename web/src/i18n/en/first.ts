/** The English messages of the first load: the shell, and the pages and features that others use. */
import { chat } from "./chat.ts";
import { data } from "./data.ts";
import { memory } from "./memory.ts";
import { settings } from "./settings.ts";
import { shell } from "./shell.ts";
import { sources } from "./sources.ts";

export const first = { shell, memory, chat, sources, data, settings };
