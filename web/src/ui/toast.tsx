/**
 * Toasts. Each is shown for ten seconds; the timer pauses while the pointer or the focus is on it. F6 and
 * Alt+T move the focus there and back.
 */
import { X } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { dropToast, type Toast, useToasts } from "../base/toasts.ts";
import { t } from "../i18n/index.ts";
import { Button } from "./button.tsx";
import { classes } from "./classes.ts";
import { IconButton } from "./icon-button.tsx";
import { Kbd } from "./kbd.tsx";

const TOAST_DURATION_MS = 10_000;

export function ToastViewport() {
  const shown = useToasts();
  // The key undoes the latest write, so only its toast names the key.
  const latest = shown.findLast((toast) => toast.action?.shortcut)?.id;
  const [paused, setPaused] = useState(false);
  const place = useRef<HTMLElement>(null);
  const cameFrom = useRef<HTMLElement | null>(null);
  useEffect(() => {
    const reach = (event: KeyboardEvent) => {
      const isToastKey = event.key === "F6" || (event.altKey && event.code === "KeyT");
      if (!isToastKey || !place.current) return;
      event.preventDefault();
      if (place.current.contains(document.activeElement)) {
        cameFrom.current?.focus();
        return;
      }
      cameFrom.current = document.activeElement as HTMLElement | null;
      (place.current.querySelector<HTMLElement>("button") ?? place.current).focus();
    };
    addEventListener("keydown", reach);
    return () => removeEventListener("keydown", reach);
  }, []);
  return (
    <section
      ref={place}
      tabIndex={-1}
      aria-label={t("shell.undo.messages")}
      onPointerEnter={() => setPaused(true)}
      onPointerLeave={() => setPaused(false)}
      onFocus={() => setPaused(true)}
      onBlur={() => setPaused(false)}
      className={classes(
        "toasts pointer-events-none fixed inset-x-0 z-50 flex flex-col items-center gap-2 p-4 outline-none",
        "max-sm:p-2 sm:items-end",
      )}
    >
      {/* The region exists before its toasts, or screen readers would not announce them. With `aria-live` it is
          announced while a dialog is open, too. */}
      <div role="status" aria-live="polite" className="contents">
        {shown.map((toast) => (
          <ToastRow key={toast.id} toast={toast} paused={paused} named={toast.id === latest} />
        ))}
      </div>
    </section>
  );
}

function ToastRow({
  toast,
  paused,
  named,
}: {
  toast: Toast;
  paused: boolean;
  /** Whether the shortcut of its action is shown. */
  named: boolean;
}) {
  const left = useRef(TOAST_DURATION_MS);
  // A question, and a failure that can be retried, stay until they are answered or closed.
  const stays = toast.other !== undefined || (toast.tone === "bad" && toast.action !== undefined);
  useEffect(() => {
    if (paused || stays) return;
    const began = Date.now();
    const timer = setTimeout(() => dropToast(toast.id), left.current);
    return () => {
      clearTimeout(timer);
      left.current = Math.max(1_000, left.current - (Date.now() - began));
    };
  }, [paused, toast.id, stays]);
  return (
    <div
      className={classes(
        // On a phone only the latest toast is shown.
        "pointer-events-auto flex min-h-11 max-sm:not-last:hidden w-full max-w-md items-center gap-3",
        "rounded-card border bg-surface py-1.5 ps-4 pe-2 shadow-raised",
        toast.tone === "bad" && "border-bad",
      )}
    >
      <p
        className={classes(
          "min-w-0 flex-1",
          toast.tone !== "bad" && "line-clamp-5 max-sm:line-clamp-2",
        )}
      >
        <span className={toast.tone === "bad" ? "text-bad" : "font-medium"}>{toast.text}</span>
        {toast.about && (
          <span className="text-muted">
            {" · "}
            <bdi>{toast.about}</bdi>
          </span>
        )}
      </p>
      {[toast.action, toast.other].map(
        (action) =>
          action && (
            <Button
              small
              key={action.label}
              onClick={() => {
                dropToast(toast.id);
                action.run();
              }}
            >
              {action.label}
              {named && action.shortcut && <Kbd keys={action.shortcut} />}
            </Button>
          ),
      )}
      <IconButton small plain label={t("shell.close")} onClick={() => dropToast(toast.id)}>
        <X size={14} aria-hidden />
      </IconButton>
    </div>
  );
}
