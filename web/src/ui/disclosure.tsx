import { ChevronRight } from "lucide-react";
import type { ReactNode } from "react";

/** Content that is folded until it is asked for. */
export function Disclosure({
  label,
  open,
  onOpen,
  children,
}: {
  label: string;
  /** Whether it is unfolded, if its owner decides; by itself otherwise. */
  open?: boolean;
  onOpen?: (open: boolean) => void;
  children: ReactNode;
}) {
  return (
    <details
      open={open}
      onToggle={({ currentTarget }) => {
        if (currentTarget.open !== open) onOpen?.(currentTarget.open);
      }}
      className="group rounded-card border bg-surface"
    >
      <summary className="flex min-h-11 list-none items-center gap-2 px-4 text-muted hover:text-ink [&::-webkit-details-marker]:hidden">
        <ChevronRight
          size={14}
          aria-hidden
          className="shrink-0 transition-transform duration-150 group-open:rotate-90 rtl:rotate-180 rtl:group-open:rotate-90"
        />
        {label}
      </summary>
      <div className="flex flex-col gap-3 border-t p-4">{children}</div>
    </details>
  );
}
