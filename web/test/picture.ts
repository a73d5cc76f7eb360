/** Pictures of the documentation: screenshots as PNG with a palette, which are half as large. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { crc32, deflateSync } from "node:zlib";
import type { Page } from "@playwright/test";

const MAX_COLOURS = 256;

/** Saves a picture of the page as `FOLDER/NAME.png`, if the tour asks for it. */
export async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env.LUKASA_TOUR;
  if (!folder) return;
  // Wait for data that is fetched when it scrolls into view.
  await page.waitForTimeout(600);
  const shot = (await page.screenshot({ scale: "css" })).toString("base64");
  const painter = await page.context().newPage();
  const image = await painter.evaluate(reduceColours, [shot, MAX_COLOURS] as const);
  await painter.close();
  writeFileSync(join(folder, `${name}.png`), pngOf(image));
}

interface Indexed {
  width: number;
  height: number;
  /** Red, green and blue of each colour. */
  palette: number[];
  /** The colour of each pixel, in base64. */
  pixels: string;
}

/** Runs in the browser: the most frequent colours of a PNG, and for each pixel the nearest of them. */
async function reduceColours([png, max]: readonly [string, number]): Promise<Indexed> {
  const bytes = Uint8Array.from(atob(png), (letter) => letter.charCodeAt(0));
  const bitmap = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
  const { width, height } = bitmap;
  const canvas = new OffscreenCanvas(width, height).getContext("2d");
  if (!canvas) throw new Error("the browser has no canvas");
  canvas.drawImage(bitmap, 0, 0);
  const { data } = canvas.getImageData(0, 0, width, height);
  const colours = new Uint32Array(width * height);
  const counts = new Map<number, number>();
  for (let at = 0; at < colours.length; at++) {
    const [red = 0, green = 0, blue = 0] = data.subarray(4 * at, 4 * at + 3);
    const colour = (red << 16) | (green << 8) | blue;
    colours[at] = colour;
    counts.set(colour, (counts.get(colour) ?? 0) + 1);
  }
  // One of each tone first, or a small sign in green would become grey; then the most frequent.
  const frequent = [...counts].sort((a, b) => b[1] - a[1]).map(([colour]) => colour);
  const tones = new Map(frequent.toReversed().map((colour) => [colour & 0xe0e0e0, colour]));
  const palette = [...new Set([...tones.values(), ...frequent])].slice(0, max);
  const index = new Map(palette.map((colour, at) => [colour, at]));
  const parts = (colour: number) => [colour >> 16, (colour >> 8) & 255, colour & 255];
  for (const colour of counts.keys()) {
    if (index.has(colour)) continue;
    const [red = 0, green = 0, blue = 0] = parts(colour);
    let nearest = 0;
    let least = Number.POSITIVE_INFINITY;
    palette.forEach((one, at) => {
      const [r = 0, g = 0, b = 0] = parts(one);
      const distance = (r - red) ** 2 + (g - green) ** 2 + (b - blue) ** 2;
      if (distance < least) [nearest, least] = [at, distance];
    });
    index.set(colour, nearest);
  }
  let pixels = "";
  for (const colour of colours) pixels += String.fromCharCode(index.get(colour) ?? 0);
  return { width, height, palette: palette.flatMap(parts), pixels: btoa(pixels) };
}

function pngOf({ width, height, palette, pixels }: Indexed): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // Eight bits for each pixel, which are the number of a colour.
  header.set([8, 3, 0, 0, 0], 8);
  const lines = Buffer.from(pixels, "base64");
  const rows = Array.from({ length: height }, (_, y) =>
    Buffer.concat([Buffer.from([0]), lines.subarray(y * width, (y + 1) * width)]),
  );
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk("IHDR", header),
    chunk("PLTE", Buffer.from(palette)),
    chunk("IDAT", deflateSync(Buffer.concat(rows), { level: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function chunk(name: string, content: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name), content]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(content.length);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}
