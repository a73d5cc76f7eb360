import { useState } from "react";
import { usePreferences } from "../base/preferences.ts";
import { useActiveShortcuts, useShortcuts } from "../base/shortcuts.ts";
import { t } from "../i18n/index.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Kbd } from "../ui/kbd.tsx";

/** The sheet that `?` opens: all active shortcuts. */
export function ShortcutSheet() {
  const [open, setOpen] = useState(false);
  const scopes = useActiveShortcuts();
  const { singleKeys } = usePreferences();
  useShortcuts(t("shell.keys.everywhere"), [
    { keys: "?", label: t("shell.keys.sheet"), run: () => setOpen(true) },
  ]);
  const names = [...new Set(scopes.map((one) => one.scope))].reverse();
  return (
    <Dialog open={open} onOpenChange={setOpen} title={t("shell.keys.title")} wide>
      {!singleKeys && <p className="pb-3 text-muted">{t("shell.keys.off")}</p>}
      <div
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
        tabIndex={0}
        className="grid gap-x-8 gap-y-5 sm:grid-cols-2"
      >
        {names.map((name) => (
          <section key={name} aria-label={name}>
            <h3 className="pb-1 text-fine text-faint">{name}</h3>
            <ul>
              {scopes
                .filter((one) => one.scope === name)
                .flatMap((one) => one.shortcuts)
                .map((one) => (
                  <li key={one.keys} className="flex min-h-8 items-center justify-between gap-3">
                    {one.label}
                    <Kbd keys={one.keys} />
                  </li>
                ))}
            </ul>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
