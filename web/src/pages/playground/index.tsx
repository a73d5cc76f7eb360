/** Playground page: what would go into a prompt, and why. */
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { FlaskConical, SquareSplitHorizontal } from "lucide-react";
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { useShortcuts } from "../../base/shortcuts.ts";
import { playground } from "../../i18n/en/playground.ts";
import { addMessages, t } from "../../i18n/index.ts";
import { Button } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Textarea } from "../../ui/field.tsx";
import { Kbd } from "../../ui/kbd.tsx";
import { Page } from "../../ui/page.tsx";
import { useAnswers } from "./answers.ts";
import { Comparison, NAMES } from "./compare.tsx";
import type { PlaygroundParams, Setting } from "./params.ts";
import { Result } from "./result.tsx";
import { Settings } from "./settings.tsx";

addMessages({ playground });

const route = getRouteApi("/playground");
const EXAMPLES = ["playground.example.1", "playground.example.2", "playground.example.3"] as const;

export default function PlaygroundPage() {
  const { query = "", against, table = false, ...setting } = route.useSearch();
  const navigate = useNavigate();
  const go = (search: PlaygroundParams) => void navigate({ to: "/playground", search });
  const change = (part: Partial<PlaygroundParams>) =>
    go({ ...setting, query: query || undefined, against, table: table || undefined, ...part });
  // Reset settings have to be removed from the address too.
  const set = (next: Setting) =>
    go({ query: query || undefined, against, table: table || undefined, ...next });
  const compare = () => change({ against: against ? undefined : { ...setting } });
  const flipTable = () => change({ table: table ? undefined : true });
  const message = useRef<HTMLTextAreaElement>(null);
  const first = useAnswers(query, setting);
  const second = useAnswers(query, against ?? setting, against !== undefined);
  const run = (message: string) => {
    if (!message) return;
    if (message !== query) return change({ query: message });
    void first.refetch();
    if (against) void second.refetch();
  };
  useShortcuts(t("playground.title"), [
    { keys: "/", label: t("playground.key.message"), run: () => message.current?.focus() },
    { keys: "v", label: t("playground.key.compare"), run: compare },
    { keys: "t", label: t("playground.key.table"), run: flipTable },
    { keys: "r", label: t("playground.key.again"), run: () => run(query) },
  ]);
  return (
    <Page
      title={t("playground.title")}
      actions={
        <Button aria-pressed={against !== undefined} onClick={compare}>
          <SquareSplitHorizontal size={14} aria-hidden className="text-muted" />
          {t(against ? "playground.compare.off" : "playground.compare.on")}
        </Button>
      }
    >
      <div className="flex flex-col gap-4">
        <Message query={query} at={message} busy={first.isFetching} onRun={run} />
        <div className="flex flex-col gap-2">
          <Settings name={against && NAMES[0]} setting={setting} onChange={set} />
          {against && (
            <Settings
              name={NAMES[1]}
              setting={against}
              onChange={(next) => change({ against: next })}
            />
          )}
        </div>
        {!query ? (
          <EmptyState
            icon={<FlaskConical size={20} aria-hidden />}
            title={t("playground.empty.title")}
            text={t("playground.empty.text")}
            next={EXAMPLES.map((key) => ({
              text: t(key),
              action: (
                <Button
                  small
                  onClick={() => run(t(key))}
                  aria-label={`${t("playground.run")}: ${t(key)}`}
                >
                  {t("playground.run")}
                </Button>
              ),
            }))}
          />
        ) : against ? (
          <>
            <Comparison query={query} a={setting} b={against} />
            <div className="grid items-start gap-4 lg:grid-cols-2">
              {[setting, against].map((one, at) => (
                <Result
                  key={NAMES[at]}
                  query={query}
                  setting={one}
                  name={NAMES[at]}
                  narrow
                  table={table}
                  onTable={flipTable}
                  onSetting={(next) => (at === 0 ? set(next) : change({ against: next }))}
                />
              ))}
            </div>
          </>
        ) : (
          <Result
            query={query}
            setting={setting}
            table={table}
            onTable={flipTable}
            onSetting={set}
          />
        )}
      </div>
    </Page>
  );
}

/** The message field. Enter sends; Shift+Enter starts a new line. */
function Message({
  query,
  at,
  busy,
  onRun,
}: {
  query: string;
  at: React.RefObject<HTMLTextAreaElement | null>;
  busy: boolean;
  onRun: (message: string) => void;
}) {
  const [typed, setTyped] = useState(query);
  useEffect(() => setTyped(query), [query]);
  const press = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    onRun(typed.trim());
  };
  return (
    <form
      className="flex items-start gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        onRun(typed.trim());
      }}
    >
      <Textarea
        ref={at}
        rows={1}
        dir="auto"
        aria-label={t("playground.message")}
        placeholder={t("playground.message.placeholder")}
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
        onKeyDown={press}
        className="min-h-control resize-none py-1.5"
      />
      <Button look="primary" type="submit" busy={busy} disabled={!typed.trim()}>
        {t("playground.run")}
        <span className="max-sm:hidden">
          <Kbd keys="enter" inverse />
        </span>
      </Button>
    </form>
  );
}
