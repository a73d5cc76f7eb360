/** German. */
import type { Translation } from "../catalogues.ts";
import { activity } from "./activity.ts";
import { chat } from "./chat.ts";
import { data } from "./data.ts";
import { detail } from "./detail.ts";
import { developer } from "./developer.ts";
import { filing } from "./filing.ts";
import { insights } from "./insights.ts";
import { memory } from "./memory.ts";
import { model } from "./model.ts";
import { pause } from "./pause.ts";
import { playground } from "./playground.ts";
import { reveal } from "./reveal.ts";
import { review } from "./review.ts";
import { settings } from "./settings.ts";
import { shell } from "./shell.ts";
import { sources } from "./sources.ts";

export const de: Translation = {
  shell,
  memory,
  reveal,
  review,
  chat,
  sources,
  playground,
  insights,
  activity,
  data,
  detail,
  settings,
  developer,
  filing,
  model,
  pause,
};
