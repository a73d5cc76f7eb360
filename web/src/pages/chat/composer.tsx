/** The message field: Enter sends, Shift+Enter starts a new line, Escape stops the answer. */
import { ArrowUp, Square } from "lucide-react";
import { type KeyboardEvent, type ReactNode, type RefObject, useState } from "react";
import { liveChats } from "../../features/chat/use-live-chats.ts";
import { t } from "../../i18n/index.ts";
import { IconButton } from "../../ui/icon-button.tsx";

export function Composer({
  name,
  field,
  answering: answeringAlready,
  ready,
  send,
  stop,
  children,
}: {
  name: string;
  field: RefObject<HTMLTextAreaElement | null>;
  answering: boolean;
  /** Whether a model is available. */
  ready: boolean;
  /** Resolves when the answer is complete. */
  send: (words: string) => Promise<void>;
  stop: () => void;
  children?: ReactNode;
}) {
  const [text, setText] = useState(() => liveChats.draft(name));
  // A new chat is created before the request; block a second send meanwhile.
  const [sending, setSending] = useState(false);
  const answering = answeringAlready || sending;
  const write = (next: string) => {
    setText(next);
    liveChats.setDraft(name, next);
  };
  const submit = () => {
    const words = text.trim();
    if (!words || answering || !ready) return;
    write("");
    setSending(true);
    void send(words).finally(() => setSending(false));
  };
  const press = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      submit();
    } else if (event.key === "Escape" && answering) {
      event.preventDefault();
      stop();
    }
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
      data-composer
      className="rounded-card border border-strong-line/60 bg-surface focus-within:border-accent"
    >
      <textarea
        ref={field}
        dir="auto"
        rows={1}
        value={text}
        aria-label={t("chat.message")}
        placeholder={t("chat.placeholder")}
        onChange={(event) => write(event.target.value)}
        onKeyDown={press}
        className="field-sizing-content block max-h-48 min-h-11 w-full resize-none bg-transparent px-3.5 pt-2.5 pb-1 text-ink outline-none placeholder:text-faint max-sm:text-lead"
      />
      <div className="flex min-h-10 items-center justify-between gap-2 px-2 pb-1.5">
        <div className="flex min-w-0 items-center gap-2">{children}</div>
        {answering ? (
          <IconButton
            label={t("chat.stop")}
            shortcut="escape"
            onClick={stop}
            className="bg-ink !text-canvas hover:bg-ink"
          >
            <Square size={12} aria-hidden fill="currentColor" />
          </IconButton>
        ) : (
          <IconButton
            type="submit"
            label={t("chat.send")}
            shortcut="enter"
            disabled={!text.trim() || !ready}
            className="bg-accent !text-on-accent hover:bg-accent-hover"
          >
            <ArrowUp size={16} aria-hidden />
          </IconButton>
        )}
      </div>
    </form>
  );
}
