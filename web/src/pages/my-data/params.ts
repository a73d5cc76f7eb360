/** Search parameters of the Import & export page. */
export const DATA_TABS = ["import", "export", "erase"] as const;
export type DataTab = (typeof DATA_TABS)[number];

export interface MyDataParams {
  tab?: DataTab;
}

export function parseMyDataParams(params: Record<string, unknown>): MyDataParams {
  return { tab: DATA_TABS.find((tab) => tab === params.tab) };
}
