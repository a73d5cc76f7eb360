/** Switch between the views. */
import { LayoutList, Milestone, SquareKanban, TextQuote } from "lucide-react";
import { t } from "../../i18n/index.ts";
import { classes } from "../../ui/classes.ts";
import { IconButton } from "../../ui/icon-button.tsx";
import { VIEWS, type View } from "./params.ts";

const ICONS = { list: LayoutList, board: SquareKanban, timeline: Milestone, markdown: TextQuote };

export function ViewSwitch({ view, onChange }: { view: View; onChange: (view: View) => void }) {
  return (
    <fieldset className="flex rounded-control border bg-surface p-0.5">
      <legend className="sr-only">{t("memory.views")}</legend>
      {VIEWS.map((one) => {
        const Icon = ICONS[one];
        return (
          <IconButton
            key={one}
            small
            label={t(`memory.view.${one}`)}
            shortcut={`v ${one[0]}`}
            aria-pressed={one === view}
            onClick={() => onChange(one)}
            className={classes("!size-7", one === view && "bg-active !text-ink")}
          >
            <Icon size={15} aria-hidden />
          </IconButton>
        );
      })}
    </fieldset>
  );
}
