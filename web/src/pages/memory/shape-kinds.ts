/** The shapes of beads: how certain a memory is. Pure. */
import type { MemoryView } from "lukasa-client";
import { certaintyOf } from "../../data/select.ts";

/** The shapes of beads, as in the legend. */
export const BEAD_SHAPES = ["rule", "certain", "likely", "guess", "unused"] as const;
export type BeadShape = (typeof BEAD_SHAPES)[number];

const SHAPES = {
  confirmed: "certain",
  strong: "certain",
  tentative: "likely",
  candidate: "guess",
  unused: "unused",
} as const;

export function shapeOf(memory: MemoryView): BeadShape {
  const certainty = certaintyOf(memory);
  return memory.force === "hard" && certainty !== "unused" ? "rule" : SHAPES[certainty];
}

/** Where the light on a round bead is, for each pixel of its radius. */
export const SHINE = { x: -0.32, y: -0.36, rx: 0.26, ry: 0.2 } as const;

/** The light as SVG text. */
export function shineOf(radius: number, attributes: string): string {
  const [x, y, rx, ry] = [SHINE.x, SHINE.y, SHINE.rx, SHINE.ry].map((one) =>
    (one * radius).toFixed(1),
  );
  return `<ellipse cx="${x}" cy="${y}" rx="${rx}" ry="${ry}" transform="rotate(-40 ${x} ${y})" ${attributes}/>`;
}

const MAX_NUMBER = 999;

/** The number in a bead of many. */
export function numberOf(count: number): string {
  return count > MAX_NUMBER ? `${MAX_NUMBER}+` : String(count);
}
