/** What the selected bead says, in a place that does not move. */

import type { MemoryView } from "lukasa-client";
import { day } from "../../base/dates.ts";
import { usePreferences } from "../../base/preferences.ts";
import { certaintyOf, sourceOf } from "../../data/select.ts";
import { shownContent } from "../../data/shown-content.ts";
import type { OpenMemory } from "../../features/memory/actions.ts";
import { areaClass } from "../../features/memory/area-colours.ts";
import { AreaDot } from "../../features/memory/area-dot.tsx";
import { t } from "../../i18n/index.ts";
import { Button } from "../../ui/button.tsx";
import { classes } from "../../ui/classes.ts";
import { useAreaName } from "./shape-board.tsx";
import { shapeOf } from "./shape-kinds.ts";
import type { Bead, TimeOf } from "./shape-layout.ts";
import { OneBead } from "./shape-marks.tsx";

/** Of a bead of many, so many memories are listed; zooming in shows the others. */
const MAX_LISTED = 50;

export function BeadCaption({
  bead,
  dateOf,
  onOpen,
}: {
  bead: Bead | undefined;
  dateOf: TimeOf;
  onOpen: OpenMemory;
}) {
  const nameOf = useAreaName();
  const { timeZone } = usePreferences();
  const frame = "h-20 max-sm:h-28 shrink-0 border-t px-4 sm:px-6";
  const [memory] = bead?.memories ?? [];
  if (!bead || !memory) return <div className={frame} />;
  const domain = memory.domain ?? "";
  const area = (
    <span className="inline-flex items-center gap-1.5">
      <AreaDot domain={domain} />
      <bdi>{nameOf(domain)}</bdi>
    </span>
  );
  if (bead.memories.length > 1) {
    const last = bead.memories.at(-1) ?? memory;
    return (
      <section
        aria-label={t("memory.shape.selected")}
        className={classes(frame, "flex gap-4 py-2")}
      >
        <div className="flex w-44 shrink-0 flex-col items-start gap-1 max-sm:w-28">
          <p className="text-meta">{area}</p>
          <p className="text-fine text-muted">
            {t("memory.count", { count: bead.memories.length })} ·{" "}
            {period(dateOf(memory), dateOf(last), timeZone)}
          </p>
        </div>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard */}
        <ul tabIndex={0} className="min-w-0 flex-1 overflow-y-auto">
          {bead.memories.slice(0, MAX_LISTED).map((one) => (
            <li key={one.id}>
              <Sentence memory={one} onOpen={onOpen} short />
            </li>
          ))}
        </ul>
      </section>
    );
  }
  return (
    <section
      aria-label={t("memory.shape.selected")}
      className={classes(frame, "flex items-center gap-3")}
    >
      <svg
        viewBox="-12 -12 24 24"
        className={classes("size-7 shrink-0", areaClass(domain))}
        aria-hidden
      >
        <OneBead shape={shapeOf(memory)} radius={10} />
      </svg>
      <div className="min-w-0 flex-1">
        <Sentence memory={memory} onOpen={onOpen} />
        <p className="truncate text-fine text-muted">
          {area} · {day(dateOf(memory), timeZone)} · {t(`shell.tier.${certaintyOf(memory)}`)} ·{" "}
          {t(`shell.origin.${sourceOf(memory)}`)}
        </p>
      </div>
      <Button small onClick={() => onOpen(memory)} className="max-sm:hidden">
        {t("memory.open")}
      </Button>
    </section>
  );
}

function period(from: number, to: number, timeZone: string | null): string {
  const [first, last] = [day(Math.min(from, to), timeZone), day(Math.max(from, to), timeZone)];
  return first === last ? first : `${first} – ${last}`;
}

function Sentence({
  memory,
  onOpen,
  short,
}: {
  memory: MemoryView;
  onOpen: OpenMemory;
  short?: boolean;
}) {
  return (
    <button
      type="button"
      onClick={() => onOpen(memory)}
      className={classes(
        "block min-h-6 w-full text-start hover:underline pointer-coarse:min-h-11",
        !short && "text-lead",
      )}
    >
      <span dir="auto" className={short ? "line-clamp-1" : "line-clamp-2 sm:line-clamp-1"}>
        {shownContent(memory)}
      </span>
    </button>
  );
}
