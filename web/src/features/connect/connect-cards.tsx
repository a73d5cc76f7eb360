/** Cards for connecting assistants: what to do in each, and what to paste. Commands are for developers. */
import { Check, CircleCheck, Copy } from "lucide-react";
import { useId, useState } from "react";
import { useSignIn } from "../../base/sign-in.ts";
import { t } from "../../i18n/index.ts";
import { Button } from "../../ui/button.tsx";
import { Snippet } from "../../ui/snippet.tsx";
import { Time } from "../../ui/time.tsx";
import { useLatestCall } from "./connection.ts";
import { ASSISTANTS, type AssistantName, connectCommand, entryFor } from "./entries.ts";

export function ConnectCards() {
  const { local } = useSignIn();
  return (
    <>
      {!local && <p className="text-muted">{t("shell.connect.needsKey")}</p>}
      <ConnectionState />
      <ul className="grid gap-3 sm:grid-cols-2">
        {ASSISTANTS.map((name) => (
          <AssistantCard key={name} name={name} />
        ))}
      </ul>
    </>
  );
}

/** Whether an assistant has called this server. It changes while the user watches. */
function ConnectionState() {
  const { call } = useLatestCall();
  return (
    <output className="flex items-start gap-2.5 rounded-card border bg-surface px-4 py-3">
      {call ? (
        <>
          <CircleCheck size={18} aria-hidden className="mt-0.5 shrink-0 text-good" />
          <span>
            {call.key
              ? t("shell.connect.connectedKey", { name: call.key })
              : t("shell.connect.connected")}{" "}
            <span className="text-muted">
              <Time at={call.at} />
            </span>
          </span>
        </>
      ) : (
        <>
          <span aria-hidden className="pulse-soft mt-1.5 size-2 shrink-0 rounded-full bg-accent" />
          <span className="text-muted">{t("shell.connect.waiting")}</span>
        </>
      )}
    </output>
  );
}

function AssistantCard({ name }: { name: AssistantName }) {
  const account = useSignIn();
  const [copied, setCopied] = useState(false);
  const heading = useId();
  const code = entryFor(name, account, location.origin);
  // ChatGPT calls the server from the internet.
  const unreachable = name === "chatgpt" && location.protocol !== "https:";
  const copy = async () => {
    await navigator.clipboard?.writeText(code);
    setCopied(true);
    setTimeout(() => setCopied(false), 2_000);
  };
  return (
    <li
      aria-labelledby={heading}
      className="flex flex-col gap-2 rounded-card border bg-surface p-4 sm:last:odd:col-span-2"
    >
      <h3 id={heading} className="font-semibold">
        {t(`shell.connect.${name}`)}
      </h3>
      <p className="flex-1 text-meta text-muted">
        {t(unreachable ? "shell.connect.needsHttps" : `shell.connect.${name}.how`)}
      </p>
      {!unreachable && (
        <div className="flex items-center gap-2">
          <Button small onClick={() => void copy()} aria-describedby={heading}>
            {copied ? <Check size={14} aria-hidden /> : <Copy size={14} aria-hidden />}
            {t(copied ? "shell.copied" : "shell.connect.copy")}
          </Button>
          <output className="sr-only">{copied ? t("shell.copied") : ""}</output>
        </div>
      )}
      {!unreachable && (
        <details className="text-meta">
          <summary className="text-muted pointer-coarse:py-3">{t("shell.connect.show")}</summary>
          <div className="pt-2">
            <Snippet code={code} />
          </div>
        </details>
      )}
    </li>
  );
}

/** The shell command that connects all assistants of a machine. */
export function ConnectCommand() {
  const account = useSignIn();
  return (
    <div className="flex flex-col gap-2">
      <p className="text-muted">{t("shell.connect.command")}</p>
      <Snippet code={connectCommand(account, location.origin)} />
    </div>
  );
}
