/** The navigation: a rail beside the page, and on phones a bar at the bottom with a drawer for the rest. */
import { Link, type LinkProps, useLocation } from "@tanstack/react-router";
import { ChevronRight, Code, Menu as MenuIcon, Search } from "lucide-react";
import { useEffect, useId, useState } from "react";
import { useLive } from "../base/live.ts";
import { useSignIn } from "../base/sign-in.ts";
import { useWaiting } from "../data/review.ts";
import { numberFormat } from "../i18n/formats.ts";
import { locale, t } from "../i18n/index.ts";
import { Badge } from "../ui/badge.tsx";
import { Brand } from "../ui/brand.tsx";
import { classes } from "../ui/classes.ts";
import { Drawer } from "../ui/drawer.tsx";
import { Kbd } from "../ui/kbd.tsx";
import { type NavigationPage, pagesFor } from "./pages.ts";
import { showPalette } from "./palette.tsx";
import { UserMenu } from "./user-menu.tsx";

const ROW =
  "flex min-h-8 w-full items-center gap-2.5 rounded-control px-2 text-start text-muted no-underline -outline-offset-2 hover:bg-hover hover:text-ink pointer-coarse:min-h-11";

export function Rail({ done }: { done?: () => void }) {
  const signIn = useSignIn();
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
        <PageLinks pages={pagesFor(signIn, "main")} done={done} />
        <hr className="mx-2 my-2" />
        <PageLinks pages={pagesFor(signIn, "more")} done={done} />
        {signIn.admin && <DeveloperPages pages={pagesFor(signIn, "developer")} done={done} />}
      </nav>
      <UserMenu />
    </div>
  );
}

function PageLinks({
  pages,
  done,
}: {
  pages: readonly NavigationPage[];
  done: (() => void) | undefined;
}) {
  return (
    <ul className="flex flex-col gap-px">
      {pages.map(({ to, name, icon: Icon }) => (
        <li key={to}>
          <Link
            to={to as LinkProps["to"]}
            onClick={done}
            activeOptions={{ includeSearch: false }}
            className={ROW}
            activeProps={{ className: "bg-active font-medium !text-ink" }}
          >
            <Icon size={16} aria-hidden className="shrink-0" />
            <span className="flex-1 truncate">{t(name)}</span>
            {to === "/review" && <Waiting />}
          </Link>
        </li>
      ))}
    </ul>
  );
}

/** The pages for developers. They are folded unless one of them is open. */
function DeveloperPages({
  pages,
  done,
}: {
  pages: readonly NavigationPage[];
  done: (() => void) | undefined;
}) {
  const { pathname } = useLocation();
  const within = pages.some(({ to }) => pathname === to);
  const [open, setOpen] = useState(within);
  const list = useId();
  useEffect(() => {
    if (within) setOpen(true);
  }, [within]);
  return (
    <>
      <hr className="mx-2 my-2" />
      <button
        type="button"
        aria-expanded={open}
        aria-controls={list}
        onClick={() => setOpen(!open)}
        className={ROW}
      >
        <Code size={16} aria-hidden className="shrink-0" />
        <span className="flex-1 truncate">{t("shell.developer")}</span>
        <ChevronRight
          size={14}
          aria-hidden
          className={classes(
            "shrink-0 transition-transform duration-150",
            open ? "rotate-90" : "rtl:rotate-180",
          )}
        />
      </button>
      <div id={list} hidden={!open} className="ps-4">
        <PageLinks pages={pages} done={done} />
      </div>
    </>
  );
}

function Waiting() {
  const waiting = useWaiting();
  if (waiting === 0) return null;
  return (
    <Badge tone="accent">
      <span aria-hidden>{numberFormat(locale()).format(waiting)}</span>
      <span className="sr-only">{t("shell.waiting", { count: waiting })}</span>
    </Badge>
  );
}

const TAB =
  "flex min-h-14 w-full flex-col items-center justify-center gap-0.5 text-fine text-muted no-underline -outline-offset-2";

/** The bar at the bottom of phones: the main pages, and a drawer with all of them. */
export function BottomBar() {
  const signIn = useSignIn();
  const waiting = useWaiting();
  const [open, setOpen] = useState(false);
  return (
    <div className="shrink-0 border-t bg-sunken pb-[env(safe-area-inset-bottom)] md:hidden">
      <nav aria-label={t("shell.mainPages")}>
        <ul className="flex">
          {pagesFor(signIn, "main").map(({ to, name, icon: Icon }) => (
            <li key={to} className="min-w-0 flex-1">
              <Link
                to={to as LinkProps["to"]}
                activeOptions={{ includeSearch: false }}
                className={TAB}
                activeProps={{ className: "font-medium !text-accent-text" }}
              >
                <span className="relative">
                  <Icon size={20} aria-hidden />
                  {to === "/review" && waiting > 0 && (
                    <span
                      aria-hidden
                      className="absolute -end-1.5 -top-0.5 size-2 rounded-full bg-accent"
                    />
                  )}
                </span>
                <span className="max-w-full truncate">{t(name)}</span>
                {to === "/review" && waiting > 0 && (
                  <span className="sr-only">{t("shell.waiting", { count: waiting })}</span>
                )}
              </Link>
            </li>
          ))}
          <li className="min-w-0 flex-1">
            <button type="button" onClick={() => setOpen(true)} className={TAB}>
              <MenuIcon size={20} aria-hidden />
              <span className="max-w-full truncate">{t("shell.menu")}</span>
            </button>
          </li>
        </ul>
      </nav>
      <Drawer open={open} onOpenChange={setOpen} title={t("shell.menu")}>
        <div className="flex h-full flex-col">
          <Rail done={() => setOpen(false)} />
        </div>
      </Drawer>
    </div>
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
            : live === "off" || live === "unreachable"
              ? "border-2 border-bad"
              : "pulse-soft bg-strong-line",
        )}
      />
    </span>
  );
}
