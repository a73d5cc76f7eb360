/** Policy settings: a preset, and deviations from it. */
import { Radio } from "@base-ui/react/radio";
import { RadioGroup } from "@base-ui/react/radio-group";
import type { PolicyPatch } from "lukasa-client";
import { type ReactNode, useState } from "react";
import { percent } from "../../base/numbers.ts";
import { type EffectivePolicy, usePolicy, useUpdatePolicy } from "../../data/policy.ts";
import { PauseSwitch } from "../../features/pause/index.tsx";
import { known, nameText, t } from "../../i18n/index.ts";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { Disclosure } from "../../ui/disclosure.tsx";
import { ProblemCard } from "../../ui/problem-card.tsx";
import { Select } from "../../ui/select.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { Switch } from "../../ui/switch.tsx";
import { ConsentCard } from "./consent-card.tsx";

const ADMISSIONS = ["auto", "tiered", "staged", "propose", "off"] as const;
const EXTRACTS = ["close", "turn", "manual"] as const;
const KEEPS = ["full", "excerpts", "none"] as const;
/** No policy puts less certain memories into prompts. */
const MIN_CONFIDENCE = 0.7;
const MINUTES = [10, 30, 60, 120, 0];

export function Policy() {
  const policy = usePolicy();
  const say = useUpdatePolicy();
  if (policy.error) return <ProblemCard error={policy.error} retry={() => void policy.refetch()} />;
  if (!policy.data) return <Skeleton />;
  const now = policy.data.in_force as unknown as EffectivePolicy;
  const user = policy.data.user;
  const change = (part: PolicyPatch) => void say({ ...user, ...part });
  const idle = now.idle_close_minutes ?? 0;
  const { paused, ...rules } = user;
  const own = Object.keys(rules).length > 0;
  return (
    <>
      <Card>
        <PauseSwitch />
      </Card>
      <Card
        title={t("settings.policy.title")}
        actions={
          own && (
            <Button small look="quiet" onClick={() => void say({ paused })}>
              {t("settings.policy.reset")}
            </Button>
          )
        }
      >
        <Presets
          all={policy.data.presets}
          chosen={now.preset}
          onChoose={(preset) => void say({ preset, domains: user.domains ?? undefined, paused })}
        />
      </Card>
      <ConsentCard />
      <Card title={t("settings.policy.details")}>
        <div className="flex flex-col gap-5">
          <Row
            label={t("settings.admission.label")}
            help={t(`settings.admission.help.${one(ADMISSIONS, now.admission)}`, {
              share: percent(Math.max(MIN_CONFIDENCE, now.inject_confidence)),
            })}
          >
            <Select
              label={t("settings.admission.label")}
              value={now.admission}
              onChange={(admission) => change({ admission })}
              choices={ADMISSIONS.map((value) => ({
                value: value as string,
                text: t(`settings.admission.${value}`),
              }))}
            />
          </Row>
          <Row label={t("settings.extract.label")}>
            <Select
              label={t("settings.extract.label")}
              value={now.extract}
              onChange={(extract) => change({ extract })}
              choices={EXTRACTS.map((value) => ({
                value: value as string,
                text: t(`settings.extract.${value}`),
              }))}
            />
          </Row>
          <Row
            label={t("settings.keep.label")}
            help={t(`settings.keep.help.${one(KEEPS, now.keep_turns)}`)}
          >
            <Select
              label={t("settings.keep.label")}
              value={now.keep_turns}
              onChange={(keep_turns) => change({ keep_turns })}
              choices={KEEPS.map((value) => ({
                value: value as string,
                text: t(`settings.keep.${value}`),
              }))}
            />
          </Row>
          <Row label={t("settings.idle.label")}>
            <Select
              label={t("settings.idle.label")}
              value={String(idle)}
              onChange={(minutes) => change({ idle_close_minutes: Number(minutes) })}
              choices={[...new Set([...MINUTES, idle])].map((minutes) => ({
                value: String(minutes),
                text: t("settings.idle.minutes", { count: minutes }),
              }))}
            />
          </Row>
          <Switch
            label={t("settings.titles.label")}
            checked={now.titles}
            onChange={(titles) => change({ titles })}
          />
        </div>
      </Card>
    </>
  );
}

function one<T extends string>(known: readonly T[], value: string): T {
  return known.find((word) => word === value) ?? (known[0] as T);
}

/** The presets that differ in what is remembered; the rest are about when, or are for special uses. */
const MAIN_PRESETS = ["assistant", "balanced", "advisor"];

interface PresetsProps {
  all: readonly string[];
  chosen: string;
  onChoose: (preset: string) => void;
}

function Presets({ all, chosen, onChoose }: PresetsProps) {
  const main = MAIN_PRESETS.filter((one) => all.includes(one));
  const rest = all.filter((one) => !MAIN_PRESETS.includes(one));
  const [open, setOpen] = useState(rest.includes(chosen));
  return (
    <div className="flex flex-col gap-3">
      <PresetGroup
        label={t("settings.policy.title")}
        presets={main}
        chosen={chosen}
        onChoose={onChoose}
      />
      {rest.length > 0 && (
        <Disclosure label={t("settings.policy.more")} open={open} onOpen={setOpen}>
          <PresetGroup
            label={t("settings.policy.more")}
            presets={rest}
            chosen={chosen}
            onChoose={onChoose}
          />
        </Disclosure>
      )}
    </div>
  );
}

function PresetGroup({
  label,
  presets,
  chosen,
  onChoose,
}: Omit<PresetsProps, "all"> & { label: string; presets: readonly string[] }) {
  return (
    <RadioGroup
      aria-label={label}
      value={presets.includes(chosen) ? chosen : null}
      onValueChange={(preset) => onChoose(String(preset))}
      className="grid gap-2 sm:grid-cols-2 md:grid-cols-3"
    >
      {presets.map((preset) => (
        <Preset key={preset} preset={preset} />
      ))}
    </RadioGroup>
  );
}

function Preset({ preset }: { preset: string }) {
  const name = `settings.preset.${preset}`;
  const help = `settings.preset.${preset}.help`;
  return (
    <Radio.Root
      value={preset}
      className="group flex flex-col items-start gap-0.5 rounded-control border p-3 text-start hover:bg-hover data-[checked]:border-accent data-[checked]:bg-accent-soft"
      nativeButton
      render={<button type="button" />}
    >
      <span className="flex w-full items-center gap-2 font-medium">
        <span
          aria-hidden
          className="flex size-4 shrink-0 items-center justify-center rounded-full border border-strong-line group-data-[checked]:border-accent"
        >
          <span className="size-2 rounded-full group-data-[checked]:bg-accent" />
        </span>
        {nameText(name, preset)}
      </span>
      {known(help) && <span className="ps-6 text-meta text-muted">{t(help)}</span>}
    </Radio.Root>
  );
}

/** A setting: name and explanation on one side, the choice on the other. */
export function Row({
  label,
  help,
  children,
}: {
  label: ReactNode;
  help?: ReactNode;
  children: ReactNode;
}) {
  return (
    <div className="flex flex-wrap items-start justify-between gap-x-6 gap-y-2">
      <div className="min-w-0 flex-1 basis-60">
        <div className="font-medium">{label}</div>
        {help && <div className="text-meta text-muted">{help}</div>}
      </div>
      <div className="w-72 max-sm:w-full">{children}</div>
    </div>
  );
}
