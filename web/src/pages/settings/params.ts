/** Search parameters of the Settings page. */
export const SETTINGS_TABS = ["rules", "assistants", "look"] as const;
export type SettingsTab = (typeof SETTINGS_TABS)[number];

export interface SettingsParams {
  tab?: SettingsTab;
}

export function parseSettingsParams(params: Record<string, unknown>): SettingsParams {
  return { tab: SETTINGS_TABS.find((tab) => tab === params.tab) };
}
