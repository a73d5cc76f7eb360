import { Popover as Base } from "@base-ui/react/popover";
import type { ReactElement, ReactNode } from "react";

/** A popover of a button: filters, an explanation. */
export function Popover({
  trigger,
  title,
  open,
  onOpenChange,
  children,
}: {
  trigger: ReactElement;
  title?: string;
  open?: boolean;
  onOpenChange?: (open: boolean) => void;
  children: ReactNode;
}) {
  return (
    <Base.Root open={open} onOpenChange={onOpenChange}>
      <Base.Trigger render={trigger} />
      <Base.Portal>
        <Base.Positioner sideOffset={6} align="start" className="z-50">
          <Base.Popup className="floating w-80 max-w-[calc(100vw-1.5rem)] rounded-card border bg-surface p-3 shadow-raised outline-none">
            {title && <Base.Title className="mb-2 font-medium">{title}</Base.Title>}
            {children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
