import type { ComponentProps, ReactNode } from "react";
import { classes } from "./classes.ts";

/** A section with a border and an optional heading. */
export function Card({
  title,
  actions,
  flush,
  className,
  children,
  ...props
}: Omit<ComponentProps<"section">, "title"> & {
  title?: ReactNode;
  actions?: ReactNode;
  /** Without padding, for lists and tables. */
  flush?: boolean;
}) {
  return (
    <section
      {...props}
      className={classes("overflow-hidden rounded-card border bg-surface", className)}
    >
      {title && (
        <header className="flex min-h-11 items-center justify-between gap-3 border-b px-4 py-1.5">
          <h2 className="font-semibold">{title}</h2>
          {actions && <div className="flex items-center gap-1.5">{actions}</div>}
        </header>
      )}
      <div className={flush ? undefined : "p-4"}>{children}</div>
    </section>
  );
}
