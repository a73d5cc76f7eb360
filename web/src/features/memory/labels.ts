/** Translations of names from the server. Unknown names are shown as they are. */
import type { MemoryView } from "lukasa-client";
import { createContext, useContext, useMemo } from "react";
import { day } from "../../base/dates.ts";
import { useDomains } from "../../data/domains.ts";
import { domainName } from "../../i18n/domains.ts";
import { nameText, t } from "../../i18n/index.ts";

export function labelFor(
  kind: "status" | "category" | "arm" | "verb" | "relation" | "kind",
  name: string,
): string {
  return nameText(`memory.${kind}.${name}`, name);
}

/** Display names of the domains. Read once per page, not by every row. */
export const DomainNames = createContext<ReadonlyMap<string, string>>(new Map());

export function useDomainNames(): ReadonlyMap<string, string> {
  const { data } = useDomains();
  return useMemo(() => new Map(data?.map((one) => [one.name, domainName(one)])), [data]);
}

export function useDomainName(name: string | null | undefined): string | undefined {
  const names = useContext(DomainNames);
  return name ? (names.get(name) ?? domainName(name)) : undefined;
}

/** A validity date. A date without a time is the same day in every time zone. */
export function dayOf(at: string, timeZone: string | null): string {
  return day(at, /T00:00:00(\.0+)?Z$/.test(at) ? "UTC" : timeZone);
}

/** The validity of a memory as text. */
export function validity(memory: MemoryView, timeZone: string | null): string {
  const from = dayOf(memory.valid_from, timeZone);
  return memory.valid_until
    ? t("memory.validBetween", { from, until: dayOf(memory.valid_until, timeZone) })
    : t("memory.validSince", { from });
}
