/** Search parameters of the reveal page: an import that waits for its decision, or memories saved since a time. */
export interface RevealParams {
  import?: string;
  since?: string;
}

export function parseRevealParams(params: Record<string, unknown>): RevealParams {
  const { import: id, since } = params;
  return {
    import: typeof id === "string" && id ? id : undefined,
    since: typeof since === "string" && !Number.isNaN(Date.parse(since)) ? since : undefined,
  };
}
