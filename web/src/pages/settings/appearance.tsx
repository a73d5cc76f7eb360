/** Appearance and shortcuts of the console in this browser; and the time zone, which is a memory. */

import { exact } from "../../base/dates.ts";
import { prefer, usePreferences } from "../../base/preferences.ts";
import { useSetTimeZone, useTimeZone, zoneOf } from "../../data/time-zone.ts";
import { LANGUAGES, type Language, t } from "../../i18n/index.ts";
import { Card } from "../../ui/card.tsx";
import { Select } from "../../ui/select.tsx";
import { Switch } from "../../ui/switch.tsx";
import { useNow } from "../../ui/time.tsx";
import { Row } from "./policy.tsx";

export function Appearance() {
  const { theme, density, language, singleKeys, timeZone } = usePreferences();
  const now = useNow();
  const memory = useTimeZone();
  const say = useSetTimeZone();
  const browser = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const zone = zoneOf(memory.data) ?? timeZone ?? browser;
  const zones = [...new Set([zone, browser, "UTC", ...Intl.supportedValuesOf("timeZone")])].sort();
  return (
    <>
      <Card title={t("settings.look.title")}>
        <div className="flex flex-col gap-5">
          <Row label={t("shell.theme.name")}>
            <Select
              label={t("shell.theme.name")}
              value={theme}
              onChange={(chosen) => prefer({ theme: chosen })}
              choices={(["light", "dark", "system"] as const).map((value) => ({
                value,
                text: t(`shell.theme.${value}`),
              }))}
            />
          </Row>
          <Row label={t("shell.density.name")}>
            <Select
              label={t("shell.density.name")}
              value={density}
              onChange={(chosen) => prefer({ density: chosen })}
              choices={(["comfortable", "compact"] as const).map((value) => ({
                value,
                text: t(`shell.density.${value}`),
              }))}
            />
          </Row>
          <Row label={t("shell.language.name")} help={t("settings.look.language")}>
            <Select<Language>
              label={t("shell.language.name")}
              value={language}
              onChange={(chosen) => prefer({ language: chosen })}
              choices={(["en", "de"] as const).map((value) => ({ value, text: LANGUAGES[value] }))}
            />
          </Row>
          <Switch
            label={t("settings.look.keys")}
            help={t("settings.look.keysHelp")}
            checked={singleKeys}
            onChange={(chosen) => prefer({ singleKeys: chosen })}
          />
        </div>
      </Card>
      <Card title={t("settings.zone.title")}>
        <Row
          label={t("settings.zone.label")}
          help={t(memory.data ? "settings.zone.known" : "settings.zone.guessed", {
            now: exact(now, zone),
          })}
        >
          <Select
            label={t("settings.zone.label")}
            value={zone}
            onChange={(chosen) => void say(memory.data, chosen).then(() => memory.refetch())}
            choices={zones.map((value) => ({ value, text: value.replaceAll("_", " ") }))}
          />
        </Row>
      </Card>
    </>
  );
}
