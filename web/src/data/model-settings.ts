/** The model service behind the chat, and the settings of its form. */

/** A service that answers on this machine. */
export interface FoundService {
  name: string;
  url: string;
  models: string[];
}

export interface ModelService {
  /** Whether it can be set in the console. */
  changeable: boolean;
  set_by: "settings" | "console" | null;
  url: string | null;
  model: string | null;
  found: FoundService[];
}

export interface ModelServiceSettings {
  url: string;
  key: string;
  model: string;
}

/** Why a service does not answer. */
export const REASONS = [
  "address",
  "unreachable",
  "timeout",
  "key",
  "model",
  "not_chat",
  "refused",
] as const;
export type Reason = (typeof REASONS)[number];

export interface ModelServiceTest {
  ok: boolean;
  reason: string | null;
}

/** Most models of one service that are offered as buttons. */
export const MAX_OFFERED_MODELS = 12;

/** The settings without spaces around them, and without a key if there is none. */
export function bodyOf({ url, key, model }: ModelServiceSettings) {
  const trimmed = { url: url.trim(), model: model.trim() };
  return key.trim() ? { ...trimmed, key: key.trim() } : trimmed;
}

/** What the form shows first: the service in use, else the first model found on this machine. */
export function firstSettings(service: ModelService): ModelServiceSettings {
  if (service.url !== null) return { url: service.url, key: "", model: service.model ?? "" };
  const found = service.found.find((one) => one.models.length > 0) ?? service.found[0];
  return { url: found?.url ?? "", key: "", model: found?.models[0] ?? "" };
}

export function isComplete({ url, model }: ModelServiceSettings): boolean {
  return url.trim() !== "" && model.trim() !== "";
}

/** Whether a result of a test applies to these settings. */
export function isSame(one: ModelServiceSettings, other: ModelServiceSettings): boolean {
  return JSON.stringify(bodyOf(one)) === JSON.stringify(bodyOf(other));
}

/** A reason that the console has words for. The server may be newer than the console. */
export function reasonOf(test: ModelServiceTest): Reason {
  return REASONS.find((reason) => reason === test.reason) ?? "refused";
}
