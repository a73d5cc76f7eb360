/** The frame around every page: navigation rail (a bar on phones), palette, shortcuts and toasts. */
import { Link, Outlet, useLocation, useNavigate } from "@tanstack/react-router";
import { Menu as MenuIcon, Search } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { useLive } from "../base/live.ts";
import { useShortcutListener, useShortcuts } from "../base/shortcuts.ts";
import { useSignIn } from "../base/sign-in.ts";
import { useWaiting } from "../data/review.ts";
import { useFollowTimeZone } from "../data/time-zone.ts";
import { useUndoLatest } from "../data/writes.ts";
import { t } from "../i18n/index.ts";
import { Badge } from "../ui/badge.tsx";
import { Brand } from "../ui/brand.tsx";
import { classes } from "../ui/classes.ts";
import { Drawer } from "../ui/drawer.tsx";
import { IconButton } from "../ui/icon-button.tsx";
import { Kbd } from "../ui/kbd.tsx";
import { ToastViewport } from "../ui/toast.tsx";
import { pagesFor } from "./pages.ts";
import { Palette, showPalette } from "./palette.tsx";
import { OutageBanner, ProblemBoundary } from "./problems.tsx";
import { ShortcutSheet } from "./shortcut-sheet.tsx";
import { UserMenu } from "./user-menu.tsx";

export function Shell() {
  const signIn = useSignIn();
  const navigate = useNavigate();
  const undo = useUndoLatest();
  const { pathname } = useLocation();
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
      <TopBar />
      <aside className="hidden w-56 shrink-0 flex-col border-e bg-sunken md:flex">
        <Rail />
      </aside>
      <div className="flex min-h-0 min-w-0 flex-1 flex-col">
        <OutageBanner />
        <main
          ref={main}
          id="content"
          tabIndex={-1}
          className="flex min-h-0 flex-1 flex-col overflow-y-auto outline-none"
        >
          <ProblemBoundary key={pathname}>
            <Outlet />
          </ProblemBoundary>
        </main>
      </div>
      <Palette />
      <ShortcutSheet />
      <ToastViewport />
    </div>
  );
}

function Rail({ done }: { done?: () => void }) {
  const signIn = useSignIn();
  const waiting = useWaiting();
  return (
    <div className="flex min-h-0 flex-1 flex-col gap-3 p-2.5">
      <div className="flex h-10 items-center justify-between ps-2">
        <Brand />
        <LiveDot />
      </div>
      <button
        type="button"
        onClick={() => {
          done?.();
          showPalette();
        }}
        className="flex h-control items-center gap-2 rounded-control border bg-surface px-2.5 text-start text-muted hover:text-ink"
      >
        <Search size={14} aria-hidden />
        <span className="flex-1 truncate">{t("shell.search")}</span>
        <Kbd keys="mod+k" />
      </button>
      <nav aria-label={t("shell.pages")} className="min-h-0 flex-1 overflow-y-auto">
        <ul className="flex flex-col gap-px">
          {pagesFor(signIn).map(({ to, name, icon: Icon }) => (
            <li key={to}>
              <Link
                to={to}
                onClick={done}
                activeOptions={{ includeSearch: false }}
                className="flex h-8 items-center gap-2.5 rounded-control px-2 text-muted no-underline -outline-offset-2 hover:bg-hover hover:text-ink max-md:h-11"
                activeProps={{ className: "bg-active font-medium !text-ink" }}
              >
                <Icon size={16} aria-hidden className="shrink-0" />
                <span className="flex-1 truncate">{t(name)}</span>
                {to === "/review" && waiting > 0 && (
                  <Badge tone="accent">
                    <span aria-hidden>{waiting}</span>
                    <span className="sr-only">{t("shell.waiting", { count: waiting })}</span>
                  </Badge>
                )}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      <UserMenu />
    </div>
  );
}

function TopBar() {
  const [open, setOpen] = useState(false);
  const waiting = useWaiting();
  const menu = t("shell.menu");
  const label = waiting > 0 ? `${menu}, ${t("shell.waiting", { count: waiting })}` : menu;
  return (
    <header className="flex h-12 shrink-0 items-center gap-2 border-b bg-sunken px-2 md:hidden">
      <span className="relative inline-flex">
        <IconButton label={label} onClick={() => setOpen(true)}>
          <MenuIcon size={18} aria-hidden />
        </IconButton>
        {waiting > 0 && (
          <span
            aria-hidden
            className="pointer-events-none absolute end-1 top-1 size-2 rounded-full bg-accent"
          />
        )}
      </span>
      <Brand />
      <span className="flex-1" />
      <IconButton label={t("shell.search")} onClick={showPalette}>
        <Search size={18} aria-hidden />
      </IconButton>
      <Drawer open={open} onOpenChange={setOpen} title={t("shell.menu")} side="start">
        <div className="flex h-full flex-col">
          <Rail done={() => setOpen(false)} />
        </div>
      </Drawer>
    </header>
  );
}

function LiveDot() {
  const live = useLive();
  const text = t(`shell.live.${live}`);
  return (
    <span
      role="img"
      aria-label={text}
      title={text}
      className="inline-flex size-6 items-center justify-center"
    >
      <span
        aria-hidden
        className={classes(
          "size-2 rounded-full",
          live === "on"
            ? "bg-good"
            : live === "off"
              ? "border-2 border-bad"
              : "pulse-soft bg-strong-line",
        )}
      />
    </span>
  );
}
