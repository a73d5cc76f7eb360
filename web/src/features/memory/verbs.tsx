/** What a user can do with a memory, as buttons: the same in the panel, on its page, and under an answer. */
import { useRouter } from "@tanstack/react-router";
import { Ellipsis, Eraser, MessageSquareOff, MessageSquareText, Trash2 } from "lucide-react";
import type { MemoryView } from "lukasa-client";
import { useMemoryWrites } from "../../data/memory-writes.ts";
import { t } from "../../i18n/index.ts";
import { Button } from "../../ui/button.tsx";
import { IconButton } from "../../ui/icon-button.tsx";
import { Kbd } from "../../ui/kbd.tsx";
import { Menu, MenuItem, MenuLine } from "../../ui/menu.tsx";
import { type MemoryAction, VERBS } from "./actions.ts";

/** Verbs behind the menu: they are rarer, and remove more. */
const IN_MENU = ["delete"];

export function MemoryVerbs({
  memory,
  actions,
  keys,
  onPart,
  onErase,
}: {
  memory: MemoryView;
  actions: readonly MemoryAction[];
  /** Whether the shortcuts apply to this memory. */
  keys: boolean;
  /** Opens the form of a verb. */
  onPart: (part: string) => void;
  onErase?: () => void;
}) {
  const router = useRouter();
  const { update } = useMemoryWrites();
  const available = actions.filter(({ name }) => VERBS.includes(name));
  if (available.length === 0) return null;
  const run = (action: MemoryAction) =>
    action.name === "edit" ? onPart("edit") : action.run(memory, (_, part) => part && onPart(part));
  const shown = available.filter(({ name }) => !IN_MENU.includes(name));
  const folded = available.filter(({ name }) => IN_MENU.includes(name));
  const mayAsk = memory.status === "active";
  return (
    <fieldset className="flex flex-wrap items-center gap-1.5 max-sm:-mx-1 max-sm:gap-1 max-sm:*:px-1.5">
      <legend className="sr-only">{t("memory.verbs")}</legend>
      {shown.map((action) => (
        <Button key={action.name} small onClick={() => run(action)}>
          {action.label}
          {keys && <Kbd keys={action.key} />}
        </Button>
      ))}
      {(folded.length > 0 || mayAsk || onErase) && (
        <Menu
          trigger={
            <IconButton small plain label={t("memory.verbs.more")}>
              <Ellipsis size={16} aria-hidden />
            </IconButton>
          }
        >
          {mayAsk && (
            <MenuItem
              icon={<MessageSquareText size={14} aria-hidden />}
              onSelect={() => router.history.push(`/chat?about=${encodeURIComponent(memory.id)}`)}
            >
              {t("memory.ask")}
            </MenuItem>
          )}
          {mayAsk && available.length > 0 && (
            <MenuItem
              icon={<MessageSquareOff size={14} aria-hidden />}
              onSelect={() =>
                void update(memory, { mode: "correction", unmentioned: !memory.unmentioned })
              }
            >
              {t(memory.unmentioned ? "memory.act.mention" : "memory.act.unmentioned")}
            </MenuItem>
          )}
          {mayAsk && (folded.length > 0 || onErase) && <MenuLine />}
          {folded.map((action) => (
            <MenuItem
              key={action.name}
              icon={<Trash2 size={14} aria-hidden />}
              shortcut={keys ? action.key : undefined}
              onSelect={() => run(action)}
            >
              {action.label}
            </MenuItem>
          ))}
          {onErase && (
            <MenuItem danger icon={<Eraser size={14} aria-hidden />} onSelect={onErase}>
              {t("memory.act.erase")}
            </MenuItem>
          )}
        </Menu>
      )}
    </fieldset>
  );
}
