import { Check, Copy } from "lucide-react";
import { useState } from "react";
import { t } from "../i18n/index.ts";
import { IconButton } from "./icon-button.tsx";

/** A code snippet with a copy button. */
export function Snippet({ code }: { code: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard?.writeText(code);
    setCopied(true);
    setTimeout(() => setCopied(false), 1_500);
  };
  return (
    <div className="flex items-start rounded-control border bg-sunken text-start" dir="ltr">
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
        tabIndex={0}
        className="min-w-0 flex-1 overflow-x-auto px-3 py-2.5 font-mono text-meta leading-relaxed"
      >
        {code}
      </pre>
      <div className="shrink-0 p-1 ps-0">
        <IconButton small label={copied ? t("shell.copied") : t("shell.copy")} onClick={copy}>
          {copied ? <Check size={14} aria-hidden /> : <Copy size={14} aria-hidden />}
        </IconButton>
      </div>
      <output className="sr-only">{copied ? t("shell.copied") : ""}</output>
    </div>
  );
}
