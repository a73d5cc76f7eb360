import type { ReactNode } from "react";
import { useEffect } from "react";

/** The frame of a page: title (also the document's), actions and content. */
export function Page({
  title,
  note,
  actions,
  flush,
  children,
}: {
  title: string;
  /** Next to the title: a count, a state. */
  note?: ReactNode;
  actions?: ReactNode;
  /** Without padding, for lists that fill the page. */
  flush?: boolean;
  children: ReactNode;
}) {
  useEffect(() => {
    document.title = `${title} · Lukasa`;
  }, [title]);
  return (
    <>
      <header className="flex min-h-14 shrink-0 flex-wrap items-center justify-between gap-x-4 gap-y-2 px-4 py-2 sm:px-6">
        <div className="flex items-baseline gap-2.5">
          <h1 className="text-base font-semibold tracking-tight">{title}</h1>
          {note && <div className="text-[0.8125rem] text-muted tabular-nums">{note}</div>}
        </div>
        {actions && <div className="flex flex-wrap items-center gap-1.5">{actions}</div>}
      </header>
      <div className={flush ? "flex min-h-0 flex-1 flex-col" : "flex-1 px-4 pb-10 sm:px-6"}>
        {children}
      </div>
    </>
  );
}
