// Bundles the elements into one file for pages without a build step, and the panel into one HTML file for
// assistants (MCP Apps). Prints the size of the bundle, and fails if it exceeds the limit.
//
//     node build.mjs [folder of lukasa-client]
import { readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const MAX_BYTES = 30_000;
const client = process.argv[2] ?? "../typescript/src/index.ts";
const options = {
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  legalComments: "none",
  alias: { "lukasa-client": client },
  // The production build of Lit, without messages for developers.
  conditions: ["production"],
};
await build({ ...options, entryPoints: ["src/index.ts"], outfile: "dist/lukasa-elements.js" });
const packed = gzipSync(readFileSync("dist/lukasa-elements.js"), { level: 9 }).length;
console.log(`lukasa-elements.js: ${packed} bytes gzipped, at most ${MAX_BYTES}`);

const app = await build({ ...options, entryPoints: ["src/mcp-app.ts"], write: false });
// `</script` would end the script element, even inside a string.
const script = app.outputFiles[0].text.replaceAll("</script", "<\\/script");
const page = readFileSync("src/panel.html", "utf8").replace("/* script */", () => script);
writeFileSync("dist/panel.html", page);
console.log(`panel.html: ${gzipSync(page, { level: 9 }).length} bytes gzipped`);
if (packed > MAX_BYTES) process.exit(1);
