/** The colour of an area, next to its name. */
import { classes } from "../../ui/classes.ts";
import { areaClass } from "./area-colours.ts";

export function AreaDot({ domain }: { domain: string }) {
  return (
    <svg
      viewBox="-5 -5 10 10"
      className={classes("size-2.5 shrink-0", areaClass(domain))}
      aria-hidden
    >
      <circle r={4.5} className="fill-current" />
    </svg>
  );
}
