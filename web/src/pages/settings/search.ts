/** What the address of this page may carry after the question mark. */
export interface SettingsSearch {
  tab?: string;
}

export function settingsSearch(said: Record<string, unknown>): SettingsSearch {
  return { tab: typeof said.tab === "string" ? said.tab : undefined };
}
