import assert from "node:assert/strict";
import { test } from "node:test";
import { currentEpisode, rememberEpisode } from "../../src/data/episode-successor.ts";

const episode = (id: string, session_id: string, first_turn: number, last_turn: number) => ({
  id,
  session_id,
  first_turn,
  last_turn,
});

test("replaced episode leads to the one about the same turns, there and back", () => {
  const before = episode("old", "tax", 1, 3);
  const edited = { ...before, id: "new" };
  const others = [episode("a", "tax", 4, 6), episode("b", "trip", 1, 3)];
  rememberEpisode(before);
  assert.equal(currentEpisode("old", [before, ...others]), before);
  assert.equal(currentEpisode("old", [...others, edited]), edited);
  rememberEpisode(edited);
  assert.equal(currentEpisode("new", [...others, before]), before);
});

test("removed episode, and one that was never shown, lead to none", () => {
  rememberEpisode(episode("removed", "tax", 1, 3));
  assert.equal(currentEpisode("removed", [episode("a", "tax", 1, 2)]), undefined);
  assert.equal(currentEpisode("unknown", [episode("a", "tax", 1, 3)]), undefined);
});
