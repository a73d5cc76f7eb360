import { type RefObject, useLayoutEffect, useState } from "react";

/** The width of an element in pixels, now and after every change. */
export function useWidth(place: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = place.current;
    if (!element) return;
    const watch = new ResizeObserver(() => setWidth(element.clientWidth));
    watch.observe(element);
    return () => watch.disconnect();
  }, [place]);
  return width;
}

export interface Size {
  width: number;
  height: number;
}

/** Width and height of an element in pixels, now and after every change; zero while it is hidden. */
export function useSize(place: RefObject<HTMLElement | null>): Size {
  const [size, setSize] = useState<Size>({ width: 0, height: 0 });
  useLayoutEffect(() => {
    const element = place.current;
    if (!element) return;
    const watch = new ResizeObserver(() => {
      const { clientWidth: width, clientHeight: height } = element;
      setSize((was) => (was.width === width && was.height === height ? was : { width, height }));
    });
    watch.observe(element);
    return () => watch.disconnect();
  }, [place]);
  return size;
}
