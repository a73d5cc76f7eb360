// Prints the size that each package adds to a page: bundled, minified and gzipped.
import { existsSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

async function size(name, contents, resolveDir, external = []) {
  const stdin = { contents, resolveDir };
  const options = { bundle: true, minify: true, format: "esm", write: false, platform: "neutral" };
  const { outputFiles } = await build({ ...options, stdin, external });
  const [{ contents: bytes }] = outputFiles;
  console.log(`${name}: ${bytes.length} bytes, ${gzipSync(bytes, { level: 9 }).length} gzipped`);
}

await size("lukasa-client", 'export * from "./dist/index.js"', ".");
await size("lukasa-client, errors alone", 'export { LukasaError } from "./dist/index.js"', ".");
if (existsSync("../ai-sdk/dist/index.js")) {
  const others = ["ai", "lukasa-client"];
  await size("lukasa-ai-sdk, by itself", 'export * from "./dist/index.js"', "../ai-sdk", others);
}
