/** The figures of a period that are said in words. Pure. */
import type { Figures } from "./figures.ts";

export interface Facts {
  /** Memories at the end of the period, the areas that they belong to, and how many belong to none. */
  now: number;
  areas: number;
  withoutArea: number;
  new: number;
  confirmed: number;
  corrected: number;
  rejected: number;
  forgotten: number;
}

export function factsOf({ days, domains }: Pick<Figures, "days" | "domains">): Facts {
  const sum = (name: "saved" | "learned" | "confirmed" | "corrected" | "rejected" | "forgotten") =>
    days.reduce((all, day) => all + day[name], 0);
  const last = days.at(-1)?.memories;
  return {
    now: last ? last.strong + last.tentative : 0,
    areas: domains.filter((one) => one.domain && one.memories > 0).length,
    withoutArea: domains.find((one) => !one.domain)?.memories ?? 0,
    new: sum("saved") + sum("learned"),
    confirmed: sum("confirmed"),
    corrected: sum("corrected"),
    rejected: sum("rejected"),
    forgotten: sum("forgotten"),
  };
}
