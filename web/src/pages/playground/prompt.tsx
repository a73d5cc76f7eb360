/** The prompt: its token budget and its exact text. */

import { Check, Copy } from "lucide-react";
import type { ContextView } from "lukasa-client";
import { useState } from "react";
import { t } from "../../i18n/index.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { Meter } from "../../ui/meter.tsx";
import { bytes, spent } from "./requests.ts";

export function Prompt({ context, window }: { context: ContextView; window?: number }) {
  const { baseline, rules, dynamic } = spent(context);
  return (
    <Card title={t("playground.prompt")} actions={<CopyButton text={context.context} whole />}>
      <div className="flex flex-col gap-5">
        <Meter
          label={t("playground.budget.meter")}
          limit={context.budget.limit}
          window={window}
          shares={[
            { name: t("playground.part.baseline"), tokens: baseline },
            { name: t("playground.part.rules"), tokens: rules },
            { name: t("playground.part.dynamic"), tokens: dynamic },
          ]}
        />
        <Part
          name={t("playground.part.baseline")}
          part={context.baseline}
          help={t("playground.part.baselineHelp")}
          frozen={context.frozen}
        />
        <Part
          name={t("playground.part.dynamic")}
          part={context.dynamic}
          help={t("playground.part.dynamicHelp")}
        />
      </div>
    </Card>
  );
}

function Part({
  name,
  part,
  help,
  frozen,
}: {
  name: string;
  part: ContextView["baseline"];
  help: string;
  frozen?: boolean;
}) {
  return (
    <section aria-label={name} className="flex min-w-0 flex-col gap-1.5">
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <h3 className="font-medium">{name}</h3>
        {frozen && <Badge tone="good">{t("playground.frozen")}</Badge>}
        <span className="text-meta text-muted tabular-nums">
          {t("playground.part.size", { tokens: part.tokens, bytes: bytes(part.content) })}
        </span>
        {part.content && (
          <span className="ms-auto">
            <CopyButton text={part.content} />
          </span>
        )}
      </div>
      {part.content ? (
        <pre
          // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
          tabIndex={0}
          className="max-h-96 overflow-y-auto rounded-control border bg-sunken px-3 py-2.5 font-mono text-meta leading-relaxed whitespace-pre-wrap [unicode-bidi:plaintext]"
        >
          {part.content}
        </pre>
      ) : (
        <p className="text-muted">{t("playground.part.nothing")}</p>
      )}
      <p className="text-meta text-muted">{help}</p>
    </section>
  );
}

export function CopyButton({ text, whole }: { text: string; whole?: boolean }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard?.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 1_500);
  };
  return (
    <Button small look="quiet" onClick={copy} disabled={text === ""}>
      {copied ? <Check size={14} aria-hidden /> : <Copy size={14} aria-hidden />}
      <span aria-live="polite">
        {t(copied ? "shell.copied" : whole ? "playground.copyAll" : "shell.copy")}
      </span>
    </Button>
  );
}
