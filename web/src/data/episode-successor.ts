/**
 * Editing an episode, and undoing that, replaces it by one with another id that is about the same turns. Addresses with
 * the old id then lead to the new one.
 */
import type { EpisodeView } from "lukasa-client";

type Place = Pick<EpisodeView, "id" | "session_id" | "first_turn" | "last_turn">;

/** The episodes that this page has shown, by id. */
const shown = new Map<string, Place>();

export function rememberEpisode({ id, session_id, first_turn, last_turn }: Place): void {
  shown.set(id, { id, session_id, first_turn, last_turn });
}

/** The episode with this id, or the one about the same turns as that which was shown under it. */
export function currentEpisode<T extends Place>(id: string, episodes: readonly T[]): T | undefined {
  const same = episodes.find((one) => one.id === id);
  const was = shown.get(id);
  if (same || !was) return same;
  return episodes.find(
    (one) =>
      one.session_id === was.session_id &&
      one.first_turn === was.first_turn &&
      one.last_turn === was.last_turn,
  );
}
