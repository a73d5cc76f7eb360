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
    <div className="relative rounded-control border bg-sunken text-start" dir="ltr">
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
        tabIndex={0}
        className="overflow-x-auto py-2.5 ps-3 pe-11 font-mono text-meta leading-relaxed"
      >
        {code}
      </pre>
      <div className="absolute end-1 top-1 rounded-control bg-sunken">
        <IconButton small label={copied ? t("shell.copied") : t("shell.copy")} onClick={copy}>
          {copied ? <Check size={14} aria-hidden /> : <Copy size={14} aria-hidden />}
        </IconButton>
      </div>
      <output className="sr-only">{copied ? t("shell.copied") : ""}</output>
    </div>
  );
}
