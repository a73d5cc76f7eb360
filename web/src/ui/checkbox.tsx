import { Checkbox as Base } from "@base-ui/react/checkbox";
import { Check } from "lucide-react";
import { type ReactNode, useId } from "react";

/** A checkbox with a label. */
export function Checkbox({
  label,
  checked,
  disabled,
  onChange,
}: {
  label: ReactNode;
  checked: boolean;
  disabled?: boolean;
  onChange: (checked: boolean) => void;
}) {
  const id = useId();
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the box below has an input inside
    <label className="flex min-h-small cursor-pointer items-start gap-2.5 py-0.5 pointer-coarse:py-2.5">
      <Base.Root
        checked={checked}
        disabled={disabled}
        onCheckedChange={onChange}
        aria-labelledby={id}
        className="flex size-6 shrink-0 items-center justify-center rounded-[0.3125rem] border border-strong-line bg-surface data-[disabled]:opacity-55 data-[checked]:border-transparent data-[checked]:bg-accent"
      >
        <Base.Indicator className="text-on-accent">
          <Check size={14} aria-hidden />
        </Base.Indicator>
      </Base.Root>
      <span id={id} className="min-w-0 pt-0.5">
        {label}
      </span>
    </label>
  );
}
