/** The time slider of the beads: the memory as it was known on a day, and how it grew. */
import { Pause, Play } from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";
import { day, exact } from "../../base/dates.ts";
import { usePreferences } from "../../base/preferences.ts";
import { growthOf, type KnownVersion } from "../../data/versions.ts";
import { t } from "../../i18n/index.ts";
import { Button } from "../../ui/button.tsx";
import { Slider } from "../../ui/slider.tsx";

/** Steps of the slider; the last one is now. */
export const STEPS = 120;
/** How long it takes to play everything. */
const PLAY_MS = 8_000;
const PLAY_INTERVAL_MS = 60;
/** With reduced motion the steps are fewer and farther apart. */
const CALM_INTERVAL_MS = 800;

export function TimeScrubber({
  step,
  timeOf,
  versions,
  waiting,
  onStep,
}: {
  step: number;
  /** The instant of a step. */
  timeOf: (step: number) => number;
  versions: readonly KnownVersion[] | undefined;
  /** Whether the chosen day is still being read: playing waits for it. */
  waiting: boolean;
  onStep: (step: number) => void;
}) {
  const { timeZone } = usePreferences();
  const [playing, setPlaying] = useState(false);
  const latest = useRef({ step, waiting, onStep });
  latest.current = { step, waiting, onStep };
  useEffect(() => {
    if (!playing) return;
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    // By the clock, so that a busy machine shows fewer steps and not a longer film.
    let last = performance.now();
    let place = latest.current.step;
    const timer = setInterval(
      () => {
        const now = performance.now();
        const passed = (STEPS * (now - last)) / PLAY_MS;
        last = now;
        if (latest.current.waiting) return;
        place = Math.min(STEPS, place + passed);
        latest.current.onStep(Math.floor(place));
        if (place >= STEPS) setPlaying(false);
      },
      calm ? CALM_INTERVAL_MS : PLAY_INTERVAL_MS,
    );
    return () => clearInterval(timer);
  }, [playing]);
  const times = useMemo(() => Array.from({ length: STEPS + 1 }, (_, at) => timeOf(at)), [timeOf]);
  return (
    <div className="flex shrink-0 items-end gap-4 border-t bg-canvas px-4 pt-2 pb-2 sm:px-6">
      <Button
        aria-label={t(playing ? "memory.shape.pause" : "memory.shape.play")}
        onClick={() => {
          if (!playing && step === STEPS) onStep(0);
          setPlaying(!playing);
        }}
        className="mb-0.5"
      >
        {playing ? <Pause size={16} aria-hidden /> : <Play size={16} aria-hidden />}
        <span className="max-sm:sr-only" aria-hidden>
          {t(playing ? "memory.shape.pause" : "memory.shape.playShort")}
        </span>
      </Button>
      <div className="min-w-0 flex-1">
        <Slider
          above={versions && <Growth versions={versions} times={times} step={step} />}
          label={t("memory.shape.until")}
          value={step}
          min={0}
          max={STEPS}
          text={(at) =>
            at === STEPS ? t("memory.past.now") : momentOf(timeOf(at), timeOf, timeZone)
          }
          onChange={(at) => {
            setPlaying(false);
            onStep(at);
          }}
        />
      </div>
    </div>
  );
}

/** A memory of a few days is shown by the minute, an older one by the day. */
const SHORT_MS = 4 * 86_400_000;

export function momentOf(
  at: number,
  timeOf: (step: number) => number,
  timeZone: string | null,
): string {
  return timeOf(STEPS) - timeOf(0) < SHORT_MS ? exact(at, timeZone) : day(at, timeZone);
}

const GROWTH_HEIGHT = 30;

/** The number of memories over time, above the slider. */
function Growth({
  versions,
  times,
  step,
}: {
  versions: readonly KnownVersion[];
  times: readonly number[];
  step: number;
}) {
  const area = useMemo(() => {
    const counts = growthOf(versions, times);
    const most = Math.max(1, ...counts);
    const points = counts.map(
      (count, at) => `${at} ${(GROWTH_HEIGHT * (1 - count / most)).toFixed(1)}`,
    );
    return `M0 ${GROWTH_HEIGHT}L${points.join("L")}L${STEPS} ${GROWTH_HEIGHT}Z`;
  }, [versions, times]);
  return (
    <svg
      aria-hidden
      viewBox={`0 0 ${STEPS} ${GROWTH_HEIGHT}`}
      preserveAspectRatio="none"
      direction="ltr"
      className="pointer-events-none -mb-3.5 h-6 w-full rtl:-scale-x-100 pointer-coarse:-mb-6"
    >
      <path d={area} className="fill-line opacity-60" />
      <svg x={0} y={0} width={step} height={GROWTH_HEIGHT} aria-hidden>
        <path d={area} className="fill-accent opacity-25" />
      </svg>
    </svg>
  );
}
