import { Fragment } from "react";
import { t } from "../i18n/index.ts";
import { classes } from "./classes.ts";

const MAC = typeof navigator !== "undefined" && /Mac|iPhone|iPad/.test(navigator.platform);
const NAMES: Record<string, string> = {
  mod: MAC ? "⌘" : "Ctrl",
  alt: MAC ? "⌥" : "Alt",
  enter: "↵",
  escape: "Esc",
  arrowleft: "←",
  arrowright: "→",
  arrowup: "↑",
  arrowdown: "↓",
};

/** A keyboard shortcut: `mod+k` pressed together, `g m` one after the other. */
export function Kbd({ keys, inverse }: { keys: string; inverse?: boolean }) {
  return (
    <span
      className="inline-flex items-center gap-1 whitespace-nowrap pointer-coarse:hidden"
      dir="ltr"
    >
      {keys.split(" ").map((together, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: keys of one shortcut never change places
        <Fragment key={at}>
          {at > 0 && <span className="text-fine opacity-80">{t("shell.keys.then")}</span>}
          {together.split("+").map((key) => (
            <kbd
              key={key}
              className={classes(
                "inline-flex h-5 min-w-5 items-center justify-center rounded border px-1 font-sans text-fine leading-none",
                inverse ? "border-current/40" : "border-line bg-sunken text-muted",
              )}
            >
              {NAMES[key.toLowerCase()] ?? (key.length === 1 ? key.toUpperCase() : key)}
            </kbd>
          ))}
        </Fragment>
      ))}
    </span>
  );
}
