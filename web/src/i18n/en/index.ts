/** All English messages, one file per page: the fallback of every other language. */
import { activity } from "./activity.ts";
import { detail } from "./detail.ts";
import { developer } from "./developer.ts";
import { filing } from "./filing.ts";
import { first } from "./first.ts";
import { insights } from "./insights.ts";
import { model } from "./model.ts";
import { pause } from "./pause.ts";
import { playground } from "./playground.ts";
import { reveal } from "./reveal.ts";
import { review } from "./review.ts";

export const en = {
  ...first,
  detail,
  playground,
  insights,
  activity,
  developer,
  filing,
  model,
  pause,
  reveal,
  review,
};
