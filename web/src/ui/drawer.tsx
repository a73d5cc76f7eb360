import { Dialog as Base } from "@base-ui/react/dialog";
import { X } from "lucide-react";
import type { ReactNode } from "react";
import { t } from "../i18n/index.ts";
import { classes } from "./classes.ts";
import { IconButton } from "./icon-button.tsx";

/** A drawer at the side: the menu on phones (`start`), details next to a list (`end`). */
export function Drawer({
  open,
  onOpenChange,
  title,
  side = "end",
  children,
}: {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: ReactNode;
  side?: "start" | "end";
  children: ReactNode;
}) {
  return (
    <Base.Root open={open} onOpenChange={onOpenChange}>
      <Base.Portal>
        <Base.Backdrop className="scrim fixed inset-0 z-40" />
        <Base.Popup
          className={classes(
            "sliding fixed inset-y-0 z-40 flex w-[min(92vw,28rem)] flex-col bg-surface shadow-raised",
            side === "start"
              ? "start-0 border-e [--slide-from:-100%] rtl:[--slide-from:100%]"
              : "end-0 border-s rtl:[--slide-from:-100%]",
          )}
        >
          <header className="flex h-12 shrink-0 items-center justify-between gap-3 border-b ps-4 pe-2">
            <Base.Title className="font-medium">{title}</Base.Title>
            <Base.Close
              render={
                <IconButton plain label={t("shell.close")}>
                  <X size={16} aria-hidden />
                </IconButton>
              }
            />
          </header>
          <div className="min-h-0 flex-1 overflow-y-auto">{children}</div>
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
