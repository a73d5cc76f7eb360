/** A virtual list of the turns of a chat, which scrolls with the page. */
import { defaultRangeExtractor, type Range, useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useLayoutEffect, useRef, useState } from "react";

/** The height of a turn before it is measured. */
const TURN_HEIGHT_PX = 120;
/** Turns that are rendered before and after the visible ones. */
const OVERSCAN = 20;

export function TurnList({
  count,
  chosen,
  children,
}: {
  /** The number of the last turn. */
  count: number;
  /** The number of the chosen turn, which is always rendered. */
  chosen: number | undefined;
  /** What is shown at a number. */
  children: (number: number) => ReactNode;
}) {
  const list = useRef<HTMLOListElement>(null);
  const [margin, setMargin] = useState(0);
  const at = chosen !== undefined && chosen >= 1 && chosen <= count ? chosen - 1 : undefined;
  const virtual = useVirtualizer({
    count,
    getScrollElement: () => list.current?.closest("main") ?? null,
    estimateSize: () => TURN_HEIGHT_PX,
    scrollMargin: margin,
    overscan: OVERSCAN,
    rangeExtractor: (range: Range) => {
      const shown = defaultRangeExtractor(range);
      return at === undefined || shown.includes(at) ? shown : [...shown, at].sort((a, b) => a - b);
    },
  });
  // The height of the content before the list changes, such as when the chat is about to be removed.
  useLayoutEffect(() => {
    const place = list.current;
    const scroller = place?.closest("main");
    if (!place || !scroller) return;
    const measure = () => {
      const top = place.getBoundingClientRect().top - scroller.getBoundingClientRect().top;
      setMargin(Math.round(top + scroller.scrollTop));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(scroller);
    if (place.parentElement) observer.observe(place.parentElement);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => {
    if (at !== undefined) virtual.scrollToIndex(at, { align: "center" });
  }, [at, virtual]);
  return (
    <ol ref={list} style={{ height: virtual.getTotalSize() }} className="relative">
      {virtual.getVirtualItems().map(({ index, key, start }) => (
        <li
          key={key}
          ref={virtual.measureElement}
          data-index={index}
          aria-setsize={count}
          aria-posinset={index + 1}
          style={{ transform: `translateY(${start - margin}px)` }}
          className="absolute inset-x-0 top-0 pb-1"
        >
          {children(index + 1)}
        </li>
      ))}
    </ol>
  );
}
