/** Action buttons of a row; their tooltips name the shortcuts. */

import { Check, EyeOff, Pencil, RotateCcw, Trash2 } from "lucide-react";
import type { MemoryView } from "lukasa-client";
import type { ReactNode } from "react";
import { useMemoryActions } from "../../features/memory/actions.ts";

/** In the panel and by shortcut; the box at the start of the row selects it. */
const ELSEWHERE = ["changed", "history", "sources", "select"];

export function RowActions({
  memory,
  onOpen,
}: {
  memory: MemoryView;
  onOpen: (memory: MemoryView, tab?: string) => void;
}) {
  const actions = useMemoryActions();
  const available = actions.forMemory(memory).filter(({ name }) => !ELSEWHERE.includes(name));
  if (available.length === 0) return null;
  return (
    <div className="absolute inset-y-0 end-3 hidden items-center sm:end-5 md:flex">
      <div className="flex items-center gap-0.5 rounded-control border bg-surface p-0.5 shadow-raised">
        {available.map((action) => (
          <button
            key={action.name}
            type="button"
            tabIndex={-1}
            aria-label={action.label}
            title={`${action.label} (${action.key.toUpperCase()})`}
            onClick={() => action.run(memory, onOpen)}
            className="inline-flex size-7 items-center justify-center rounded-[0.3125rem] text-muted hover:bg-hover hover:text-ink"
          >
            {ICONS[action.name]}
          </button>
        ))}
      </div>
    </div>
  );
}

const ICONS: Record<string, ReactNode> = {
  edit: <Pencil size={14} aria-hidden />,
  confirm: <Check size={14} aria-hidden />,
  forget: <EyeOff size={14} aria-hidden />,
  delete: <Trash2 size={14} aria-hidden />,
  restore: <RotateCcw size={14} aria-hidden />,
};
