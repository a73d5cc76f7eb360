// Compresses the built files with Brotli, so that the server can serve them without compressing them again.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";

const COMPRESSIBLE = /\.(js|css|html|svg|json|webmanifest)$/;

for (const entry of readdirSync("dist", { recursive: true, withFileTypes: true })) {
  if (!entry.isFile() || !COMPRESSIBLE.test(entry.name)) continue;
  const path = join(entry.parentPath, entry.name);
  const whole = readFileSync(path);
  const packed = brotliCompressSync(whole, {
    params: { [constants.BROTLI_PARAM_SIZE_HINT]: whole.length },
  });
  if (packed.length < whole.length) writeFileSync(`${path}.br`, packed);
}
