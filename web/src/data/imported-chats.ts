/** Which chats were imported, and what their state of learning means. Pure. */
import type { ImportView, SessionView } from "lukasa-client";

type Import = Pick<ImportView, "format" | "counts" | "undone_at">;

/** How many chats the imports brought that are not undone. */
export function chatsImported(imports: readonly Pick<Import, "counts" | "undone_at">[]): number {
  return imports.reduce((sum, one) => sum + (one.undone_at ? 0 : one.counts.chats), 0);
}

/** How the ids of the imported chats begin: the server names each by the format of its file. */
export function importedPrefixes(imports: readonly Import[]): string[] {
  const formats = imports.flatMap((one) =>
    one.undone_at || one.counts.chats === 0 ? [] : [`${one.format}:`],
  );
  return [...new Set(formats)].sort();
}

/** The newest imported chat that has messages. */
export function importedChat(
  chats: readonly Pick<SessionView, "id" | "turns">[],
  prefixes: readonly string[],
): string | undefined {
  const isImported = (id: string) => prefixes.some((prefix) => id.startsWith(prefix));
  return chats.find(({ id, turns }) => turns > 0 && isImported(id))?.id;
}

/** States in which imported chats wait until a model is connected. */
const WITHOUT_MODEL = new Set(["no_model", "waiting_for_model"]);

/** Whether the server learns from a chat in this state without another word of the user. */
export function isLearned(state: string): boolean {
  return state !== "off" && !WITHOUT_MODEL.has(state);
}

/** The settings that decide about learning. Only the operator can connect a model. */
export function setUpTab(
  state: string | undefined,
  operator: boolean,
): "rules" | "assistants" | undefined {
  if (!state || !WITHOUT_MODEL.has(state)) return "rules";
  return operator ? "assistants" : undefined;
}
