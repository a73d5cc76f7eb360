/**
 * The user's time zone is a memory: the hard one under `personal` / `timezone`. Assistants and the console
 * read the same one, and every time is shown in it.
 */

import { useQuery } from "@tanstack/react-query";
import type { MemoryView } from "lukasa-client";
import { useEffect } from "react";
import { prefer, preferences } from "../base/preferences.ts";
import { useLukasa } from "../base/sign-in.ts";
import { t } from "../i18n/index.ts";
import { readTimeZone, TIME_ZONE } from "./home.ts";
import { useMemoryWrites } from "./memory-writes.ts";

/** The time zone memory, if there is one. */
export function useTimeZone() {
  const lukasa = useLukasa();
  return useQuery({
    queryKey: ["state", "time-zone"],
    queryFn: ({ signal }) => readTimeZone(lukasa, signal),
  });
}

/** Keeps the time zone preference equal to the memory. */
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

/** Saves the time zone as a memory, with undo. */
export function useSetTimeZone() {
  const { save, update } = useMemoryWrites();
  return (memory: MemoryView | null | undefined, zone: string) => {
    const changes = { content: t("settings.zone.memory", { zone }), value: zone };
    prefer({ timeZone: zone });
    if (memory) return update(memory, changes);
    return save({ ...changes, ...TIME_ZONE, force: "hard", category: "profile" });
  };
}
