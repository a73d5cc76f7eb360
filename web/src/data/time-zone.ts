/**
 * A person's time zone is itself a memory: the hard one under `personal` / `timezone`. Assistants and the
 * console read the same one, and every time is shown in it.
 */

import { useQuery } from "@tanstack/react-query";
import type { MemoryView } from "lukasa-client";
import { useEffect } from "react";
import { prefer, preferences } from "../app/preferences.ts";
import { useLukasa } from "../app/sign-in.tsx";
import { t } from "../i18n/index.ts";
import { useMemoryActs } from "./acts.ts";

const KEY = { domain: "personal", key: "timezone" } as const;

/** The memory that says it, if there is one. */
export function useTimeZone() {
  const lukasa = useLukasa();
  return useQuery({
    queryKey: ["state", "time-zone"],
    queryFn: async ({ signal }): Promise<MemoryView | null> => {
      const filter = { domain: KEY.domain, force: "hard", limit: 100 };
      const page = await lukasa.memories.list(filter, { signal }).page();
      return page.data.find((one) => one.key === KEY.key) ?? null;
    },
  });
}

/** Has the console show times as the memory says, for as long as somebody looks. */
export function useFollowTimeZone(): void {
  const { data } = useTimeZone();
  useEffect(() => {
    const zone = zoneOf(data);
    if (zone && zone !== preferences().timeZone) prefer({ timeZone: zone });
  }, [data]);
}

export function zoneOf(memory: MemoryView | null | undefined): string | null {
  const zone = memory?.value;
  return typeof zone === "string" && isZone(zone) ? zone : null;
}

function isZone(name: string): boolean {
  try {
    return Boolean(new Intl.DateTimeFormat("en", { timeZone: name }));
  } catch {
    return false;
  }
}

/** Says it anew, as any other memory; Undo takes it back. */
export function useSayTimeZone() {
  const { save, update } = useMemoryActs();
  return (memory: MemoryView | null | undefined, zone: string) => {
    const said = { content: t("settings.zone.memory", { zone }), value: zone };
    prefer({ timeZone: zone });
    if (memory) return update(memory, said);
    return save({ ...said, ...KEY, force: "hard", category: "profile" });
  };
}
