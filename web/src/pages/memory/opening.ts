/** Examples that the user has to finish: "I live in …". Pure. */

const REST = "…";

/** What an example fills in: its words without the ellipsis. */
export function openingOf(example: string): string {
  return example.endsWith(REST) ? example.slice(0, -REST.length) : example;
}

/** Whether a text is only the words of an example that is still to be finished. */
export function isOpening(example: string, text: string): boolean {
  return example.endsWith(REST) && openingOf(text.trim()).trim() === openingOf(example).trim();
}
