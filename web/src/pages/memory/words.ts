/** What the server names, in the person's own words. What we have no word for is shown as it was named. */
import type { MemoryView } from "lukasa-client";
import { createContext, useContext, useMemo } from "react";
import { useDomains } from "../../data/domains.ts";
import { known, t } from "../../i18n/index.ts";
import { day } from "../../ui/time.tsx";

export function wordOf(
  kind: "status" | "category" | "arm" | "verb" | "relation" | "kind",
  name: string,
): string {
  const key = `memory.${kind}.${name}`;
  return known(key) ? t(key) : name;
}

/** The names of the domains, as the tenant wrote them. Read once by a page, and not by every row of it. */
export const DomainNames = createContext<ReadonlyMap<string, string>>(new Map());

export function useDomainNames(): ReadonlyMap<string, string> {
  const { data } = useDomains();
  return useMemo(() => new Map(data?.map((one) => [one.name, one.display_name])), [data]);
}

export function useDomainName(name: string | null | undefined): string | undefined {
  const names = useContext(DomainNames);
  return name ? (names.get(name) ?? name) : undefined;
}

/** The day from or until which something holds. A bare date is a day anywhere, not an hour in UTC. */
export function dayOf(at: string, timeZone: string | null): string {
  return day(at, /T00:00:00(\.0+)?Z$/.test(at) ? "UTC" : timeZone);
}

/** Since when and until when it holds. */
export function validity(memory: MemoryView, timeZone: string | null): string {
  const from = dayOf(memory.valid_from, timeZone);
  return memory.valid_until
    ? t("memory.validBetween", { from, until: dayOf(memory.valid_until, timeZone) })
    : t("memory.validSince", { from });
}
