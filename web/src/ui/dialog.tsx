import { Dialog as Base } from "@base-ui/react/dialog";
import { X } from "lucide-react";
import { type ReactNode, useRef } from "react";
import { t } from "../i18n/index.ts";
import { classes } from "./classes.ts";
import { IconButton } from "./icon-button.tsx";

export interface DialogProps {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: ReactNode;
  /** The description, announced with the title. */
  text?: ReactNode;
  children?: ReactNode;
  /** The buttons, the primary one last. */
  actions?: ReactNode;
  wide?: boolean;
}

const FIELD =
  "textarea, input:not([type=checkbox], [type=radio], [type=hidden], [aria-hidden=true])";

/** A modal dialog: confirms what cannot be undone, or shows what needs full attention. */
export function Dialog({ open, onOpenChange, title, text, children, actions, wide }: DialogProps) {
  const popup = useRef<HTMLDivElement>(null);
  // Focus the first field; not on touch, where the on-screen keyboard would cover the dialog.
  const begin = (by: string) =>
    (by !== "touch" && popup.current?.querySelector<HTMLElement>(FIELD)) || true;
  return (
    <Base.Root open={open} onOpenChange={onOpenChange}>
      <Base.Portal>
        <Base.Backdrop className="scrim fixed inset-0 z-40" />
        <Base.Popup
          ref={popup}
          initialFocus={begin}
          className={classes(
            "floating outline-none fixed inset-x-0 top-[10vh] z-40 mx-auto flex max-h-[80vh] w-[calc(100vw-2rem)] flex-col rounded-card border bg-surface shadow-raised",
            wide ? "max-w-2xl" : "max-w-md",
          )}
        >
          <header className="flex items-start justify-between gap-4 px-5 pt-4">
            <Base.Title className="text-lead font-semibold">{title}</Base.Title>
            <Base.Close
              render={
                <IconButton plain label={t("shell.close")} small className="-me-2 -mt-0.5">
                  <X size={16} aria-hidden />
                </IconButton>
              }
            />
          </header>
          {text && <Base.Description className="px-5 pt-1 text-muted">{text}</Base.Description>}
          <div className="min-h-0 flex-1 overflow-y-auto px-5 py-4">{children}</div>
          {actions && (
            <footer className="flex justify-end gap-2 border-t px-5 py-3">{actions}</footer>
          )}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
