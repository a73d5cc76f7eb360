// Packs what was built beside itself, so that the server can hand it out packed without doing it again.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";

const WORTH = /\.(js|css|html|svg|json|webmanifest)$/;

for (const entry of readdirSync("dist", { recursive: true, withFileTypes: true })) {
  if (!entry.isFile() || !WORTH.test(entry.name)) continue;
  const path = join(entry.parentPath, entry.name);
  const whole = readFileSync(path);
  const packed = brotliCompressSync(whole, {
    params: { [constants.BROTLI_PARAM_SIZE_HINT]: whole.length },
  });
  if (packed.length < whole.length) writeFileSync(`${path}.br`, packed);
}
