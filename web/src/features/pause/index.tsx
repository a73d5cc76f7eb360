/**
 * Pausing memory: the button of the Memory page, the item of the account menu, the switch of the settings, and the
 * banner of every page.
 */
import { Pause, Play } from "lucide-react";
import { type EffectivePolicy, usePolicy, useUpdatePolicy } from "../../data/policy.ts";
import { pause } from "../../i18n/en/pause.ts";
import { addMessages, t } from "../../i18n/index.ts";
import { Button } from "../../ui/button.tsx";
import { IconButton } from "../../ui/icon-button.tsx";
import { MenuItem } from "../../ui/menu.tsx";
import { Switch } from "../../ui/switch.tsx";

addMessages({ pause });

function usePause() {
  const { data } = usePolicy();
  const update = useUpdatePolicy();
  const policy = data?.in_force as unknown as EffectivePolicy | undefined;
  return {
    isKnown: policy !== undefined,
    paused: policy?.paused === true,
    setPaused: (paused: boolean) => void update({ ...data?.user, paused }),
  };
}

/** On phones the account menu alone has it: icons without a text are few there. */
export function PauseButton() {
  const { isKnown, paused, setPaused } = usePause();
  return (
    <IconButton
      label={t(paused ? "pause.resumeMemory" : "pause.pause")}
      disabled={!isKnown}
      onClick={() => setPaused(!paused)}
      className="max-sm:hidden"
    >
      {paused ? <Play size={16} aria-hidden /> : <Pause size={16} aria-hidden />}
    </IconButton>
  );
}

/** The same in the account menu. */
export function PauseItem() {
  const { isKnown, paused, setPaused } = usePause();
  const Icon = paused ? Play : Pause;
  if (!isKnown) return null;
  return (
    <MenuItem icon={<Icon size={14} aria-hidden />} onSelect={() => setPaused(!paused)}>
      {t(paused ? "pause.resumeMemory" : "pause.pause")}
    </MenuItem>
  );
}

export function PauseSwitch() {
  const { isKnown, paused, setPaused } = usePause();
  return (
    <Switch
      label={t("pause.pause")}
      help={t("pause.help")}
      checked={paused}
      disabled={!isKnown}
      onChange={setPaused}
    />
  );
}

/** The banner while memory is paused. */
export function PausedBanner() {
  const { paused, setPaused } = usePause();
  if (!paused) return null;
  return (
    <div
      role="status"
      className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b bg-warn-soft px-4 py-2 sm:px-6"
    >
      <Pause size={16} aria-hidden className="shrink-0 text-warn" />
      <p className="min-w-0 flex-1">
        <strong className="font-medium">{t("pause.title")}</strong> {t("pause.text")}
      </p>
      <Button small onClick={() => setPaused(false)}>
        {t("pause.resume")}
      </Button>
    </div>
  );
}
