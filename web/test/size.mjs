/** Checks the download size of the first page, all its scripts and styles gzipped, against the budget. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

const MAX_SCRIPT_BYTES = 260_000;
const MAX_STYLE_BYTES = 20_000;
const dist = process.argv[2] ?? "dist";
const assets = join(dist, "assets");

/** Chunks with all their static imports; dynamic imports are not counted. */
function closure(names) {
  const seen = new Set();
  const visit = (name) => {
    if (seen.has(name)) return;
    seen.add(name);
    const code = readFileSync(join(assets, name), "utf8");
    for (const [, other] of code.matchAll(/(?:from|import)\s*["']\.\/([^"']+\.js)["']/g))
      visit(other);
  };
  names.forEach(visit);
  return [...seen];
}

const gzip = (name) => gzipSync(readFileSync(join(assets, name)), { level: 9 }).length;
const html = readFileSync(join(dist, "index.html"), "utf8");
const entries = [...html.matchAll(/(?:src|href)="\/assets\/([^"]+\.js)"/g)].map(([, name]) => name);
const page = readdirSync(assets).filter((name) => /^memory-[^/]*\.js$/.test(name));
const first = closure([...entries, ...page]);
const scripts = first.reduce((sum, name) => sum + gzip(name), 0);
const styles = readdirSync(assets)
  .filter((name) => name.endsWith(".css"))
  .reduce((sum, name) => sum + gzip(name), 0);

for (const name of readdirSync(assets)
  .filter((one) => one.endsWith(".js"))
  .sort()) {
  console.log(
    `${String(gzip(name)).padStart(8)}  ${first.includes(name) ? "first" : "later"}  ${name}`,
  );
}
console.log(`scripts of the first page: ${scripts} bytes gzipped, at most ${MAX_SCRIPT_BYTES}`);
console.log(`styles: ${styles} bytes gzipped, at most ${MAX_STYLE_BYTES}`);
if (page.length !== 1 || entries.length === 0)
  throw new Error("the build does not look as expected");
if (scripts > MAX_SCRIPT_BYTES || styles > MAX_STYLE_BYTES) process.exitCode = 1;
