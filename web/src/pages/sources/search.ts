/** What the address of this page may carry after the question mark. */
export interface SourcesSearch {
  memory?: string;
  session?: string;
  turn?: number;
}

export function sourcesSearch(said: Record<string, unknown>): SourcesSearch {
  return {
    memory: typeof said.memory === "string" ? said.memory : undefined,
    session: typeof said.session === "string" ? said.session : undefined,
    turn: typeof said.turn === "number" ? said.turn : undefined,
  };
}
