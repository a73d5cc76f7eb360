import { X } from "lucide-react";
import type { ReactNode } from "react";
import { classes } from "./classes.ts";

/** A chip that can be removed, or toggled. */
export function Chip({
  children,
  pressed,
  onPress,
  onRemove,
  removeLabel,
}: {
  children: ReactNode;
  pressed?: boolean;
  onPress?: () => void;
  onRemove?: () => void;
  removeLabel?: string;
}) {
  const look = classes(
    "inline-flex h-small items-center gap-1.5 rounded-full border px-2.5 text-meta",
    pressed
      ? "border-transparent bg-accent-soft text-accent-text"
      : "border-line bg-surface text-muted",
  );
  if (onPress) {
    return (
      <button
        type="button"
        aria-pressed={pressed ?? false}
        onClick={onPress}
        className={classes(look, "hover:text-ink")}
      >
        {children}
      </button>
    );
  }
  return (
    <span className={look}>
      {children}
      {onRemove && (
        <button
          type="button"
          aria-label={removeLabel}
          onClick={onRemove}
          className="-me-1.5 inline-flex size-6 pointer-coarse:size-11 items-center justify-center rounded-full hover:bg-hover"
        >
          <X size={13} aria-hidden />
        </button>
      )}
    </span>
  );
}
