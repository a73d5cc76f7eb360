/** Connecting an assistant: the command for one machine, and the address for other MCP clients. */
import { useSignIn } from "../../base/sign-in.ts";
import { quoted } from "../../data/curl.ts";
import { t } from "../../i18n/index.ts";
import { Card } from "../../ui/card.tsx";
import { Snippet } from "../../ui/snippet.tsx";

/** Default URLs of `lukasa connect`. */
const USUAL = ["http://127.0.0.1:7777", "http://localhost:7777"];

function command(user: string, local: boolean): string {
  const words = ["lukasa connect"];
  if (!USUAL.includes(location.origin)) words.push(`--url ${location.origin}`);
  if (!local) words.push('--key "$LUKASA_KEY"');
  if (!(local && user === "me")) words.push(`--user ${quoted(user)}`);
  return words.join(" ");
}

export function ConnectAssistant() {
  const { user, local } = useSignIn();
  const headers = {
    ...(!local && { Authorization: "Bearer lk_live_…" }),
    ...(!(local && user === "me") && { "X-Lukasa-User": user }),
  };
  const server = {
    url: `${location.origin}/mcp`,
    ...(Object.keys(headers).length > 0 && { headers }),
  };
  return (
    <Card title={t("settings.ways.title")}>
      <div className="flex flex-col gap-3">
        <p className="text-muted">{t("settings.ways.machine")}</p>
        <Snippet code={command(user, local)} />
        <p className="text-muted">{t("settings.ways.address")}</p>
        <Snippet code={JSON.stringify({ mcpServers: { lukasa: server } }, null, 2)} />
      </div>
    </Card>
  );
}
