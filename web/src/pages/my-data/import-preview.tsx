/** What a file contains, before it is imported: counts, and for an export of another assistant what was in it. */
import { useId } from "react";
import type { Found } from "../../data/archive/found.ts";
import { countTexts, type ImportFile, type ImportResult } from "../../data/imports.ts";
import { dateFormat } from "../../i18n/formats.ts";
import { locale, t } from "../../i18n/index.ts";
import { Button } from "../../ui/button.tsx";

export interface Preview {
  file: ImportFile;
  result: ImportResult;
}

export function ImportPreview({
  preview: { file, result },
  busy,
  onImport,
  onCancel,
}: {
  preview: Preview;
  busy: boolean;
  onImport: () => void;
  onCancel: () => void;
}) {
  const texts = countTexts(result.counts);
  const news = result.counts.memories + result.counts.proposals + result.counts.turns;
  const useful = result.found ? news > 0 : texts.length > 0;
  return (
    <section
      aria-label={t("data.import.would")}
      className="flex flex-col gap-4 rounded-control border bg-sunken p-4"
    >
      <div className="flex flex-col gap-1">
        <h3 className="font-semibold">
          {file.kind === "chats" ? t(`data.found.${file.chats.vendor}`) : <bdi>{file.name}</bdi>}
        </h3>
        {file.kind === "chats" && (
          <p className="truncate text-meta text-muted">
            <bdi>{file.name}</bdi>
          </p>
        )}
      </div>
      {result.found && <FoundParts found={result.found} />}
      {useful && result.found ? (
        <p>{t("data.found.news", { counts: texts.join(", ") })}</p>
      ) : useful ? (
        <ul className="flex flex-col gap-1">
          {texts.map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      ) : (
        <p className="text-muted">{t("data.import.nothing")}</p>
      )}
      {useful && result.found && <Consequences result={result} />}
      <div className="flex flex-wrap gap-2">
        {useful && (
          <Button look="primary" busy={busy} onClick={onImport}>
            {t("data.import.take")}
          </Button>
        )}
        <Button look="quiet" disabled={busy} onClick={onCancel}>
          {t("shell.cancel")}
        </Button>
      </div>
    </section>
  );
}

/** What was in the export: how many chats of which time, the newest titles, the first memories. */
function FoundParts({ found }: { found: Found }) {
  const month = dateFormat(locale(), { month: "long", year: "numeric" });
  const { from, until } = found;
  const time = from && until ? month.formatRange(new Date(from), new Date(until)) : "";
  return (
    <>
      {found.chats > 0 && (
        <p>
          {t("data.found.chats", { chats: found.chats, messages: found.messages })}
          {time && <span className="text-muted">{` · ${time}`}</span>}
        </p>
      )}
      <div className="grid gap-4 sm:grid-cols-2">
        <Samples
          title={t("data.found.newest")}
          texts={found.newest.map((chat) => chat.title)}
          more={found.chats - found.newest.length}
        />
        <Samples
          title={t("data.found.memories", { count: found.memories })}
          texts={found.samples}
          more={found.memories - found.samples.length}
        />
      </div>
      {found.unread > 0 && (
        <p className="text-meta text-muted">{t("data.found.unread", { count: found.unread })}</p>
      )}
    </>
  );
}

function Samples({
  title,
  texts,
  more,
}: {
  title: string;
  texts: readonly string[];
  more: number;
}) {
  const heading = useId();
  if (texts.length === 0) return null;
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <h4 id={heading} className="text-fine text-muted">
        {title}
      </h4>
      <ul aria-labelledby={heading} className="flex flex-col gap-0.5">
        {texts.map((text) => (
          <li key={text} className="truncate">
            <bdi>{text}</bdi>
          </li>
        ))}
      </ul>
      {more > 0 && <p className="text-meta text-muted">{t("data.found.more", { count: more })}</p>}
    </div>
  );
}

/** What happens with the chats, and what learning from them takes. */
function Consequences({ result: { counts, estimate } }: { result: ImportResult }) {
  if (counts.turns === 0) return null;
  return (
    <p className="max-w-prose text-meta text-muted">
      {t("data.found.searchable")}{" "}
      {estimate.calls > 0
        ? t("data.found.learning", {
            calls: estimate.calls,
            minutes: Math.max(1, Math.ceil(estimate.seconds / 60)),
          })
        : t("data.found.noModel")}
    </p>
  );
}
