/** One memory as the content of a page: its detail, with the shortcuts of its verbs. */
import { useCallback } from "react";
import { useShortcuts } from "../../base/shortcuts.ts";
import { useMemory } from "../../data/memories.ts";
import { t } from "../../i18n/index.ts";
import { MemoryActionsContext, useActionList, useAvailableActions } from "../memory/actions.ts";
import { DomainNames, useDomainNames } from "../memory/labels.ts";
import { Detail, type DetailProps } from "./index.tsx";

export function OneMemory(props: DetailProps) {
  const { id, then, onPart } = props;
  const memory = useMemory(id, then ?? {}).data;
  const names = useDomainNames();
  const list = useActionList(useCallback(() => onPart("edit"), [onPart]));
  const actions = useAvailableActions(list, then !== undefined);
  useShortcuts(
    t("memory.one"),
    memory
      ? actions.forMemory(memory).map((one) => ({
          keys: one.key,
          label: one.label,
          run: () => one.run(memory, (_, part) => onPart(part)),
        }))
      : [],
  );
  return (
    <MemoryActionsContext value={actions}>
      <DomainNames value={names}>
        <Detail key={id} {...props} />
      </DomainNames>
    </MemoryActionsContext>
  );
}
