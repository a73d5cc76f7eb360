/** What the address of this page may carry after the question mark. */
export const DATA_TABS = ["copy", "activity", "erase"] as const;
export type DataTab = (typeof DATA_TABS)[number];

export interface DataSearch {
  tab?: DataTab;
  /** In the activity: only this verb, only this caller. */
  verb?: string;
  caller?: string;
}

export function dataSearch(said: Record<string, unknown>): DataSearch {
  return {
    tab: DATA_TABS.find((tab) => tab === said.tab),
    verb: typeof said.verb === "string" ? said.verb : undefined,
    caller: typeof said.caller === "string" ? said.caller : undefined,
  };
}
