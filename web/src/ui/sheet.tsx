import { Dialog as Base } from "@base-ui/react/dialog";
import { X } from "lucide-react";
import type { ReactNode } from "react";
import { t } from "../i18n/index.ts";
import { IconButton } from "./icon-button.tsx";

/** A sheet at the bottom of the screen, for phones. */
export function Sheet({
  open,
  onOpenChange,
  onClosed,
  title,
  actions,
  children,
}: {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  /** Called when it is no longer visible. */
  onClosed?: () => void;
  title: string;
  /** Buttons at the end, which do not scroll. */
  actions?: ReactNode;
  children: ReactNode;
}) {
  return (
    <Base.Root
      open={open}
      onOpenChange={onOpenChange}
      onOpenChangeComplete={(opened) => !opened && onClosed?.()}
    >
      <Base.Portal>
        <Base.Backdrop className="scrim fixed inset-0 z-40" />
        <Base.Popup
          data-sheet
          className="rising fixed inset-x-0 bottom-0 z-40 flex max-h-[88dvh] flex-col rounded-t-[0.875rem] border-t bg-surface pb-[env(safe-area-inset-bottom)] shadow-raised outline-none"
        >
          <header className="flex min-h-14 shrink-0 items-center justify-between gap-3 border-b ps-4 pe-1.5">
            <Base.Title className="font-semibold">{title}</Base.Title>
            <Base.Close
              render={
                <IconButton plain label={t("shell.close")} className="ms-auto">
                  <X size={16} aria-hidden />
                </IconButton>
              }
            />
          </header>
          <div className="min-h-0 flex-1 overflow-y-auto overscroll-contain p-4">{children}</div>
          {actions && (
            <footer className="flex shrink-0 gap-2 border-t px-4 py-3 *:flex-1">{actions}</footer>
          )}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
