import { Tabs as Base } from "@base-ui/react/tabs";
import { type ReactNode, type RefObject, useEffect, useRef, useState } from "react";
import { numberFormat } from "../i18n/formats.ts";
import { locale } from "../i18n/index.ts";
import { classes } from "./classes.ts";

export interface Tab<T extends string> {
  value: T;
  label: ReactNode;
  /** A number next to it. */
  count?: number;
}

/** Tabs with the panel of the chosen one. */
export function Tabs<T extends string>({
  label,
  value,
  tabs,
  onChange,
  flush,
  children,
}: {
  label: string;
  value: T;
  tabs: readonly Tab<T>[];
  onChange: (value: T) => void;
  /** In a page without padding: the tabs then align with its title. */
  flush?: boolean;
  children: ReactNode;
}) {
  const list = useRef<HTMLDivElement>(null);
  const more = useOverflow(list);
  // On phones the tabs scroll; keep the chosen one visible.
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when the choice changes
  useEffect(() => {
    list.current
      ?.querySelector('[aria-selected="true"]')
      ?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [value]);
  return (
    <Base.Root value={value} onValueChange={(chosen) => onChange(chosen as T)} className="contents">
      <div className={classes("shrink-0", flush && "yields")}>
        <div>
          <Base.List
            ref={list}
            aria-label={label}
            activateOnFocus
            className={classes(
              "relative flex shrink-0 gap-1 overflow-x-auto border-b max-sm:gap-0",
              flush ? "px-1.5 sm:px-3.5" : "[&>:first-child]:ps-0",
              more && "fades-out",
            )}
          >
            {tabs.map((tab) => (
              <Base.Tab
                key={tab.value}
                value={tab.value}
                className="-mb-px inline-flex h-10 pointer-coarse:h-11 items-center gap-1.5 border-b-2 border-transparent px-2.5 whitespace-nowrap max-sm:px-2 text-muted -outline-offset-2 hover:text-ink data-[active]:border-accent data-[active]:font-medium data-[active]:text-ink"
              >
                {tab.label}
                {tab.count !== undefined && (
                  <span className="rounded-full bg-sunken px-1.5 text-fine text-muted tabular-nums">
                    {numberFormat(locale()).format(tab.count)}
                  </span>
                )}
              </Base.Tab>
            ))}
          </Base.List>
        </div>
      </div>
      <Base.Panel value={value} className="contents" keepMounted={false}>
        {children}
      </Base.Panel>
    </Base.Root>
  );
}

/** Up to this width only the padding of the last tab and of the list is hidden. */
const MAX_HIDDEN_PX = 16;

/** Whether a horizontal scroller has more content at its end: it then fades, so that it looks incomplete. */
function useOverflow(place: RefObject<HTMLElement | null>): boolean {
  const [more, setMore] = useState(false);
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const look = () => {
      const { scrollWidth, clientWidth, scrollLeft } = element;
      setMore(scrollWidth - clientWidth - Math.abs(scrollLeft) > MAX_HIDDEN_PX);
    };
    const watch = new ResizeObserver(look);
    watch.observe(element);
    element.addEventListener("scroll", look, { passive: true });
    return () => {
      watch.disconnect();
      element.removeEventListener("scroll", look);
    };
  }, [place]);
  return more;
}
