/**
 * The pages of the navigation, in order and in three groups: path, icon, and the letter that opens the page
 * after G.
 */

import {
  ChartNoAxesColumn,
  CircleUserRound,
  Download,
  FlaskConical,
  History,
  Inbox,
  Layers,
  type LucideIcon,
  MessagesSquare,
  Settings,
  Webhook,
} from "lucide-react";
import type { SignInView } from "lukasa-client";
import type { Key } from "../i18n/catalogues.ts";

export interface NavigationPage {
  to:
    | "/memory"
    | "/review"
    | "/chat"
    | "/sources"
    | "/activity"
    | "/data"
    | "/settings"
    | "/playground"
    | "/insights"
    | "/developer";
  name: Key;
  icon: LucideIcon;
  letter: string;
  /** `main` is also the bar at the bottom of phones; `developer` is folded away, and only for operators. */
  group: "main" | "more" | "developer";
}

const PAGES: readonly NavigationPage[] = [
  { to: "/memory", name: "shell.page.memory", icon: Layers, letter: "m", group: "main" },
  { to: "/review", name: "shell.page.review", icon: Inbox, letter: "r", group: "main" },
  { to: "/chat", name: "shell.page.chat", icon: MessagesSquare, letter: "c", group: "main" },
  { to: "/sources", name: "shell.page.profile", icon: CircleUserRound, letter: "s", group: "main" },
  { to: "/activity", name: "shell.page.activity", icon: History, letter: "a", group: "more" },
  { to: "/data", name: "shell.page.data", icon: Download, letter: "d", group: "more" },
  { to: "/settings", name: "shell.page.settings", icon: Settings, letter: "t", group: "more" },
  {
    to: "/playground",
    name: "shell.page.playground",
    icon: FlaskConical,
    letter: "p",
    group: "developer",
  },
  {
    to: "/insights",
    name: "shell.page.insights",
    icon: ChartNoAxesColumn,
    letter: "i",
    group: "developer",
  },
  {
    to: "/developer",
    name: "shell.page.developer",
    icon: Webhook,
    letter: "k",
    group: "developer",
  },
];

export function pagesFor(
  signIn: SignInView,
  group?: NavigationPage["group"],
): readonly NavigationPage[] {
  return PAGES.filter(
    (page) =>
      (signIn.admin || page.group !== "developer") && (group === undefined || page.group === group),
  );
}
