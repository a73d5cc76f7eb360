/** The area that a new memory belongs to, found by the server from its words. */
import type { Lukasa } from "lukasa-client";

/** The area of a text, if it is clear and turned on. An area that is off is left to the server, which asks. */
export async function detectArea(
  lukasa: Lukasa,
  text: string,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const { filed_under } = await lukasa.domains.detect(text, { signal });
  return filed_under ?? undefined;
}
