/** All English messages, one file per page: the fallback of every other language. */
import { activity } from "./activity.ts";
import { developer } from "./developer.ts";
import { first } from "./first.ts";
import { insights } from "./insights.ts";
import { pause } from "./pause.ts";
import { playground } from "./playground.ts";

export const en = { ...first, playground, insights, activity, developer, pause };
