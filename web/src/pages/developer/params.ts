/** Search parameters of the Developer page. */
export const DEVELOPER_TABS = ["apps", "people", "webhooks", "jobs"] as const;
export type DeveloperTab = (typeof DEVELOPER_TABS)[number];

export interface DeveloperParams {
  tab?: DeveloperTab;
}

export function parseDeveloperParams(params: Record<string, unknown>): DeveloperParams {
  return { tab: DEVELOPER_TABS.find((tab) => tab === params.tab) };
}
