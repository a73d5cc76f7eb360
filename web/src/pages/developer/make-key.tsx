/** Dialog to create a key: user, permissions, trust level and expiry. */

import { useQueryClient } from "@tanstack/react-query";
import type { IssuedView } from "lukasa-client";
import { type FormEvent, useId, useState } from "react";
import { useLukasa } from "../../base/sign-in.ts";
import { t } from "../../i18n/index.ts";
import { Button } from "../../ui/button.tsx";
import { Checkbox } from "../../ui/checkbox.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field, Input } from "../../ui/field.tsx";
import { ProblemCard } from "../../ui/problem-card.tsx";
import { Select } from "../../ui/select.tsx";

const MAY = ["read", "write", "propose", "erase", "admin", "chat"] as const;
/** Permissions that most apps need. */
const USUAL: readonly string[] = ["read", "write", "propose"];
const ORIGINS = ["assistant", "user_said", "tool", "document", "import"] as const;
const DAYS = ["0", "30", "90", "365"] as const;
const DAY = 86_400_000;

export function MakeKey({
  open,
  onOpenChange,
  onMade,
}: {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  onMade: (made: IssuedView) => void;
}) {
  const lukasa = useLukasa();
  const queries = useQueryClient();
  const form = useId();
  const [name, setName] = useState("");
  const [user, setUser] = useState("");
  const [may, setMay] = useState<readonly string[]>(USUAL);
  const [origin, setOrigin] = useState<string>("assistant");
  const [days, setDays] = useState<string>("0");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      const made = await lukasa.keys.create({
        name: name.trim(),
        user: user.trim() || undefined,
        permissions: [...may],
        origin,
        expires_at:
          days === "0" ? undefined : new Date(Date.now() + Number(days) * DAY).toISOString(),
      });
      onOpenChange(false);
      onMade(made);
      // Reset the form for the next key.
      setName("");
      setUser("");
      setMay(USUAL);
      setOrigin("assistant");
      setDays("0");
      await queries.invalidateQueries({ queryKey: ["keys"] });
    } catch (refused) {
      setError(refused);
    } finally {
      setBusy(false);
    }
  };
  const toggle = (one: string) =>
    setMay((all) => (all.includes(one) ? all.filter((other) => other !== one) : [...all, one]));
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title={t("developer.keys.make")}
      actions={
        <Button
          look="primary"
          type="submit"
          form={form}
          busy={busy}
          disabled={!name.trim() || may.length === 0}
        >
          {t("developer.keys.create")}
        </Button>
      }
    >
      <form id={form} onSubmit={(event) => void submit(event)} className="flex flex-col gap-4">
        {error !== undefined && <ProblemCard error={error} />}
        <Field label={t("developer.keys.name")} help={t("developer.keys.nameHelp")}>
          <Input value={name} onChange={(event) => setName(event.target.value)} required />
        </Field>
        <Field label={t("developer.keys.user")} help={t("developer.keys.userHelp")}>
          <Input
            value={user}
            autoComplete="off"
            onChange={(event) => setUser(event.target.value)}
          />
        </Field>
        <fieldset className="flex flex-col gap-1">
          <legend className="pb-1 font-medium">{t("developer.keys.may")}</legend>
          {MAY.map((one) => (
            <Checkbox
              key={one}
              label={t(`developer.may.${one}`)}
              checked={may.includes(one)}
              onChange={() => toggle(one)}
            />
          ))}
        </fieldset>
        <div className="flex flex-col gap-1.5">
          <span className="font-medium">{t("developer.keys.origin")}</span>
          <Select
            label={t("developer.keys.origin")}
            value={origin}
            onChange={setOrigin}
            choices={ORIGINS.map((value) => ({
              value: value as string,
              text: t(`developer.origin.${value}`),
            }))}
          />
        </div>
        <div className="flex flex-col gap-1.5">
          <span className="font-medium">{t("developer.keys.lasts")}</span>
          <Select
            label={t("developer.keys.lasts")}
            value={days}
            onChange={setDays}
            choices={DAYS.map((value) => ({
              value: value as string,
              text: t("developer.keys.days", { count: Number(value) }),
            }))}
          />
        </div>
      </form>
    </Dialog>
  );
}
