/** Time travel sliders: what was true on a day, and what was known on a day. */

import { X } from "lucide-react";
import type { MemoryView } from "lukasa-client";
import { useEffect, useMemo, useState } from "react";
import { day, exact } from "../../base/dates.ts";
import { usePreferences } from "../../base/preferences.ts";
import type { PointInTime } from "../../data/past.ts";
import { t } from "../../i18n/index.ts";
import { IconButton } from "../../ui/icon-button.tsx";
import { Slider } from "../../ui/slider.tsx";

const MINUTE = 60_000;
const HOUR = 3_600_000;
const DAY = 86_400_000;
/** Debounce of the slider before the server is asked. */
const SLIDER_DEBOUNCE_MS = 150;

/** The range of a slider from the first known memory to now, and its step. */
export function spanOf(first: number, now: number): { first: number; step: number; steps: number } {
  const long = now - first;
  const step = long > 60 * DAY ? DAY : long > 2 * DAY ? HOUR : MINUTE;
  return { first, step, steps: Math.max(1, Math.ceil(long / step)) };
}

export function TimeSliders({
  all,
  then,
  onThen,
  onClose,
}: {
  all: readonly MemoryView[];
  then: PointInTime | undefined;
  onThen: (then: PointInTime) => void;
  onClose: () => void;
}) {
  const [now] = useState(() => Date.now());
  const [truth, knowledge] = useMemo(() => {
    let [began, learned] = [now, now];
    for (const memory of all) {
      began = Math.min(began, Date.parse(memory.valid_from));
      learned = Math.min(learned, Date.parse(memory.created_at));
    }
    return [spanOf(Math.min(began, learned), now), spanOf(learned, now)];
  }, [all, now]);
  return (
    <section
      aria-label={t("memory.past.title")}
      className="grid items-end gap-x-8 gap-y-2 border-t bg-sunken px-4 py-3 sm:grid-cols-[1fr_1fr_auto] sm:px-6"
    >
      <TimeSlider
        label={t("memory.past.asOf")}
        span={truth}
        value={then?.as_of}
        onChange={(as_of) => onThen({ ...then, as_of })}
      />
      <TimeSlider
        label={t("memory.past.knownAt")}
        span={knowledge}
        value={then?.known_at}
        onChange={(known_at) => onThen({ ...then, known_at })}
      />
      <IconButton
        label={t("memory.past.back")}
        shortcut="t"
        onClick={onClose}
        className="max-sm:hidden"
      >
        <X size={16} aria-hidden />
      </IconButton>
    </section>
  );
}

function TimeSlider({
  label,
  span: { first, step, steps },
  value,
  onChange,
}: {
  label: string;
  span: { first: number; step: number; steps: number };
  value: string | undefined;
  onChange: (value: string | undefined) => void;
}) {
  const { timeZone } = usePreferences();
  const placeOf = (at: string | undefined) =>
    at ? Math.min(steps, Math.max(0, Math.floor((Date.parse(at) - first) / step))) : steps;
  const [place, setPlace] = useState(() => placeOf(value));
  // Other controls, such as "Back to now", move the slider as well.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when the address changes
  useEffect(() => setPlace(placeOf(value)), [value]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: restarts only when the slider moves
  useEffect(() => {
    if (place === placeOf(value)) return;
    const rest = setTimeout(
      () => onChange(place === steps ? undefined : new Date(first + place * step).toISOString()),
      SLIDER_DEBOUNCE_MS,
    );
    return () => clearTimeout(rest);
  }, [place]);
  const text = (at: number) => {
    if (at === steps) return t("memory.past.now");
    const when = first + at * step;
    return step === DAY ? day(when, timeZone) : exact(when, timeZone);
  };
  return <Slider label={label} value={place} min={0} max={steps} text={text} onChange={setPlace} />;
}
