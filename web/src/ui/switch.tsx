import { Switch as Base } from "@base-ui/react/switch";
import { type ReactNode, useId } from "react";

/** A switch that takes effect at once. */
export function Switch({
  label,
  help,
  checked,
  onChange,
  disabled,
}: {
  label: ReactNode;
  help?: ReactNode;
  checked: boolean;
  onChange: (checked: boolean) => void;
  disabled?: boolean;
}) {
  const id = useId();
  return (
    <div className="flex items-start justify-between gap-4">
      <div>
        <div id={id} className="font-medium">
          {label}
        </div>
        {help && (
          <div id={`${id}-help`} className="text-meta text-muted">
            {help}
          </div>
        )}
      </div>
      <Base.Root
        checked={checked}
        onCheckedChange={onChange}
        disabled={disabled}
        aria-labelledby={id}
        aria-describedby={help ? `${id}-help` : undefined}
        className="relative after:absolute after:-inset-x-1 after:-inset-y-2.5 mt-0.5 inline-flex h-6 w-10 shrink-0 items-center rounded-full border border-strong-line bg-sunken p-0.5 transition-colors data-[checked]:border-transparent data-[checked]:bg-accent data-[disabled]:opacity-50"
      >
        <Base.Thumb className="size-4 rounded-full bg-strong-line transition-transform data-[checked]:translate-x-4 data-[checked]:bg-on-accent rtl:data-[checked]:-translate-x-4" />
      </Base.Root>
    </div>
  );
}
