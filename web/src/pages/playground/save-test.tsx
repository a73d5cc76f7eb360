/** Saves a message and the memories it found as a recall test. */
import { ClipboardCheck, Download } from "lucide-react";
import { useState } from "react";
import { useShortcuts } from "../../base/shortcuts.ts";
import { useSignIn } from "../../base/sign-in.ts";
import { useMemories } from "../../data/memories.ts";
import { t } from "../../i18n/index.ts";
import { Button } from "../../ui/button.tsx";
import { Checkbox } from "../../ui/checkbox.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { saveFile } from "../../ui/save-file.ts";
import { Snippet } from "../../ui/snippet.tsx";
import type { Answers } from "./answers.ts";
import type { Setting } from "./params.ts";
import {
  type ExpectedMemory,
  expectedMemories,
  FILE,
  hasUnsupportedFields,
  recallTest,
} from "./recall-test.ts";

interface TestRequest extends Answers {
  query: string;
  setting: Setting;
}

/** The button; with a shortcut unless two results are compared. */
export function SaveTest({ keyed, ...asked }: TestRequest & { keyed: boolean }) {
  const [open, setOpen] = useState(false);
  const { byId } = useMemories();
  const all = expectedMemories(asked.context, asked.found, (id) => byId.get(id)?.content);
  useShortcuts(
    t("playground.title"),
    keyed ? [{ keys: "s", label: t("playground.test"), run: () => setOpen(true) }] : [],
  );
  return (
    <>
      <Button small onClick={() => setOpen(true)}>
        <ClipboardCheck size={14} aria-hidden className="text-muted" />
        {t("playground.test")}
      </Button>
      <TestDialog open={open} onOpenChange={setOpen} all={all} {...asked} />
    </>
  );
}

function TestDialog({
  open,
  onOpenChange,
  all,
  query,
  setting,
}: TestRequest & {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  all: readonly ExpectedMemory[];
}) {
  const { user } = useSignIn();
  const [off, setOff] = useState<ReadonlySet<string>>(new Set());
  const find = all.filter((one) => !off.has(one.id)).map((one) => one.content);
  const file = recallTest(user, query, setting, find);
  const flip = (id: string) => {
    const next = new Set(off);
    if (!next.delete(id)) next.add(id);
    setOff(next);
  };
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title={t("playground.test")}
      text={t(all.length > 0 ? "playground.test.text" : "playground.test.nothing")}
      wide
      actions={
        <>
          <Button onClick={() => onOpenChange(false)}>{t("shell.cancel")}</Button>
          <Button
            look="primary"
            disabled={find.length === 0}
            onClick={() => {
              saveFile(FILE, file, "application/toml");
              onOpenChange(false);
            }}
          >
            <Download size={14} aria-hidden />
            {t("playground.test.save", { file: FILE })}
          </Button>
        </>
      }
    >
      {all.length > 0 && (
        <div className="flex flex-col gap-4">
          <fieldset className="flex flex-col">
            <legend className="pb-1 font-medium">{t("playground.test.find")}</legend>
            {all.map((one) => (
              <Checkbox
                key={one.id}
                label={<span dir="auto">{one.content}</span>}
                checked={!off.has(one.id)}
                onChange={() => flip(one.id)}
              />
            ))}
          </fieldset>
          {find.length > 0 ? (
            <Snippet code={file} />
          ) : (
            <p className="text-muted">{t("playground.test.none")}</p>
          )}
          <p className="text-meta text-muted">
            {t("playground.test.next")}
            {hasUnsupportedFields(setting) && ` ${t("playground.test.unsaid")}`}
          </p>
        </div>
      )}
    </Dialog>
  );
}
