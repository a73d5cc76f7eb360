import type { ReactNode } from "react";
import { useEffect } from "react";
import { classes } from "./classes.ts";

/**
 * The frame of a page: title (also the document's), actions and content. There are two layouts: `wide` uses
 * the whole width; `reading` is a centred column in which title, tabs and content start at the same edge.
 */
export function Page({
  title,
  note,
  back,
  actions,
  layout = "wide",
  flush,
  children,
}: {
  title: string;
  /** Next to the title: a count, a state. */
  note?: ReactNode;
  /** The way back, in the place of the title: the content then has its own. */
  back?: ReactNode;
  actions?: ReactNode;
  layout?: "wide" | "reading";
  /** Without padding, for lists that fill the page. */
  flush?: boolean;
  children: ReactNode;
}) {
  useEffect(() => {
    document.title = `${title} · Lukasa`;
  }, [title]);
  const column = layout === "reading" && "mx-auto w-full max-w-reading";
  return (
    <>
      <div className={classes("shrink-0", flush && "yields")}>
        <div>
          <header
            className={classes(
              "flex min-h-14 shrink-0 flex-wrap items-center justify-between gap-x-4 gap-y-2 px-4 py-2 sm:px-6",
              column,
            )}
          >
            <div className="flex items-baseline gap-2.5">
              <h1 className={back ? "sr-only" : "text-title"}>{title}</h1>
              {back && <div className="-ms-2">{back}</div>}
              {note && <div className="text-meta text-muted tabular-nums">{note}</div>}
            </div>
            {actions && <div className="flex flex-wrap items-center gap-1.5">{actions}</div>}
          </header>
        </div>
      </div>
      <div
        className={classes(
          flush ? "flex min-h-0 flex-1 flex-col" : "flex-1 px-4 pb-10 sm:px-6",
          column,
        )}
      >
        {children}
      </div>
    </>
  );
}
