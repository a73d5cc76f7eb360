/**
 * The board of beads as a picture file: an SVG of its own, with the colours of the page and, if asked for, the
 * texts of the memories. Pure, except for the colours and the conversion to PNG.
 */
import { shownContent } from "../../data/shown-content.ts";
import { areaColour } from "../../features/memory/area-colours.ts";
import { labelsOf, type Tick } from "./shape-axis.ts";
import { type BeadShape, numberOf, shapeOf, shineOf } from "./shape-kinds.ts";
import { AXIS_HEIGHT, type Lane, type Plan, type Span, xOf } from "./shape-layout.ts";

export const PICTURE_WIDTH = 1_600;
export const PICTURE_HEIGHT = 1_000;
const MARGIN = 64;
const HEAD = 132;
const FOOT = 72;
const TEXT_LINE = 30;
const MAX_TEXTS = 60;
const MAX_TEXT = 84;
const FONT =
  "ui-sans-serif, system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', Arial, sans-serif";

/** The size of the board within the picture. */
export const BOARD_SIZE = {
  width: PICTURE_WIDTH - 2 * MARGIN,
  height: PICTURE_HEIGHT - HEAD - FOOT,
  finger: false,
  gutter: 220,
} as const;

/** Colours as `#rrggbb`, because few programs read the colour space of the page. */
export interface PictureColours {
  canvas: string;
  sunken: string;
  surface: string;
  line: string;
  ink: string;
  muted: string;
  areas: readonly string[];
}

export interface Picture {
  title: string;
  subtitle: string;
  lanes: readonly Lane[];
  plan: Plan;
  span: Span;
  ticks: readonly Tick[];
  nameOf: (domain: string) => string;
  legend: readonly { shape: BeadShape; name: string }[];
  colours: PictureColours;
  texts: boolean;
}

/** The picture as the text of an SVG file, and its height. */
export function pictureOf(picture: Picture): { svg: string; height: number } {
  const { colours, plan } = picture;
  const texts = picture.texts ? textsOf(picture) : [];
  const columns = 2;
  const lines = Math.ceil(texts.length / columns);
  const board = HEAD + plan.height;
  const height = board + FOOT + (lines > 0 ? lines * TEXT_LINE + 24 : 0);
  const columnWidth = BOARD_SIZE.width / columns;
  const parts = [
    `<rect width="${PICTURE_WIDTH}" height="${height}" fill="${colours.canvas}"/>`,
    label(MARGIN, 66, picture.title, `font-size="36" font-weight="650" fill="${colours.ink}"`),
    label(MARGIN, 100, picture.subtitle, `font-size="20" fill="${colours.muted}"`),
    `<g transform="translate(${MARGIN} ${HEAD})">${boardOf(picture)}</g>`,
    ...texts.map(({ text, colour }, at) => {
      const x = MARGIN + Math.floor(at / lines) * columnWidth;
      const y = board + 34 + (at % lines) * TEXT_LINE;
      const dot = `<circle cx="${x + 6}" cy="${y - 5}" r="5" fill="${colour}"/>`;
      return dot + label(x + 22, y, text, `font-size="16" fill="${colours.ink}"`);
    }),
    legendOf(picture, height - 28),
  ];
  const size = `width="${PICTURE_WIDTH}" height="${height}" viewBox="0 0 ${PICTURE_WIDTH} ${height}"`;
  const begin = `<svg xmlns="http://www.w3.org/2000/svg" ${size} font-family="${FONT}">`;
  const svg = `${begin}${parts.join("")}</svg>`;
  return { svg, height };
}

function boardOf({ lanes, plan, span, ticks, nameOf, colours }: Picture): string {
  const round = `<rect width="${plan.width}" height="${plan.height}" rx="16" fill="${colours.sunken}"/>`;
  const labels = labelsOf(ticks, (tick) => xOf(plan, span, tick.at), plan.width, 84);
  const axis = ticks.map((tick, at) => {
    const x = xOf(plan, span, tick.at);
    const line =
      at > 0
        ? `<line x1="${x}" x2="${x}" y1="12" y2="${plan.height}" stroke="${colours.line}"/>`
        : "";
    const name = labels[at];
    const text = name
      ? label(x + (at > 0 ? 8 : 0), 23, name, `font-size="16" fill="${colours.muted}"`)
      : "";
    return line + text;
  });
  const drawn = lanes.map((lane) => {
    const colour = colours.areas[areaColour(lane.domain)] ?? colours.muted;
    const name = nameOf(lane.domain);
    const beads = lane.beads.map((bead) => {
      const [memory] = bead.memories;
      const inner =
        bead.memories.length > 1 || !memory
          ? manyOf(bead.memories.length, bead.radius, colours)
          : beadOf(shapeOf(memory), bead.radius, colours);
      return `<g transform="translate(${bead.x.toFixed(1)} ${bead.y.toFixed(1)})">${inner}</g>`;
    });
    return [
      lane.top > AXIS_HEIGHT
        ? `<line x2="${plan.width}" y1="${lane.top}" y2="${lane.top}" stroke="${colours.line}"/>`
        : "",
      `<g fill="${colour}" stroke="none" color="${colour}">`,
      `<circle cx="20" cy="${lane.string}" r="5.5"/>`,
      label(
        35,
        lane.string + 5,
        name.length > 20 ? `${name.slice(0, 19)}…` : name,
        `font-size="17" font-weight="550" fill="${colours.ink}"`,
      ),
      `<line x1="${plan.left - 8}" x2="${plan.width - 8}" y1="${lane.string}" y2="${lane.string}" ` +
        `stroke="${colour}" stroke-opacity="0.3" stroke-width="2" stroke-linecap="round"/>`,
      ...beads,
      "</g>",
    ].join("");
  });
  return [round, ...axis, ...drawn].join("");
}

/** A bead, in the colour of its group. */
function beadOf(shape: BeadShape, radius: number, colours: PictureColours): string {
  const r = radius.toFixed(1);
  if (shape === "rule") {
    const side = (radius * 2).toFixed(1);
    const corner = (radius / 5).toFixed(1);
    const place = `x="-${r}" y="-${r}" width="${side}" height="${side}" rx="${corner}"`;
    return `<rect ${place} transform="rotate(45) scale(0.84)"/>`;
  }
  if (shape === "unused") return `<circle r="${r}" fill-opacity="0.35"/>`;
  if (shape === "certain")
    return `<circle r="${r}"/>${shineOf(radius, 'fill="#ffffff" fill-opacity="0.3"')}`;
  const width = Math.max(2, radius / 4);
  const dashes =
    shape === "guess"
      ? ` stroke-dasharray="${(radius / 2.4).toFixed(1)} ${(radius / 2.8).toFixed(1)}"`
      : "";
  const stroke = `stroke="currentColor" stroke-width="${width.toFixed(1)}"${dashes}`;
  return `<circle r="${(radius - width / 2).toFixed(1)}" fill="${colours.surface}" ${stroke}/>`;
}

function manyOf(count: number, radius: number, colours: PictureColours): string {
  const size = Math.max(11, radius * 0.8).toFixed(1);
  const font = `font-size="${size}" font-weight="600" fill="${colours.surface}"`;
  const text = label(0, 0, numberOf(count), `text-anchor="middle" dy="0.35em" ${font}`);
  return `<circle r="${radius.toFixed(1)}"/>${text}`;
}

function legendOf({ legend, colours }: Picture, y: number): string {
  let x = MARGIN;
  const parts = legend.map(({ shape, name }) => {
    const colour = `fill="${colours.muted}" color="${colours.muted}"`;
    const place = `transform="translate(${x + 9} ${y - 5})"`;
    const bead = `<g ${place} ${colour}>${beadOf(shape, 8, colours)}</g>`;
    const part = bead + label(x + 26, y, name, `font-size="16" fill="${colours.muted}"`);
    x += 26 + name.length * 8.6 + 30;
    return part;
  });
  const name = label(
    PICTURE_WIDTH - MARGIN,
    y,
    "Lukasa",
    `text-anchor="end" font-size="16" font-weight="600" fill="${colours.muted}"`,
  );
  return parts.join("") + name;
}

function shortened(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT - 1)}…` : text;
}

/** The texts of the memories in the picture, by area, the latest first. */
function textsOf({ lanes, colours }: Picture): { text: string; colour: string }[] {
  return lanes
    .flatMap((lane) =>
      lane.beads
        .flatMap((bead) => bead.memories)
        .reverse()
        .map((memory) => ({
          text: shortened(shownContent(memory)),
          colour: colours.areas[areaColour(lane.domain)] ?? colours.muted,
        })),
    )
    .slice(0, MAX_TEXTS);
}

function label(x: number, y: number, text: string, attributes: string): string {
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${attributes}>${escaped(text)}</text>`;
}

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

function escaped(text: string): string {
  // Control characters are not allowed in XML at all.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is removed
  const allowed = text.replace(/[\u0000-\u001f\u007f\ufffe\uffff]/g, " ");
  return allowed.replace(/[&<>"]/g, (one) => ENTITIES[one] ?? one);
}

const AREAS = 12;

/** The colours of the page as it is now, light or dark. */
export function pageColours(): PictureColours {
  const style = getComputedStyle(document.documentElement);
  const canvas = document.createElement("canvas");
  canvas.width = 1;
  canvas.height = 1;
  const brush = canvas.getContext("2d", { willReadFrequently: true });
  const of = (token: string) => {
    if (!brush) return "#808080";
    brush.fillStyle = style.getPropertyValue(`--${token}`);
    brush.fillRect(0, 0, 1, 1);
    const [red = 0, green = 0, blue = 0] = brush.getImageData(0, 0, 1, 1).data;
    return `#${[red, green, blue].map((part) => part.toString(16).padStart(2, "0")).join("")}`;
  };
  return {
    canvas: of("canvas"),
    sunken: of("sunken"),
    surface: of("surface"),
    line: of("line"),
    ink: of("ink"),
    muted: of("muted"),
    areas: Array.from({ length: AREAS }, (_, at) => of(`area-${at}`)),
  };
}

/** A URL of the picture that an image may show: the policy of the page allows no others. */
export function pictureUrl(svg: string): string {
  return `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
}

const PNG_SCALE = 2;

/** The picture as PNG. */
export async function pngOf(svg: string, height: number): Promise<Blob> {
  const image = new Image(PICTURE_WIDTH, height);
  image.src = pictureUrl(svg);
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = PICTURE_WIDTH * PNG_SCALE;
  canvas.height = height * PNG_SCALE;
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("no picture"))), "image/png"),
  );
}
