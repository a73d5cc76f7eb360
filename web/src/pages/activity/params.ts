/** Search parameters of the Activity page: filters by verb and caller. */
export interface ActivityParams {
  verb?: string;
  caller?: string;
}

export function parseActivityParams(params: Record<string, unknown>): ActivityParams {
  return {
    verb: typeof params.verb === "string" ? params.verb : undefined,
    caller: typeof params.caller === "string" ? params.caller : undefined,
  };
}
