// Says how many bytes each package adds to a page: bundled, minified and packed.
import { existsSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

async function size(name, contents, resolveDir, external = []) {
  const stdin = { contents, resolveDir };
  const options = { bundle: true, minify: true, format: "esm", write: false, platform: "neutral" };
  const { outputFiles } = await build({ ...options, stdin, external });
  const [{ contents: bytes }] = outputFiles;
  console.log(`${name}: ${bytes.length} bytes, ${gzipSync(bytes, { level: 9 }).length} packed`);
}

await size("@quipu/client", 'export * from "./dist/index.js"', ".");
await size("@quipu/client, errors alone", 'export { QuipuError } from "./dist/index.js"', ".");
if (existsSync("../ai-sdk/dist/index.js")) {
  const others = ["ai", "@quipu/client"];
  await size("@quipu/ai-sdk, by itself", 'export * from "./dist/index.js"', "../ai-sdk", others);
}
