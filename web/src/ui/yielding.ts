import { type RefObject, useEffect } from "react";

/** Shorter movements of a finger change nothing. */
const MIN_MOVE_PX = 8;
/** Up to here the header is still in view. */
const MIN_DEPTH_PX = 48;
/** A list with less to scroll would move under its header. */
const MIN_ROOM_PX = 320;

/** Marks the page as being read while a list is scrolled down, so that its header can yield on phones. */
export function useYieldingHeader(place: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const list = place.current;
    if (!list) return;
    const root = document.documentElement;
    let last = list.scrollTop;
    const look = () => {
      const { scrollTop, scrollHeight, clientHeight } = list;
      const room = scrollHeight - clientHeight;
      const end = room - scrollTop < MIN_ROOM_PX / 2 && scrollTop > last;
      if (Math.abs(scrollTop - last) < MIN_MOVE_PX || (end && root.dataset.reading)) return;
      const reading = room > MIN_ROOM_PX && scrollTop > MIN_DEPTH_PX && scrollTop > last;
      if (reading) root.dataset.reading = "";
      else delete root.dataset.reading;
      last = scrollTop;
    };
    list.addEventListener("scroll", look, { passive: true });
    return () => {
      list.removeEventListener("scroll", look);
      delete root.dataset.reading;
    };
  }, [place]);
}
