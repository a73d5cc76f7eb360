/** The empty state of a chat, and the banner of the memory that it is about. */

import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { Ghost, MessagesSquare, PencilLine, X } from "lucide-react";
import { LukasaError, type MemoryView } from "lukasa-client";
import type { Mode } from "../../data/gateway.ts";
import { shownContent } from "../../data/shown-content.ts";
import { ModelHelp } from "../../features/model/help.tsx";
import { t } from "../../i18n/index.ts";
import { IconButton } from "../../ui/icon-button.tsx";

const REMEMBERING = ["chat.try.remember", "chat.try.ask", "chat.try.change"] as const;
/** Sentences that the guide understands. */
const GUIDED = ["chat.guide.remember", "chat.guide.ask", "chat.guide.change"] as const;
const CHANGING = ["chat.try.nowItIs", "chat.try.forget"] as const;

export function EmptyChat({
  mode,
  guide,
  about,
  suggest,
  choose,
}: {
  mode: Mode;
  guide: boolean;
  about: MemoryView | undefined;
  suggest: (words: string) => void;
  /** Chooses the model that answers. */
  choose: (model: string) => void;
}) {
  const Icon = mode === "on" ? MessagesSquare : Ghost;
  const tries = about ? CHANGING : mode !== "on" ? [] : guide ? GUIDED : REMEMBERING;
  const title = about ? "chat.begin.about" : (`chat.begin.${mode}` as const);
  return (
    <div className="min-h-0 flex-1 overflow-y-auto">
      <div className="mx-auto flex min-h-full w-full max-w-xl flex-col justify-center gap-5 px-4 py-8">
        <div className="flex flex-col items-center gap-3 text-center">
          <div className="flex size-11 items-center justify-center rounded-full bg-accent-soft text-accent-text">
            <Icon size={20} aria-hidden />
          </div>
          <h2 className="text-title">{t(title)}</h2>
          <p className="max-w-prose text-muted">
            {t(about ? "chat.begin.aboutText" : (`chat.begin.${mode}Text` as const))}
          </p>
        </div>
        {tries.length > 0 && (
          <ul className="flex flex-col divide-y divide-line overflow-hidden rounded-card border bg-surface">
            {tries.map((key) => (
              <li key={key}>
                <button
                  type="button"
                  onClick={() => suggest(t(key))}
                  className="flex min-h-11 w-full items-center px-4 py-2 text-start text-muted -outline-offset-2 hover:bg-hover hover:text-ink"
                >
                  {t(key)}
                </button>
              </li>
            ))}
          </ul>
        )}
        <ModelHelp guide={guide} choose={choose} />
      </div>
    </div>
  );
}

/** The memory that a chat was opened from. The model receives it, and acts only on a request. */
export function About({
  id,
  memory,
  error,
}: {
  id: string;
  memory: MemoryView | undefined;
  error: unknown;
}) {
  const navigate = useNavigate();
  const { session } = useParams({ strict: false });
  const gone = error instanceof LukasaError && error.status === 404;
  const leave = () =>
    session
      ? navigate({ to: "/chat/$session", params: { session }, search: {}, replace: true })
      : navigate({ to: "/chat", search: {}, replace: true });
  return (
    <div className="flex items-center gap-2 rounded-control border bg-sunken ps-3 pe-1 text-meta">
      <PencilLine size={14} aria-hidden className="shrink-0 text-faint" />
      <p className="min-w-0 flex-1 truncate">
        <span className="text-muted">{t("chat.about")}</span>{" "}
        {gone ? (
          <span className="text-faint italic">{t("chat.erased")}</span>
        ) : (
          <Link
            to="/memory/$id"
            params={{ id }}
            className="text-ink underline decoration-line underline-offset-2"
          >
            <bdi>{memory ? shownContent(memory) : "…"}</bdi>
          </Link>
        )}
      </p>
      <IconButton small label={t("chat.aboutLeave")} onClick={() => void leave()}>
        <X size={14} aria-hidden />
      </IconButton>
    </div>
  );
}
