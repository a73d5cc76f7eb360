/** Search parameters of the Sources page: the open level and its view. */
import type { SourceLevels } from "../../features/sources/levels.ts";

export interface SourcesParams extends SourceLevels {
  /** The view of the top level: portraits (absent), episodes, chats, or the chats in the trash. */
  view?: "episodes" | "chats" | "trash";
  /** The open part of a memory. */
  tab?: string;
  /** Search text for the chats. */
  find?: string;
  /** Whether the "why" view of the turn is shown. */
  why?: boolean;
}

export function parseSourcesParams(params: Record<string, unknown>): SourcesParams {
  const text = (value: unknown) => (typeof value === "string" && value ? value : undefined);
  const views = ["episodes", "chats", "trash"] as const;
  return {
    view: views.find((view) => view === params.view),
    find: text(params.find),
    tab: text(params.tab),
    portrait: text(params.portrait),
    memory: text(params.memory),
    episode: text(params.episode),
    // A numeric session id is parsed as a number.
    session: typeof params.session === "number" ? String(params.session) : text(params.session),
    turn: typeof params.turn === "number" ? params.turn : undefined,
    why: params.why === true ? true : undefined,
  };
}
