/** Switch between the views. */
import { CircleDot, LayoutList, Milestone, SquareKanban, TextQuote } from "lucide-react";
import { t } from "../../i18n/index.ts";
import { classes } from "../../ui/classes.ts";
import { IconButton } from "../../ui/icon-button.tsx";
import { Menu, MenuChoice } from "../../ui/menu.tsx";
import { VIEWS, type View } from "./params.ts";

const ICONS = {
  list: LayoutList,
  board: SquareKanban,
  timeline: Milestone,
  shape: CircleDot,
  markdown: TextQuote,
};

export function ViewSwitch(props: { view: View; onChange: (view: View) => void }) {
  return (
    <>
      <ViewMenu {...props} />
      <ViewButtons {...props} />
    </>
  );
}

/** On phones one button, so that the page's title keeps its line. */
function ViewMenu({ view, onChange }: { view: View; onChange: (view: View) => void }) {
  const Icon = ICONS[view];
  return (
    <span className="sm:hidden">
      <Menu
        trigger={
          <IconButton plain label={`${t("memory.views")}: ${t(`memory.view.${view}`)}`}>
            <Icon size={17} aria-hidden />
          </IconButton>
        }
      >
        <MenuChoice
          label={t("memory.views")}
          value={view}
          choices={VIEWS.map((one) => ({ value: one, text: t(`memory.view.${one}`) }))}
          onChange={onChange}
        />
      </Menu>
    </span>
  );
}

function ViewButtons({ view, onChange }: { view: View; onChange: (view: View) => void }) {
  return (
    <fieldset className="flex rounded-control border bg-surface p-0.5 max-sm:hidden">
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
            className={classes(
              "xl:!w-auto xl:gap-1.5 xl:px-2",
              one === view && "bg-active !text-ink",
            )}
          >
            <Icon size={15} aria-hidden />
            <span className="text-meta max-xl:hidden">{t(`memory.viewShort.${one}`)}</span>
          </IconButton>
        );
      })}
    </fieldset>
  );
}
