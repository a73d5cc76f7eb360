import { Slider as Base } from "@base-ui/react/slider";
import type { ReactNode } from "react";

/** A slider; `text` formats its value, also for screen readers. */
export function Slider({
  label,
  value,
  min,
  max,
  step = 1,
  text,
  above,
  onChange,
}: {
  label: string;
  value: number;
  min: number;
  max: number;
  step?: number;
  text?: (value: number) => string;
  /** A drawing of the same width, on the track. */
  above?: ReactNode;
  onChange: (value: number) => void;
}) {
  return (
    <Base.Root
      value={value}
      min={min}
      max={max}
      step={step}
      onValueChange={(chosen) => onChange(Array.isArray(chosen) ? (chosen[0] ?? min) : chosen)}
      className="flex flex-col gap-1"
    >
      <div className="flex items-baseline justify-between gap-3 text-meta">
        <span className="text-muted">{label}</span>
        <span className="tabular-nums">{text ? text(value) : value}</span>
      </div>
      {above}
      <Base.Control
        data-target
        className="flex h-6 pointer-coarse:h-11 touch-none items-center select-none"
      >
        <Base.Track className="h-1.5 w-full rounded-full bg-line">
          <Base.Indicator className="rounded-full bg-accent" />
          <Base.Thumb
            getAriaLabel={() => label}
            getAriaValueText={(_, number) => (text ? text(number) : String(number))}
            className="size-4 rounded-full border-2 border-accent bg-surface has-[:focus-visible]:outline-2 has-[:focus-visible]:outline-offset-2 has-[:focus-visible]:outline-ink"
          />
        </Base.Track>
      </Base.Control>
    </Base.Root>
  );
}
