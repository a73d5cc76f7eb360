/** What the address of this page may carry after the question mark. */
export const SETTINGS_TABS = ["rules", "apps", "people", "webhooks", "jobs", "look"] as const;
export type SettingsTab = (typeof SETTINGS_TABS)[number];

export interface SettingsSearch {
  tab?: SettingsTab;
}

export function settingsSearch(said: Record<string, unknown>): SettingsSearch {
  return { tab: SETTINGS_TABS.find((tab) => tab === said.tab) };
}
