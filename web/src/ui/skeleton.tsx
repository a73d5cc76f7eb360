import { t } from "../i18n/index.ts";

/** Placeholder rows while data is loading. */
export function Skeleton({ rows = 6 }: { rows?: number }) {
  return (
    <output className="block">
      <span className="sr-only">{t("shell.loading")}</span>
      {Array.from({ length: rows }, (_, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: these rows are all the same
        <div key={at} aria-hidden className="flex h-row items-center gap-3 border-b px-4">
          <div className="pulse-soft size-4 rounded bg-line" />
          <div className="pulse-soft h-3 w-1/2 rounded bg-line" />
          <div className="pulse-soft ms-auto h-3 w-16 rounded bg-line" />
        </div>
      ))}
    </output>
  );
}
