import type { Lukasa } from "lukasa-client";

/** The project of a call; empty, so that nothing of any project is seen, unless one is chosen. */
export function projectOf(lukasa: Lukasa, ...chosen: ({ project?: string } | undefined)[]): string {
  const named = chosen.find((options) => options?.project !== undefined)?.project;
  return named ?? lukasa.settings.project ?? "";
}
