/** What to paste into each assistant to connect it to this server. Pure. */
import type { SignInView } from "lukasa-client";
import { quoted } from "../../data/curl.ts";

export const ASSISTANTS = ["claude", "cursor", "vscode", "chatgpt", "other"] as const;
export type AssistantName = (typeof ASSISTANTS)[number];

/** Default URLs of `lukasa connect`. */
const USUAL = ["http://127.0.0.1:7777", "http://localhost:7777"];

type Account = Pick<SignInView, "user" | "local">;

/** Whether the server's default user applies, so that none has to be named. */
function isDefaultUser({ user, local }: Account): boolean {
  return local && user === "me";
}

/** The shell command that connects the assistants of a machine. */
export function connectCommand(account: Account, origin: string): string {
  const words = ["lukasa connect"];
  if (!USUAL.includes(origin)) words.push(`--url ${origin}`);
  if (!account.local) words.push('--key "$LUKASA_KEY"');
  if (!isDefaultUser(account)) words.push(`--user ${quoted(account.user)}`);
  return words.join(" ");
}

/** The text to paste: a configuration, or an address. */
export function entryFor(assistant: AssistantName, account: Account, origin: string): string {
  const url = `${origin}/mcp`;
  if (assistant === "chatgpt") return url;
  if (assistant === "claude") {
    // Claude Desktop starts programs only.
    const args = ["mcp", "--url", origin];
    if (!isDefaultUser(account)) args.push("--user", account.user);
    const env = account.local ? undefined : { LUKASA_KEY: "lk_live_…" };
    return pretty({ mcpServers: { lukasa: { command: "lukasa", args, env } } });
  }
  const headers = {
    ...(!account.local && { Authorization: "Bearer lk_live_…" }),
    ...(!isDefaultUser(account) && { "X-Lukasa-User": account.user }),
  };
  const server = { url, ...(Object.keys(headers).length > 0 && { headers }) };
  return assistant === "vscode"
    ? pretty({ servers: { lukasa: { type: "http", ...server } } })
    : pretty({ mcpServers: { lukasa: server } });
}

function pretty(value: object): string {
  return JSON.stringify(value, null, 2);
}
