/** English, the fallback of every other language. One file per page. */
import { activity } from "./activity.ts";
import { chat } from "./chat.ts";
import { data } from "./data.ts";
import { developer } from "./developer.ts";
import { insights } from "./insights.ts";
import { memory } from "./memory.ts";
import { panel } from "./panel.ts";
import { playground } from "./playground.ts";
import { review } from "./review.ts";
import { settings } from "./settings.ts";
import { shell } from "./shell.ts";
import { sources } from "./sources.ts";

export const en = {
  shell,
  memory,
  review,
  chat,
  sources,
  playground,
  insights,
  activity,
  data,
  settings,
  developer,
  panel,
};
