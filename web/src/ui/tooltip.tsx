import { Tooltip as Base } from "@base-ui/react/tooltip";
import type { ReactElement } from "react";
import { Kbd } from "./kbd.tsx";

/** A tooltip. Its text must also be available elsewhere. */
export function Tooltip({
  text,
  shortcut,
  children,
}: {
  text: string;
  shortcut?: string;
  children: ReactElement;
}) {
  return (
    <Base.Root>
      <Base.Trigger render={children} />
      <Base.Portal>
        <Base.Positioner sideOffset={6} className="z-50">
          <Base.Popup className="floating flex max-w-72 items-center gap-2 rounded-control bg-ink px-2 py-1 text-fine text-canvas shadow-raised">
            {text}
            {shortcut && <Kbd keys={shortcut} inverse />}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

export const TooltipProvider = Base.Provider;
