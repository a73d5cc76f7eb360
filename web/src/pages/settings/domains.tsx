/** Domains: turning sensitive ones on or off, and the admission policy of each. */

import { useQueryClient } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import type { DomainView } from "lukasa-client";
import { type FormEvent, useState } from "react";
import { showFailure } from "../../base/failures.ts";
import { useLukasa, useSignIn } from "../../base/sign-in.ts";
import { showToast } from "../../base/toasts.ts";
import { useDomains } from "../../data/domains.ts";
import { usePolicy, useUpdatePolicy } from "../../data/policy.ts";
import { type OwnUndo, sendWithUndo } from "../../data/writes.ts";
import { domainName } from "../../i18n/domains.ts";
import { t } from "../../i18n/index.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field, Input } from "../../ui/field.tsx";
import { ProblemCard } from "../../ui/problem-card.tsx";
import { Select } from "../../ui/select.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { Switch } from "../../ui/switch.tsx";

const ADMISSIONS = ["auto", "tiered", "staged", "propose", "off"] as const;

export function Domains() {
  const signIn = useSignIn();
  const domains = useDomains();
  const [adding, setAdding] = useState(false);
  return (
    <Card
      flush
      title={t("settings.domains.title")}
      actions={
        signIn.admin && (
          <Button small onClick={() => setAdding(true)}>
            <Plus size={14} aria-hidden />
            {t("settings.domains.add")}
          </Button>
        )
      }
    >
      <p className="border-b px-4 py-3 text-muted">{t("settings.domains.text")}</p>
      {domains.error && (
        <div className="p-3">
          <ProblemCard error={domains.error} retry={() => void domains.refetch()} />
        </div>
      )}
      {domains.isPending && <Skeleton />}
      <ul className="divide-y divide-line">
        {domains.data?.map((domain) => (
          <Domain key={domain.name} domain={domain} />
        ))}
      </ul>
      <AddDomain open={adding} onOpenChange={setAdding} />
    </Card>
  );
}

function Domain({ domain }: { domain: DomainView }) {
  const lukasa = useLukasa();
  const signIn = useSignIn();
  const queries = useQueryClient();
  const policy = usePolicy();
  const say = useUpdatePolicy();
  const name = domainName(domain);
  const open = !domain.requires_opt_in || Boolean(domain.opted_in_at);
  const own = policy.data?.user.domains as Record<string, string> | null | undefined;
  const chosen = own?.[domain.name] ?? "same";

  const turn = async (wanted: boolean, isUndo = false): Promise<void> => {
    const put = (view: DomainView) =>
      queries.setQueryData<DomainView[]>(["domains"], (all) =>
        all?.map((one) => (one.name === view.name ? view : one)),
      );
    const send = async (): Promise<OwnUndo | undefined> => {
      // It may have changed since this was rendered: an undo comes later.
      const all = queries.getQueryData<DomainView[]>(["domains"]);
      const before = all?.find((one) => one.name === domain.name) ?? domain;
      put({ ...before, opted_in_at: wanted ? new Date().toISOString() : null });
      try {
        put(await lukasa.domains[wanted ? "open" : "close"](domain.name));
      } catch (error) {
        put(before);
        showFailure(error, { about: name, retry: () => turn(wanted, isUndo) });
        return undefined;
      }
      return {
        text: t(wanted ? "settings.domains.opened" : "settings.domains.wasShut", { name }),
        undo: () => turn(!wanted, true),
      };
    };
    if (!isUndo) await sendWithUndo(send);
    else if (await send()) showToast({ text: t("shell.undo.undone") });
  };
  const admit = (value: string) => {
    const { [domain.name]: _, ...others } = own ?? {};
    const domains = value === "same" ? others : { ...others, [domain.name]: value };
    void say({ ...policy.data?.user, domains });
  };
  return (
    <li className="flex flex-wrap items-center gap-x-6 gap-y-2 px-4 py-3">
      <div className="min-w-0 flex-1 basis-72">
        {domain.requires_opt_in ? (
          <Switch
            label={
              <>
                <bdi>{name}</bdi> <Badge tone="warn">{t("settings.domains.sensitive")}</Badge>
              </>
            }
            help={t(
              !signIn.human
                ? "settings.domains.onlyThem"
                : open
                  ? "settings.domains.open"
                  : "settings.domains.shut",
            )}
            checked={open}
            disabled={!signIn.human}
            onChange={(wanted) => void turn(wanted)}
          />
        ) : (
          <>
            <div className="font-medium">
              <bdi>{name}</bdi>{" "}
              {domain.sensitive && <Badge tone="warn">{t("settings.domains.sensitive")}</Badge>}
            </div>
            {domain.default_expiration_days ? (
              <div className="text-meta text-muted">
                {t("settings.domains.ends", { count: domain.default_expiration_days })}
              </div>
            ) : null}
          </>
        )}
      </div>
      {open && (
        <div className="w-72 max-sm:w-full">
          <Select
            label={t("settings.domains.admission", { name })}
            value={chosen}
            onChange={admit}
            choices={[
              { value: "same", text: t("settings.domains.same") },
              ...ADMISSIONS.map((value) => ({
                value: value as string,
                text: t(`settings.admission.${value}`),
              })),
            ]}
          />
        </div>
      )}
    </li>
  );
}

function AddDomain({
  open,
  onOpenChange,
}: {
  open: boolean;
  onOpenChange: (open: boolean) => void;
}) {
  const lukasa = useLukasa();
  const queries = useQueryClient();
  const [title, setTitle] = useState("");
  const [guarded, setGuarded] = useState(false);
  const name = title
    .trim()
    .toLowerCase()
    .replaceAll("ß", "ss")
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^[-0-9]+|-+$/g, "");
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    try {
      await lukasa.domains.put(name, {
        display_name: title.trim(),
        sensitive: guarded,
        requires_opt_in: guarded,
      });
      await queries.invalidateQueries({ queryKey: ["domains"] });
      onOpenChange(false);
      setTitle("");
      setGuarded(false);
    } catch (error) {
      showFailure(error, { about: title.trim() });
    }
  };
  return (
    <Dialog open={open} onOpenChange={onOpenChange} title={t("settings.domains.add")}>
      <form onSubmit={(event) => void submit(event)} className="flex flex-col gap-4">
        <Field
          label={t("settings.domains.name")}
          help={name && t("settings.domains.known", { name })}
          error={title.trim() && !name && t("settings.domains.unnamed")}
        >
          <Input value={title} onChange={(event) => setTitle(event.target.value)} required />
        </Field>
        <Switch
          label={t("settings.domains.guarded")}
          help={t("settings.domains.guardedHelp")}
          checked={guarded}
          onChange={setGuarded}
        />
        <div className="flex justify-end">
          <Button look="primary" type="submit" disabled={!name}>
            {t("settings.domains.make")}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
