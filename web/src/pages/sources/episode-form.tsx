/** Editing the title and the summary of an episode. */
import type { EpisodeView } from "lukasa-client";
import { useState } from "react";
import { t } from "../../i18n/index.ts";
import { Button } from "../../ui/button.tsx";
import { Field, Input, Textarea } from "../../ui/field.tsx";

/** The words of an episode; without a title, `title` is null. */
export interface EpisodeWords {
  title: string | null;
  summary: string;
}

export function EpisodeForm({
  episode,
  onSave,
  onClose,
}: {
  episode: EpisodeView;
  onSave: (words: EpisodeWords) => void;
  onClose: () => void;
}) {
  const [title, setTitle] = useState(episode.title ?? "");
  const [summary, setSummary] = useState(episode.summary);
  return (
    <form
      className="flex flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        onSave({ title: title.trim() || null, summary: summary.trim() });
      }}
    >
      <Field label={t("sources.episodes.titleField")}>
        <Input dir="auto" value={title} onChange={(event) => setTitle(event.target.value)} />
      </Field>
      <Field label={t("sources.episodes.summaryField")}>
        <Textarea
          autoFocus
          dir="auto"
          rows={4}
          value={summary}
          onChange={(event) => setSummary(event.target.value)}
        />
      </Field>
      <div className="flex gap-2">
        <Button small look="primary" type="submit" disabled={!summary.trim()}>
          {t("shell.save")}
        </Button>
        <Button small onClick={onClose}>
          {t("shell.cancel")}
        </Button>
      </div>
    </form>
  );
}
