import { Field as Base } from "@base-ui/react/field";
import type { ComponentProps, ReactNode } from "react";
import { classes } from "./classes.ts";

export const INPUT =
  "w-full rounded-control border border-strong-line/60 bg-surface px-2.5 text-ink placeholder:text-faint focus-visible:border-accent focus-visible:outline-accent focus-visible:outline-offset-0 disabled:opacity-60";

/** A form field with its label, help and error. */
export function Field({
  label,
  help,
  error,
  children,
}: {
  label: ReactNode;
  help?: ReactNode;
  error?: ReactNode;
  children: ReactNode;
}) {
  return (
    <Base.Root invalid={Boolean(error)} className="flex flex-col gap-1.5">
      <Base.Label className="font-medium">{label}</Base.Label>
      {children}
      {help && <Base.Description className="text-meta text-muted">{help}</Base.Description>}
      {error && (
        <Base.Error match className="text-meta text-bad">
          {error}
        </Base.Error>
      )}
    </Base.Root>
  );
}

/** A one-line input. A `Field` provides its label; elsewhere give it an `aria-label`. */
export function Input({ className, ...props }: ComponentProps<"input">) {
  return <Base.Control {...props} className={classes(INPUT, "h-control", className)} />;
}

/** A multi-line input that grows with its content. */
export function Textarea({ className, ...props }: ComponentProps<"textarea">) {
  return (
    <Base.Control
      render={<textarea rows={3} {...props} />}
      className={classes(INPUT, "field-sizing-content min-h-20 py-2", className)}
    />
  );
}
