/** Saves a text as a memory, in the area that it belongs to. */
import { useCallback } from "react";
import { useLukasa } from "../base/sign-in.ts";
import { detectArea } from "./area.ts";
import { useDomains } from "./domains.ts";
import { useMemoryWrites } from "./memory-writes.ts";

/** `say` is the text of the toast. */
export function useSaveInArea() {
  const lukasa = useLukasa();
  const { data: domains } = useDomains();
  const { save } = useMemoryWrites();
  return useCallback(
    async (content: string, say?: string) => {
      const domain = await detectArea(lukasa, content, domains ?? []).catch(() => undefined);
      return save({ content, domain }, say);
    },
    [lukasa, domains, save],
  );
}
