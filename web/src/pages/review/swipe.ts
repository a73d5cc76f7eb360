/** A card that follows the finger: far enough to one side is the same as that side's button. */
import { type PointerEvent, useRef, useState } from "react";

const FAR = 90;

export function useSwipe(on: { left: () => void; right: () => void } | null) {
  const from = useRef<{ x: number; y: number } | null>(null);
  const [shift, setShift] = useState(0);
  const end = () => {
    from.current = null;
    setShift(0);
  };
  return {
    shift,
    handlers: {
      onPointerDown: (event: PointerEvent) => {
        const typing = event.target instanceof Element && event.target.closest("textarea");
        if (!on || event.pointerType !== "touch" || typing) return;
        from.current = { x: event.clientX, y: event.clientY };
      },
      onPointerMove: (event: PointerEvent) => {
        if (!from.current) return;
        const [x, y] = [event.clientX - from.current.x, event.clientY - from.current.y];
        // Whoever moves up or down wants to read on.
        if (Math.abs(y) > Math.abs(x) && Math.abs(x) < FAR / 3) setShift(0);
        else setShift(x);
      },
      onPointerUp: () => {
        if (from.current && shift > FAR) on?.right();
        else if (from.current && shift < -FAR) on?.left();
        end();
      },
      onPointerCancel: end,
    },
  };
}
