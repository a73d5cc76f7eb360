import { Select as Base } from "@base-ui/react/select";
import { Check, ChevronsUpDown } from "lucide-react";
import { INPUT } from "./field.tsx";

/** A select box. A `Field` provides its label; elsewhere give it a `label`. */
export function Select<T extends string>({
  value,
  choices,
  onChange,
  label,
  disabled,
}: {
  value: T;
  choices: readonly { value: T; text: string }[];
  onChange: (value: T) => void;
  label?: string;
  disabled?: boolean;
}) {
  return (
    <Base.Root
      value={value}
      items={choices.map((choice) => ({ value: choice.value, label: choice.text }))}
      onValueChange={(chosen) => chosen !== null && onChange(chosen as T)}
      disabled={disabled}
    >
      <Base.Trigger
        aria-label={label}
        className={`${INPUT} inline-flex h-control items-center justify-between gap-2 text-start`}
      >
        <Base.Value className="min-w-0 flex-1 truncate" />
        <Base.Icon className="text-muted">
          <ChevronsUpDown size={14} aria-hidden />
        </Base.Icon>
      </Base.Trigger>
      <Base.Portal>
        <Base.Positioner sideOffset={4} alignItemWithTrigger={false} className="z-50">
          <Base.Popup className="floating max-h-80 min-w-[var(--anchor-width)] overflow-y-auto rounded-card border bg-surface p-1 shadow-raised outline-none">
            {choices.map((choice) => (
              <Base.Item
                key={choice.value}
                value={choice.value}
                className="flex min-h-8 pointer-coarse:min-h-11 cursor-default items-center gap-2 rounded-[0.3125rem] px-2 outline-none select-none data-[highlighted]:bg-hover"
              >
                <Base.ItemText className="flex-1">{choice.text}</Base.ItemText>
                <Base.ItemIndicator>
                  <Check size={14} aria-hidden />
                </Base.ItemIndicator>
              </Base.Item>
            ))}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
