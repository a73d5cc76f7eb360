/** Search parameters of the My data page. */
export const DATA_TABS = ["copy", "activity", "erase"] as const;
export type DataTab = (typeof DATA_TABS)[number];

export interface MyDataParams {
  tab?: DataTab;
  /** Filters of the activity by verb and caller. */
  verb?: string;
  caller?: string;
}

export function parseMyDataParams(params: Record<string, unknown>): MyDataParams {
  return {
    tab: DATA_TABS.find((tab) => tab === params.tab),
    verb: typeof params.verb === "string" ? params.verb : undefined,
    caller: typeof params.caller === "string" ? params.caller : undefined,
  };
}
