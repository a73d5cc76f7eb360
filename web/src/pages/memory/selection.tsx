/** Action bar for the selected memories, with one undo for all of them. */

import { FolderInput, X } from "lucide-react";
import type { MemoryView } from "lukasa-client";
import { useBatchMemoryWrites } from "../../data/batch-writes.ts";
import { useDomains } from "../../data/domains.ts";
import { domainName } from "../../i18n/domains.ts";
import { t } from "../../i18n/index.ts";
import { Button } from "../../ui/button.tsx";
import { IconButton } from "../../ui/icon-button.tsx";
import { Menu, MenuItem } from "../../ui/menu.tsx";
import { useMark, useMarks } from "./marks.ts";

export function SelectionBar({ byId }: { byId: ReadonlyMap<string, MemoryView> }) {
  const marks = useMarks();
  const selected = useMark((all) => all.selected);
  const writes = useBatchMemoryWrites();
  const domains = useDomains();
  if (selected.size === 0) return null;
  const memories = [...selected].flatMap((id) => byId.get(id) ?? []);
  const removed = memories.some(({ status }) => status === "forgotten" || status === "trashed");
  const run = (act: (memories: readonly MemoryView[]) => void) => {
    marks.select([]);
    act(memories);
  };
  const moveTo = (domain: string | null) =>
    run((some) => void writes.file(some.map((memory) => ({ memory, domain }))));
  const open = (domains.data ?? []).filter((one) => !one.requires_opt_in || one.opted_in_at);
  return (
    <section
      aria-label={t("memory.selection")}
      className="flex flex-wrap items-center gap-1.5 border-t bg-accent-soft px-4 py-1.5 sm:px-6"
    >
      <output className="me-2 font-medium">
        {t("memory.nSelected", { count: selected.size })}
      </output>
      {selected.size < marks.order.length && (
        <Button small look="quiet" onClick={() => marks.select(marks.order)}>
          {t("memory.selectAll", { count: marks.order.length })}
        </Button>
      )}
      {removed ? (
        <Button small onClick={() => run(writes.restore)}>
          {t("memory.act.restore")}
        </Button>
      ) : (
        <>
          <Button small onClick={() => run(writes.confirm)}>
            {t("memory.act.confirm")}
          </Button>
          <Button small onClick={() => run(writes.forget)}>
            {t("memory.act.forget")}
          </Button>
          <Button small onClick={() => run(writes.delete)}>
            {t("memory.act.delete")}
          </Button>
          <Menu
            trigger={
              <Button small>
                <FolderInput size={14} aria-hidden />
                {t("memory.act.move")}
              </Button>
            }
          >
            {open.map((one) => (
              <MenuItem key={one.name} onSelect={() => moveTo(one.name)}>
                <bdi>{domainName(one)}</bdi>
              </MenuItem>
            ))}
            <MenuItem onSelect={() => moveTo(null)}>{t("memory.noDomain")}</MenuItem>
          </Menu>
        </>
      )}
      <span className="flex-1" />
      <IconButton
        small
        plain
        label={t("memory.deselect")}
        onClick={() => {
          marks.select([]);
          marks.go(marks.current);
        }}
      >
        <X size={15} aria-hidden />
      </IconButton>
    </section>
  );
}
