import { t } from "../i18n/index.ts";
import { classes } from "./classes.ts";

export interface Share {
  name: string;
  tokens: number;
}

const FILLS = ["bg-accent", "bg-warn", "bg-good", "bg-strong-line"];
const SHAPES = ["rounded-full", "rounded-none", "rotate-45", "rounded-sm"];

/**
 * How a token budget is used: one stacked bar, and the same in exact numbers. `window` is the model's
 * declared window: above 15 % of it the sum is amber, above 20 % red.
 */
export function Meter({
  label,
  shares,
  limit,
  window,
}: {
  label: string;
  shares: readonly Share[];
  limit: number;
  window?: number;
}) {
  const used = shares.reduce((sum, share) => sum + share.tokens, 0);
  const whole = Math.max(limit, used, 1);
  const part = window ? used / window : 0;
  return (
    <section aria-label={label} className="flex flex-col gap-2">
      <div className="flex items-baseline justify-between gap-3">
        <span className="font-medium">{label}</span>
        <span
          className={classes(
            "text-meta tabular-nums",
            part > 0.2 ? "text-bad" : part > 0.15 ? "text-warn" : "text-muted",
          )}
        >
          {t("shell.budget.of", { used, limit })}
        </span>
      </div>
      <div aria-hidden className="flex h-2.5 gap-px overflow-hidden rounded-full bg-sunken">
        {shares.map((share, at) => (
          <div
            key={share.name}
            className={FILLS[at % FILLS.length]}
            style={{ width: `${(100 * share.tokens) / whole}%` }}
          />
        ))}
      </div>
      <ul className="flex flex-wrap gap-x-4 gap-y-1 text-meta text-muted">
        {shares.map((share, at) => (
          <li key={share.name} className="inline-flex items-center gap-1.5">
            <span
              aria-hidden
              className={classes("size-2", FILLS[at % FILLS.length], SHAPES[at % SHAPES.length])}
            />
            {share.name} <span className="text-ink tabular-nums">{share.tokens}</span>
          </li>
        ))}
        <li>{t("shell.budget.free", { count: Math.max(0, limit - used) })}</li>
      </ul>
    </section>
  );
}
