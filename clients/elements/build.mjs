// Bundles the elements into one file for a page without a build of its own, and the panel into one HTML file
// for assistants (MCP Apps). Says how large the bundle is, and fails if it is larger than promised.
//
//     node build.mjs [folder of lukasa-client]
import { readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const MOST = 30_000;
const client = process.argv[2] ?? "../typescript/src/index.ts";
const options = {
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  legalComments: "none",
  alias: { "lukasa-client": client },
  // Lit's messages for developers are no use to anybody else's users.
  conditions: ["production"],
};
await build({ ...options, entryPoints: ["src/index.ts"], outfile: "dist/lukasa-elements.js" });
const packed = gzipSync(readFileSync("dist/lukasa-elements.js"), { level: 9 }).length;
console.log(`lukasa-elements.js: ${packed} bytes gzipped, at most ${MOST}`);

const app = await build({ ...options, entryPoints: ["src/mcp-app.ts"], write: false });
// A script ends where its element ends, also inside a string.
const script = app.outputFiles[0].text.replaceAll("</script", "<\\/script");
const page = readFileSync("src/panel.html", "utf8").replace("/* script */", () => script);
writeFileSync("dist/panel.html", page);
console.log(`panel.html: ${gzipSync(page, { level: 9 }).length} bytes gzipped`);
if (packed > MOST) process.exit(1);
