/** Saves a text as a memory, in its area and as what its words say: a fact, a preference or a rule. */
import { useCallback } from "react";
import { useLukasa } from "../base/sign-in.ts";
import { detectArea } from "./area.ts";
import { fieldsOf, suggestedKind } from "./kind.ts";
import { useMemoryWrites } from "./memory-writes.ts";

/** `say` is the text of the toast. */
export function useSaveInArea() {
  const lukasa = useLukasa();
  const { save } = useMemoryWrites();
  return useCallback(
    async (content: string, say?: string) => {
      const domain = await detectArea(lukasa, content).catch(() => undefined);
      const kind = suggestedKind(content, domain !== undefined);
      return save({ content, domain, ...fieldsOf(kind, content) }, say);
    },
    [lukasa, save],
  );
}
