import type { ReactNode } from "react";
import { t } from "../i18n/index.ts";
import { Snippet } from "./snippet.tsx";

/** An empty state: what the page will show, a command to run, and next steps. */
export function EmptyState({
  icon,
  title,
  text,
  snippet,
  waiting,
  next,
  children,
}: {
  icon?: ReactNode;
  title: string;
  text: string;
  snippet?: string;
  /** What the page waits for; the parent removes the empty state when it arrives. */
  waiting?: string;
  next?: readonly { text: ReactNode; action: ReactNode }[];
  children?: ReactNode;
}) {
  return (
    <div className="mx-auto flex w-full max-w-xl flex-col gap-5 px-4 py-12 sm:py-20">
      <div className="flex flex-col items-center gap-3 text-center">
        {icon && (
          <div className="flex size-11 items-center justify-center rounded-full bg-accent-soft text-accent-text">
            {icon}
          </div>
        )}
        <h2 className="text-title">{title}</h2>
        <p className="max-w-prose text-muted">{text}</p>
      </div>
      {snippet && <Snippet code={snippet} />}
      {waiting && (
        <output className="flex items-center justify-center gap-2 text-meta text-muted">
          <span aria-hidden className="pulse-soft size-2 rounded-full bg-accent" />
          {waiting}
        </output>
      )}
      {children}
      {next && next.length > 0 && (
        <section aria-label={t("shell.next")} className="rounded-card border bg-surface">
          <ul className="divide-y divide-line">
            {next.map((step, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the steps never change places
              <li key={at} className="flex flex-wrap items-center gap-x-3 gap-y-2 px-4 py-2.5">
                {/* On phones the button is below the text, which has no room beside it. */}
                <span className="min-w-0 flex-1 basis-60">{step.text}</span>
                {step.action}
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}
