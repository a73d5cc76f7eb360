/** Settings of a request: chat, budget, areas and time. */
import { CalendarClock, Layers2, SlidersHorizontal } from "lucide-react";
import { useEffect, useState } from "react";
import { percent } from "../../base/numbers.ts";
import { useDomains } from "../../data/domains.ts";
import { useSessions } from "../../data/sessions.ts";
import { t } from "../../i18n/index.ts";
import { Button } from "../../ui/button.tsx";
import { Chip } from "../../ui/chip.tsx";
import { Field, Input } from "../../ui/field.tsx";
import { Popover } from "../../ui/popover.tsx";
import { Select } from "../../ui/select.tsx";
import { Switch } from "../../ui/switch.tsx";
import { BUDGETS, type Setting } from "./params.ts";

interface Props {
  /** Its name in a comparison. */
  name?: string;
  setting: Setting;
  onChange: (setting: Setting) => void;
}

export function Settings({ name, setting, onChange }: Props) {
  const change = (part: Partial<Setting>) => onChange({ ...setting, ...part });
  return (
    <fieldset className="flex min-w-0 flex-wrap items-center gap-2">
      <legend className="sr-only">{name ?? t("playground.settings")}</legend>
      {name && <span className="w-6 text-center font-semibold">{name}</span>}
      <BudgetChoice setting={setting} change={change} />
      <SessionChoice setting={setting} change={change} />
      <DomainChoice setting={setting} change={change} />
      <TimeChoice setting={setting} change={change} />
      <More setting={setting} change={change} />
    </fieldset>
  );
}

interface Part {
  setting: Setting;
  change: (part: Partial<Setting>) => void;
}

const NUMBER = "number";
const USUAL = 1_500;

function BudgetChoice({ setting, change }: Part) {
  const { budget } = setting;
  const named = typeof budget === "number" ? NUMBER : (budget ?? "compact");
  return (
    <>
      <span className="w-44 max-sm:w-[calc(50%-0.25rem)]">
        <Select
          label={t("playground.budget")}
          value={named}
          choices={[
            ...BUDGETS.map((one) => ({
              value: one as string,
              text: t(`playground.budget.${one}`),
            })),
            { value: NUMBER, text: t("playground.budget.number") },
          ]}
          onChange={(chosen) => {
            const preset = BUDGETS.find((one) => one === chosen);
            if (chosen === NUMBER) change({ budget: typeof budget === "number" ? budget : USUAL });
            else change({ budget: preset === "compact" ? undefined : preset });
          }}
        />
      </span>
      {typeof budget === "number" && (
        <NumberInput
          label={t("playground.budget.tokens")}
          value={budget}
          onChange={(tokens) => change({ budget: tokens ?? USUAL })}
        />
      )}
    </>
  );
}

/** A whole number, applied on blur or Enter. */
function NumberInput({
  label,
  value,
  onChange,
}: {
  label: string;
  value: number | undefined;
  onChange: (value: number | undefined) => void;
}) {
  const [typed, setTyped] = useState(String(value ?? ""));
  useEffect(() => setTyped(String(value ?? "")), [value]);
  const take = () => {
    const number = Number.parseInt(typed, 10);
    onChange(Number.isFinite(number) && number > 0 ? number : undefined);
  };
  return (
    <Input
      aria-label={label}
      inputMode="numeric"
      value={typed}
      onChange={(event) => setTyped(event.currentTarget.value)}
      onBlur={take}
      onKeyDown={(event) => {
        if (event.key === "Enter") take();
      }}
      className="max-w-24 tabular-nums"
    />
  );
}

const NONE = "";

function SessionChoice({ setting, change }: Part) {
  const sessions = useSessions();
  const known = sessions.data ?? [];
  const missing = setting.session && !known.some((one) => one.id === setting.session);
  return (
    <span className="w-52 max-sm:w-[calc(50%-0.25rem)]">
      <Select
        label={t("playground.session")}
        value={setting.session ?? NONE}
        choices={[
          { value: NONE, text: t("playground.session.none") },
          ...(missing && setting.session
            ? [{ value: setting.session, text: setting.session }]
            : []),
          ...known.map((one) => ({ value: one.id, text: one.title ?? one.id })),
        ]}
        onChange={(session) => change({ session: session || undefined })}
      />
    </span>
  );
}

function DomainChoice({ setting, change }: Part) {
  const domains = useDomains();
  const chosen = setting.domains ?? [];
  const flip = (name: string) => {
    const next = chosen.includes(name) ? chosen.filter((one) => one !== name) : [...chosen, name];
    change({ domains: next.length > 0 ? next : undefined });
  };
  return (
    <Popover
      title={t("playground.domains.choose")}
      trigger={
        <Button>
          <Layers2 size={14} aria-hidden className="text-muted" />
          {chosen.length === 0 ? t("playground.domains.detected") : chosen.join(", ")}
        </Button>
      }
    >
      <p className="pb-2 text-meta text-muted">{t("playground.domains.help")}</p>
      <div className="flex flex-wrap gap-1.5">
        {domains.data?.map((one) => (
          <Chip key={one.name} pressed={chosen.includes(one.name)} onPress={() => flip(one.name)}>
            {one.name}
          </Chip>
        ))}
      </div>
    </Popover>
  );
}

function TimeChoice({ setting, change }: Part) {
  const { as_of, known_at } = setting;
  return (
    <Popover
      title={t("playground.when")}
      trigger={
        <Button>
          <CalendarClock size={14} aria-hidden className="text-muted" />
          {as_of || known_at ? t("playground.when.then") : t("playground.when.now")}
        </Button>
      }
    >
      <div className="flex flex-col gap-3">
        <Instant
          label={t("playground.asOf")}
          help={t("playground.asOf.help")}
          value={as_of}
          onChange={(at) => change({ as_of: at })}
        />
        <Instant
          label={t("playground.knownAt")}
          help={t("playground.knownAt.help")}
          value={known_at}
          onChange={(at) => change({ known_at: at })}
        />
      </div>
    </Popover>
  );
}

/** A point in time in the browser's time zone, with its UTC form for the API. */
function Instant({
  label,
  help,
  value,
  onChange,
}: {
  label: string;
  help: string;
  value: string | undefined;
  onChange: (value: string | undefined) => void;
}) {
  return (
    <Field label={label} help={value ? `${help} ${value}` : help}>
      <Input
        type="datetime-local"
        value={value ? local(value) : ""}
        onChange={(event) => {
          const value = event.currentTarget.value;
          onChange(value ? new Date(value).toISOString() : undefined);
        }}
      />
    </Field>
  );
}

/** An instant as the value of a `datetime-local` input. */
function local(at: string): string {
  const date = new Date(at);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

function More({ setting, change }: Part) {
  return (
    <Popover
      title={t("playground.more")}
      trigger={
        <Button>
          <SlidersHorizontal size={14} aria-hidden className="text-muted" />
          {t("shell.more")}
        </Button>
      }
    >
      <div className="flex flex-col gap-4">
        <Field
          label={t("playground.window")}
          help={t("playground.window.help", { share: percent(0.15) })}
        >
          <NumberInput
            label={t("playground.window")}
            value={setting.window}
            onChange={(window) => change({ window })}
          />
        </Field>
        <Switch
          label={t("playground.precise")}
          help={t("playground.precise.help")}
          checked={setting.precise ?? false}
          onChange={(on) => change({ precise: on || undefined })}
        />
        <Switch
          label={t("playground.anyway")}
          help={t("playground.anyway.help")}
          checked={setting.anyway ?? false}
          onChange={(on) => change({ anyway: on || undefined })}
        />
        <Switch
          label={t("playground.freeze")}
          help={t("playground.freeze.help")}
          checked={setting.freeze !== false}
          disabled={!setting.session}
          onChange={(on) => change({ freeze: on ? undefined : false })}
        />
        <Switch
          label={t("playground.rerank")}
          help={t("playground.ranks.only")}
          checked={setting.rerank !== false}
          onChange={(on) => change({ rerank: on ? undefined : false })}
        />
        <Switch
          label={t("playground.fusion")}
          help={t("playground.ranks.only")}
          checked={setting.fusion === "ranks"}
          onChange={(on) => change({ fusion: on ? "ranks" : undefined })}
        />
      </div>
    </Popover>
  );
}
