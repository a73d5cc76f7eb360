import { Menu as Base } from "@base-ui/react/menu";
import { Check } from "lucide-react";
import type { ReactElement, ReactNode } from "react";
import { classes } from "./classes.ts";
import { Kbd } from "./kbd.tsx";

const ITEM =
  "flex min-h-8 pointer-coarse:min-h-11 w-full cursor-default items-center gap-2 rounded-[0.3125rem] px-2 text-start outline-none select-none data-[highlighted]:bg-hover";

/** A menu of actions behind a button. */
export function Menu({ trigger, children }: { trigger: ReactElement; children: ReactNode }) {
  return (
    <Base.Root>
      <Base.Trigger render={trigger} />
      <Base.Portal>
        <Base.Positioner sideOffset={6} align="start" className="z-50">
          <Base.Popup className="floating min-w-52 rounded-card border bg-surface p-1 shadow-raised outline-none">
            {children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

export function MenuItem({
  icon,
  children,
  shortcut,
  danger,
  disabled,
  onSelect,
}: {
  icon?: ReactNode;
  children: ReactNode;
  shortcut?: string;
  danger?: boolean;
  disabled?: boolean;
  onSelect: () => void;
}) {
  return (
    <Base.Item
      onClick={onSelect}
      disabled={disabled}
      className={classes(ITEM, danger && "text-bad", "data-[disabled]:opacity-50")}
    >
      {icon && <span className={danger ? undefined : "text-muted"}>{icon}</span>}
      <span className="flex-1">{children}</span>
      {shortcut && <Kbd keys={shortcut} />}
    </Base.Item>
  );
}

/** A radio group inside a menu. */
export function MenuChoice<T extends string>({
  label,
  value,
  choices,
  onChange,
}: {
  label: string;
  value: T;
  choices: readonly { value: T; text: string; icon?: ReactNode }[];
  onChange: (value: T) => void;
}) {
  return (
    <Base.Group>
      <Base.GroupLabel className="px-2 pt-2 pb-1 text-fine text-faint">{label}</Base.GroupLabel>
      <Base.RadioGroup value={value} onValueChange={(chosen) => onChange(chosen as T)}>
        {choices.map((choice) => (
          <Base.RadioItem key={choice.value} value={choice.value} className={ITEM}>
            {choice.icon && <span className="text-muted">{choice.icon}</span>}
            <span className="flex-1">{choice.text}</span>
            <Base.RadioItemIndicator>
              <Check size={14} aria-hidden />
            </Base.RadioItemIndicator>
          </Base.RadioItem>
        ))}
      </Base.RadioGroup>
    </Base.Group>
  );
}

export function MenuLine() {
  return <Base.Separator className="mx-1 my-1 h-px bg-line" />;
}
