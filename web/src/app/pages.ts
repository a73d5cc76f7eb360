/** The pages of the navigation rail, in order: path, icon, and the letter that opens the page after G. */

import {
  ChartNoAxesColumn,
  Download,
  FlaskConical,
  Inbox,
  Layers,
  type LucideIcon,
  MessagesSquare,
  Settings,
  Waypoints,
} from "lucide-react";
import type { SignInView } from "lukasa-client";
import type { Key } from "../i18n/catalogues.ts";

export interface RailPage {
  to:
    | "/memory"
    | "/review"
    | "/chat"
    | "/sources"
    | "/playground"
    | "/insights"
    | "/data"
    | "/settings";
  name: Key;
  icon: LucideIcon;
  letter: string;
  /** Only for operators. */
  admin?: boolean;
}

const PAGES: readonly RailPage[] = [
  { to: "/memory", name: "shell.page.memory", icon: Layers, letter: "m" },
  { to: "/review", name: "shell.page.review", icon: Inbox, letter: "r" },
  { to: "/chat", name: "shell.page.chat", icon: MessagesSquare, letter: "c" },
  { to: "/sources", name: "shell.page.sources", icon: Waypoints, letter: "s" },
  {
    to: "/playground",
    name: "shell.page.playground",
    icon: FlaskConical,
    letter: "p",
    admin: true,
  },
  {
    to: "/insights",
    name: "shell.page.insights",
    icon: ChartNoAxesColumn,
    letter: "i",
    admin: true,
  },
  { to: "/data", name: "shell.page.data", icon: Download, letter: "d" },
  { to: "/settings", name: "shell.page.settings", icon: Settings, letter: "t" },
];

export function pagesFor(signIn: SignInView): readonly RailPage[] {
  return PAGES.filter((page) => signIn.admin || !page.admin);
}
