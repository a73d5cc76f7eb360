import type { ComponentProps } from "react";
import { classes } from "./classes.ts";
import { Spinner } from "./spinner.tsx";

export interface ButtonProps extends ComponentProps<"button"> {
  /** `primary` once per view at most; `danger` only for what cannot be undone. */
  look?: "primary" | "plain" | "quiet" | "danger";
  small?: boolean;
  busy?: boolean;
}

const LOOKS = {
  primary: "bg-accent text-on-accent hover:bg-accent-hover border-transparent font-medium",
  plain: "bg-surface text-ink border-line hover:bg-hover",
  quiet: "bg-transparent text-muted border-transparent hover:bg-hover hover:text-ink",
  danger: "bg-bad text-on-bad border-transparent hover:opacity-90 font-medium",
};

/** For a long text, which a narrow screen would cut off. */
export const WRAPS = "max-w-full !h-auto min-h-control !shrink py-1.5 !whitespace-normal";

export function buttonClasses(look: keyof typeof LOOKS = "plain", small = false): string {
  return classes(
    "inline-flex shrink-0 items-center justify-center pointer-coarse:min-w-11 gap-1.5 rounded-control border whitespace-nowrap select-none",
    "transition-colors duration-75 disabled:opacity-55 disabled:cursor-not-allowed no-underline",
    small ? "h-small px-2 text-meta" : "h-control px-3",
    LOOKS[look],
  );
}

export function Button({ look, small, busy, className, children, ...props }: ButtonProps) {
  return (
    <button
      type="button"
      aria-busy={busy || undefined}
      {...props}
      disabled={props.disabled || busy}
      className={classes(buttonClasses(look, small), className)}
    >
      {busy && <Spinner />}
      {children}
    </button>
  );
}
