// Runs every example of a README verbatim: node examples.mjs README.md PACKAGE
// The text after `// →` has to be in the output of the example.
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [readme, home] = process.argv.slice(2);
const text = readFileSync(readme, "utf8");
const examples = [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code);
if (examples.length === 0) throw new Error(`${readme} has no examples`);

// Inside the package, so that imports resolve as they do for its users.
const folder = join(home, "dist", "examples");
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });

let failed = 0;
for (const [index, code] of examples.entries()) {
  const file = join(folder, `${index + 1}.ts`);
  writeFileSync(file, code);
  const run = spawn(process.execPath, ["--no-warnings", file], { timeout: 60_000 });
  let output = "";
  for (const stream of [run.stdout, run.stderr]) stream.on("data", (chunk) => (output += chunk));
  const status = await new Promise((done) => run.on("close", done));
  const promised = [...code.matchAll(/\/\/ → (.+)$/gm)].map(([, line]) => line);
  const missing = promised.filter((line) => !output.includes(line));
  const fine = status === 0 && missing.length === 0;
  if (!fine) failed += 1;
  console.log(`example ${index + 1} of ${examples.length}: ${fine ? "ok" : "FAILED"}`);
  for (const line of missing) console.log(`  it did not print: ${line}`);
  if (output) console.log(output.trim().replaceAll(/^/gm, "  | "));
}
process.exit(failed === 0 ? 0 : 1);
