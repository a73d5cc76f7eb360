/** German. */
import type { Translation } from "../catalogues.ts";
import { activity } from "./activity.ts";
import { chat } from "./chat.ts";
import { data } from "./data.ts";
import { developer } from "./developer.ts";
import { insights } from "./insights.ts";
import { memory } from "./memory.ts";
import { panel } from "./panel.ts";
import { pause } from "./pause.ts";
import { playground } from "./playground.ts";
import { review } from "./review.ts";
import { settings } from "./settings.ts";
import { shell } from "./shell.ts";
import { sources } from "./sources.ts";

export const de: Translation = {
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
  pause,
};
