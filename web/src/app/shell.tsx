/** The frame around every page: navigation, palette, shortcuts and toasts. */
import { Outlet, useLocation, useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useRef } from "react";
import { useShortcutListener, useShortcuts } from "../base/shortcuts.ts";
import { useSignIn } from "../base/sign-in.ts";
import { useFollowTimeZone } from "../data/time-zone.ts";
import { useUndoLatest } from "../data/writes.ts";
import { t } from "../i18n/index.ts";
import { AbsoluteDates } from "../ui/time.tsx";
import { ToastViewport } from "../ui/toast.tsx";
import { BottomBar, Rail } from "./navigation.tsx";
import { pagesFor } from "./pages.ts";
import { Palette } from "./palette.tsx";
import { OutageBanner, ProblemBoundary } from "./problems.tsx";
import { ShortcutSheet } from "./shortcut-sheet.tsx";

const PausedBanner = lazy(async () => ({
  default: (await import("../features/pause/index.tsx")).PausedBanner,
}));

export function Shell() {
  const signIn = useSignIn();
  const navigate = useNavigate();
  const undo = useUndoLatest();
  const { pathname, search } = useLocation();
  const isPast = Boolean(search.as_of || search.known_at);
  const main = useRef<HTMLElement>(null);
  const first = useRef(true);
  useFollowTimeZone();
  useShortcutListener();
  useShortcuts(t("shell.keys.everywhere"), [
    ...pagesFor(signIn).map((page) => ({
      keys: `g ${page.letter}`,
      label: t("shell.keys.go", { page: t(page.name) }),
      run: () => void navigate({ to: page.to }),
      quiet: true,
    })),
    { keys: "z", label: t("shell.undo.key"), run: () => void undo() },
  ]);
  // Keyboard and screen reader users start at the top of the new page.
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when the page changes
  useEffect(() => {
    if (first.current) first.current = false;
    else main.current?.focus({ preventScroll: true });
  }, [pathname]);
  return (
    <div className="flex h-dvh flex-col md:flex-row">
      <a
        href="#content"
        className="sr-only z-50 rounded-control bg-accent px-3 py-2 text-on-accent focus:not-sr-only focus:fixed focus:start-2 focus:top-2"
      >
        {t("shell.skip")}
      </a>
      <aside className="hidden w-56 shrink-0 flex-col border-e bg-sunken md:flex">
        <Rail />
      </aside>
      <div className="flex min-h-0 min-w-0 flex-1 flex-col">
        <OutageBanner />
        <Suspense>
          <PausedBanner />
        </Suspense>
        <main
          ref={main}
          id="content"
          tabIndex={-1}
          className="flex min-h-0 flex-1 flex-col overflow-y-auto outline-none"
        >
          <ProblemBoundary key={pathname}>
            <AbsoluteDates value={isPast}>
              <Outlet />
            </AbsoluteDates>
          </ProblemBoundary>
        </main>
      </div>
      <BottomBar />
      <Palette />
      <ShortcutSheet />
      <ToastViewport />
    </div>
  );
}
