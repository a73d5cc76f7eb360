/** The form to correct a memory in the place of its row. It is loaded once the page is idle. */
import type { MemoryView } from "lukasa-client";
import { lazy, Suspense } from "react";
import { t } from "../../i18n/index.ts";
import { INPUT } from "../../ui/field.tsx";
import { useMarks } from "./marks.ts";

const load = () => import("../../features/memory/edit-form.tsx");
const EditForm = lazy(async () => ({ default: (await load()).EditForm }));

/** Loads the form, so that the first key press after `E` is not lost. */
export function preloadRowEdit(): void {
  void load();
}

/** Takes the focus while the form is loaded: what is typed meanwhile must not run shortcuts. */
function Loading({ text }: { text: string }) {
  return (
    <textarea
      // biome-ignore lint/a11y/noAutofocus: the user pressed E to type
      autoFocus
      readOnly
      dir="auto"
      rows={1}
      aria-label={t("memory.field.content")}
      value={text}
      className={`${INPUT} field-sizing-content min-h-control resize-none py-1.5`}
    />
  );
}

export function RowEdit({ memory }: { memory: MemoryView }) {
  const marks = useMarks();
  return (
    <Suspense fallback={<Loading text={memory.content} />}>
      <EditForm memory={memory} onDone={() => marks.edit(undefined)} />
    </Suspense>
  );
}
