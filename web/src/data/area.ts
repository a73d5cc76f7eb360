/** The area that a new memory belongs to, found by the server from its words. */
import type { DomainView, Lukasa } from "lukasa-client";

/** Below this score a message is about several areas, or about none in particular. */
const MIN_SCORE = 0.6;

/** The area of a text, if it is clear and turned on. An area that is off is left to the server, which asks. */
export async function detectArea(
  lukasa: Lukasa,
  text: string,
  domains: readonly DomainView[],
  signal?: AbortSignal,
): Promise<string | undefined> {
  const { data } = await lukasa.domains.detect(text, { signal });
  const [best] = [...data].sort((a, b) => b.score - a.score);
  if (!best || best.score < MIN_SCORE) return undefined;
  const found = domains.find((one) => one.name === best.domain);
  return found && (!found.requires_opt_in || found.opted_in_at) ? found.name : undefined;
}
