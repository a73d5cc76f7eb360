/** Swipe gesture: the element follows the finger, and far enough to one side triggers that side's action. */
import { type PointerEvent, useRef, useState } from "react";

const SWIPE_DISTANCE_PX = 90;

/** A side without an action does not move. */
export function useSwipe(on: { left?: () => void; right?: () => void } | null) {
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
        // A vertical movement scrolls.
        if (Math.abs(y) > Math.abs(x) && Math.abs(x) < SWIPE_DISTANCE_PX / 3) setShift(0);
        else setShift((x > 0 ? on?.right : on?.left) ? x : 0);
      },
      onPointerUp: () => {
        if (from.current && shift > SWIPE_DISTANCE_PX) on?.right?.();
        else if (from.current && shift < -SWIPE_DISTANCE_PX) on?.left?.();
        end();
      },
      onPointerCancel: end,
    },
  };
}
