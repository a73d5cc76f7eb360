import type { ComponentProps, ReactNode } from "react";
import { classes } from "./classes.ts";
import { Tooltip } from "./tooltip.tsx";

export interface IconButtonProps extends Omit<ComponentProps<"button">, "aria-label" | "title"> {
  /** The accessible name and tooltip. */
  label: string;
  /** The key that does the same, shown in the tooltip. */
  shortcut?: string;
  small?: boolean;
  /** Without a tooltip, for well-known icons: an open tooltip would consume the first Escape. */
  plain?: boolean;
  children: ReactNode;
}

/** An icon button. It always has an accessible name, and is at least 28 px wide, 44 px for fingers. */
export function IconButton({
  label,
  shortcut,
  small,
  plain,
  className,
  ...props
}: IconButtonProps) {
  const button = (
    <button
      type="button"
      {...props}
      aria-label={label}
      className={classes(
        "inline-flex shrink-0 items-center justify-center rounded-control text-muted transition-colors duration-75",
        "hover:bg-hover hover:text-ink disabled:opacity-50 disabled:cursor-not-allowed data-[popup-open]:bg-hover",
        small ? "size-small" : "size-control",
        className,
      )}
    />
  );
  if (plain) return button;
  return (
    <Tooltip text={label} shortcut={shortcut}>
      {button}
    </Tooltip>
  );
}
