/** The choice, stored in this browser, never to be asked about sensitive domains. */
const STORAGE_KEY = "lukasa.neverAsk";

/** Whether the user chose, in this browser, never to be asked about sensitive domains. */
export function neverAsk(user: string): boolean {
  return read().includes(user);
}

export function setNeverAsk(user: string, never: boolean): void {
  const others = read().filter((one) => one !== user);
  localStorage.setItem(STORAGE_KEY, JSON.stringify(never ? [...others, user] : others));
}

function read(): string[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(STORAGE_KEY) ?? "[]");
    return Array.isArray(stored) ? stored.filter((one) => typeof one === "string") : [];
  } catch {
    return [];
  }
}
