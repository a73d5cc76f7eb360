/**
 * Zooming and moving the board of beads by wheel, drag and pinch. A mouse drags over the time that it wants to
 * see; one finger moves the board, two zoom it.
 */
import { type PointerEvent, type RefObject, useEffect, useRef, useState } from "react";
import { moved, type Plan, type Span, timeAt, zoomed } from "./shape-layout.ts";

const WHEEL_ZOOM = 1.0015;
/** Pixels that a pointer moves before it is a drag and not a click. */
const DRAG_START = 6;

interface Gestures {
  plan: Plan;
  span: Span;
  whole: Span;
  onSpan: (span: Span) => void;
}

/** The dragged stretch in pixels, from left to right. */
export interface Band {
  from: number;
  to: number;
}

export function useGestures(board: RefObject<HTMLElement | null>, now: Gestures) {
  const [band, setBand] = useState<Band>();
  const latest = useRef(now);
  latest.current = now;
  const pointers = useRef(new Map<number, { start: number; x: number }>());
  const dragged = useRef(false);
  const placeOf = (clientX: number) => clientX - (board.current?.getBoundingClientRect().left ?? 0);

  useEffect(() => {
    const element = board.current;
    if (!element) return;
    const roll = (event: WheelEvent) => {
      const { plan, span, whole, onSpan } = latest.current;
      const scroller = element.closest<HTMLElement>("[data-scroller]");
      const scrolls = scroller !== null && scroller.scrollHeight > scroller.clientHeight + 1;
      if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        onSpan(moved(span, whole, event.deltaX / plan.plot));
      } else if (event.ctrlKey || !scrolls) {
        const x = event.clientX - element.getBoundingClientRect().left;
        const around = timeAt(plan, span, x);
        onSpan(zoomed(span, whole, WHEEL_ZOOM ** -event.deltaY, around));
      } else return;
      event.preventDefault();
    };
    element.addEventListener("wheel", roll, { passive: false });
    return () => element.removeEventListener("wheel", roll);
  }, [board]);

  const end = (event: PointerEvent, cancelled = false) => {
    const pointer = pointers.current.get(event.pointerId);
    pointers.current.delete(event.pointerId);
    setBand(undefined);
    if (!pointer || cancelled || event.pointerType !== "mouse" || !dragged.current) return;
    const { plan, span, onSpan, whole } = latest.current;
    const [from, to] = [pointer.start, placeOf(event.clientX)].sort((a, b) => a - b);
    const chosen = { from: timeAt(plan, span, from ?? 0), to: timeAt(plan, span, to ?? 0) };
    const length = chosen.to - chosen.from;
    if (length <= 0) return;
    const around = chosen.from + length / 2;
    const near = zoomed(span, whole, (span.to - span.from) / length, around);
    onSpan(moved(near, whole, (around - (near.from + near.to) / 2) / (near.to - near.from)));
  };

  return {
    band,
    handlers: {
      onPointerDown: (event: PointerEvent) => {
        if (event.button !== 0) return;
        dragged.current = false;
        const x = placeOf(event.clientX);
        pointers.current.set(event.pointerId, { start: x, x });
      },
      onPointerMove: (event: PointerEvent) => {
        const pointer = pointers.current.get(event.pointerId);
        if (!pointer) return;
        const { plan, span, whole, onSpan } = latest.current;
        const x = placeOf(event.clientX);
        if (!dragged.current && Math.abs(x - pointer.start) < DRAG_START) return;
        if (!dragged.current && event.pointerType === "mouse")
          event.currentTarget.setPointerCapture(event.pointerId);
        dragged.current = true;
        const before = [...pointers.current.values()].map((one) => one.x);
        const by = x - pointer.x;
        pointer.x = x;
        if (event.pointerType === "mouse") {
          setBand({ from: Math.min(x, pointer.start), to: Math.max(x, pointer.start) });
          return;
        }
        const [a, b] = [...pointers.current.values()].map((one) => one.x);
        const [wasA, wasB] = before;
        if (a === undefined) return;
        if (b === undefined || wasA === undefined || wasB === undefined) {
          onSpan(moved(span, whole, -by / plan.plot));
          return;
        }
        const factor = Math.max(20, Math.abs(a - b)) / Math.max(20, Math.abs(wasA - wasB));
        onSpan(zoomed(span, whole, factor, timeAt(plan, span, (a + b) / 2)));
      },
      onPointerUp: (event: PointerEvent) => end(event),
      onPointerCancel: (event: PointerEvent) => end(event, true),
      // The click at the end of a drag is none.
      onClickCapture: (event: { stopPropagation: () => void }) => {
        if (dragged.current) event.stopPropagation();
        dragged.current = false;
      },
    },
  };
}
