/** The colour of each area, the same on every page. Pure. */

/** Text classes of the colour tokens; SVG uses them by `fill-current`. */
const COLOURS = [
  "text-area-0",
  "text-area-1",
  "text-area-2",
  "text-area-3",
  "text-area-4",
  "text-area-5",
  "text-area-6",
  "text-area-7",
  "text-area-8",
  "text-area-9",
  "text-area-10",
  "text-area-11",
] as const;

const BUILT_IN: Record<string, number> = {
  food: 1,
  travel: 2,
  work: 3,
  schedule: 4,
  shopping: 5,
  personal: 6,
  communication: 7,
  relationships: 8,
  health: 9,
  finance: 10,
  religion: 11,
};

/** The number of the colour token of an area: 0 without one. Areas of the tenant get one by their name. */
export function areaColour(domain: string): number {
  if (domain === "") return 0;
  const known = BUILT_IN[domain];
  if (known !== undefined) return known;
  let hash = 0;
  for (const letter of domain) hash = (hash * 31 + (letter.codePointAt(0) ?? 0)) % 9_973;
  return 1 + (hash % (COLOURS.length - 1));
}

export function areaClass(domain: string): string {
  return COLOURS[areaColour(domain)] ?? COLOURS[0];
}
