/** Sets up the model that answers: one found on this machine, or any OpenAI-compatible service. */
import { useQueryClient } from "@tanstack/react-query";
import { Check, CircleAlert } from "lucide-react";
import { type FormEvent, useState } from "react";
import { useLukasa } from "../../base/sign-in.ts";
import {
  MODEL_SERVICE_KEY,
  putModelService,
  removeModelService,
  testModelService,
  useModelService,
} from "../../data/model-service.ts";
import {
  type FoundService,
  firstSettings,
  isComplete,
  isSame,
  MAX_OFFERED_MODELS,
  type ModelService,
  type ModelServiceSettings,
  type ModelServiceTest,
  reasonOf,
} from "../../data/model-settings.ts";
import { model } from "../../i18n/en/model.ts";
import { addMessages, t } from "../../i18n/index.ts";
import { Button } from "../../ui/button.tsx";
import { Field, Input } from "../../ui/field.tsx";
import { ProblemCard } from "../../ui/problem-card.tsx";
import { Snippet } from "../../ui/snippet.tsx";

addMessages({ model });

export default function ModelSetup({
  guide,
  choose,
  open: opened = false,
}: {
  /** Whether there is no model, so that the guide answers. */
  guide: boolean;
  choose: (model: string) => void;
  /** Whether the form is shown at once. */
  open?: boolean;
}) {
  const { data: service, error } = useModelService();
  const [open, setOpen] = useState(opened);
  if (!service && !error) return null;
  if (!service?.changeable) return guide && <ByCommand />;
  if (open) return <ModelForm service={service} choose={choose} close={() => setOpen(false)} />;
  return (
    <div className="flex flex-col items-center gap-2">
      {service.model && <p>{t("model.inUse", { model: service.model })}</p>}
      <Button look={guide ? "primary" : "plain"} onClick={() => setOpen(true)}>
        {t(guide ? "model.setUp" : "model.change")}
      </Button>
    </div>
  );
}

/** How the operator connects a model to a server that takes none from the console. */
function ByCommand() {
  return (
    <>
      <p className="text-center">{t("chat.noModelAdmin")}</p>
      <Snippet code="lukasa serve --upstream http://localhost:11434/v1" />
    </>
  );
}

function ModelForm({
  service,
  choose,
  close,
}: {
  service: ModelService;
  choose: (model: string) => void;
  close: () => void;
}) {
  const lukasa = useLukasa();
  const queries = useQueryClient();
  const [settings, setSettings] = useState(() => firstSettings(service));
  const [tested, setTested] = useState<{
    settings: ModelServiceSettings;
    test: ModelServiceTest;
  }>();
  const [busy, setBusy] = useState<"test" | "save" | "remove">();
  const [error, setError] = useState<unknown>();
  const set = (part: Partial<ModelServiceSettings>) => setSettings({ ...settings, ...part });

  const run = async (what: "test" | "save" | "remove", work: () => Promise<void>) => {
    setBusy(what);
    setError(undefined);
    try {
      await work();
    } catch (problem) {
      setError(problem);
    } finally {
      setBusy(undefined);
    }
  };
  const test = async () => {
    setTested(undefined);
    const result = await testModelService(lukasa, settings);
    setTested({ settings, test: result });
    return result.ok;
  };
  const apply = async (changed: ModelService) => {
    queries.setQueryData(MODEL_SERVICE_KEY, changed);
    await queries.invalidateQueries({ queryKey: ["models"] });
    close();
  };
  const save = (event: FormEvent) => {
    event.preventDefault();
    void run("save", async () => {
      if (!(await test())) return;
      const changed = await putModelService(lukasa, settings);
      choose(settings.model.trim());
      await apply(changed);
    });
  };
  const remove = () => run("remove", async () => apply(await removeModelService(lukasa)));
  const result = tested && isSame(tested.settings, settings) ? tested.test : undefined;
  const ready = isComplete(settings) && busy === undefined;
  return (
    <form
      aria-label={t("model.setUp")}
      onSubmit={save}
      className="flex flex-col gap-4 rounded-card border bg-surface p-4 text-start text-ink"
    >
      <FoundServices found={service.found} settings={settings} set={set} />
      <Field label={t("model.url")} help={t("model.urlHelp")}>
        <Input
          type="url"
          dir="ltr"
          value={settings.url}
          placeholder="http://127.0.0.1:11434/v1"
          onChange={(event) => set({ url: event.currentTarget.value })}
        />
      </Field>
      <Field label={t("model.key")} help={t("model.keyHelp")}>
        <Input
          type="password"
          dir="ltr"
          autoComplete="off"
          value={settings.key}
          onChange={(event) => set({ key: event.currentTarget.value })}
        />
      </Field>
      <Field label={t("model.name")}>
        <Input
          dir="ltr"
          value={settings.model}
          onChange={(event) => set({ model: event.currentTarget.value })}
        />
      </Field>
      <output className="text-meta">
        {busy === "test" || busy === "save"
          ? t("model.testing")
          : result && <Result test={result} />}
      </output>
      {error !== undefined && <ProblemCard error={error} />}
      <div className="flex flex-wrap gap-2">
        <Button type="submit" look="primary" disabled={!ready} busy={busy === "save"}>
          {t("model.save")}
        </Button>
        <Button
          disabled={!ready}
          busy={busy === "test"}
          onClick={() => void run("test", async () => void (await test()))}
        >
          {t("model.test")}
        </Button>
        {service.set_by === "console" && (
          <Button
            disabled={busy !== undefined}
            busy={busy === "remove"}
            onClick={() => void remove()}
          >
            {t("model.remove")}
          </Button>
        )}
        <Button look="quiet" onClick={close}>
          {t("model.cancel")}
        </Button>
      </div>
    </form>
  );
}

/** The services on this machine, with a button for each model. */
function FoundServices({
  found,
  settings,
  set,
}: {
  found: FoundService[];
  settings: ModelServiceSettings;
  set: (part: Partial<ModelServiceSettings>) => void;
}) {
  if (found.length === 0) return <p className="text-meta text-muted">{t("model.notFound")}</p>;
  return (
    <div className="flex flex-col gap-2">
      <p className="font-medium">{t("model.found")}</p>
      {found.map((service) =>
        service.models.length === 0 ? (
          <p key={service.url} className="text-meta text-muted">
            {t("model.noModels", { service: service.name })}
          </p>
        ) : (
          <div key={service.url} className="flex flex-wrap gap-2">
            {service.models.slice(0, MAX_OFFERED_MODELS).map((name) => (
              <Button
                key={name}
                small
                aria-pressed={settings.url === service.url && settings.model === name}
                className="aria-pressed:border-accent aria-pressed:bg-accent-soft"
                onClick={() => set({ url: service.url, model: name, key: "" })}
              >
                {t("model.choose", { service: service.name, model: name })}
              </Button>
            ))}
          </div>
        ),
      )}
    </div>
  );
}

function Result({ test }: { test: ModelServiceTest }) {
  const Icon = test.ok ? Check : CircleAlert;
  return (
    <span className={`flex items-center gap-1.5 ${test.ok ? "text-good" : "text-bad"}`}>
      <Icon size={14} aria-hidden className="shrink-0" />
      {test.ok ? t("model.works") : t(`model.reason.${reasonOf(test)}`)}
    </span>
  );
}
