/** Connecting an assistant: a card for each, and the command for developers. */
import { ConnectCards, ConnectCommand } from "../../features/connect/connect-cards.tsx";
import { t } from "../../i18n/index.ts";
import { Disclosure } from "../../ui/disclosure.tsx";
import { Connectors } from "./connectors.tsx";

export function ConnectAssistant() {
  return (
    <section aria-label={t("settings.ways.title")} className="flex flex-col gap-3">
      <p className="text-muted">{t("settings.ways.text")}</p>
      <Connectors />
      <ConnectCards />
      <Disclosure label={t("shell.forDevelopers")}>
        <ConnectCommand />
      </Disclosure>
    </section>
  );
}
