import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, test } from "@playwright/test";
import { LUKASA, lukasaFor } from "./host.ts";

/** The first code block of a language in the README. */
function block(language: string): string {
  const readme = readFileSync("README.md", "utf8");
  const found = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, "ms").exec(readme)?.[1];
  if (!found) throw new Error(`the README has no ${language} block`);
  return found;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  return address !== null && typeof address === "object" ? address.port : 0;
}

test("README example works verbatim", async ({ page }) => {
  const folder = mkdtempSync(join(tmpdir(), "lukasa-readme-"));
  writeFileSync(join(folder, "server.ts"), block("ts"));
  writeFileSync(join(folder, "index.html"), block("html"));
  writeFileSync(join(folder, "page.js"), block("js"));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  mkdirSync(join(folder, "node_modules", "@lukasa"), { recursive: true });
  symlinkSync(resolve("../typescript"), join(folder, "node_modules/lukasa-client"));
  symlinkSync(resolve("."), join(folder, "node_modules/lukasa-elements"));
  const port = await freePort();
  const server = spawn(process.execPath, ["--no-warnings", "server.ts"], {
    cwd: folder,
    env: {
      ...process.env,
      PORT: String(port),
      LUKASA_URL: LUKASA,
      LUKASA_KEY: process.env.CONSOLE_ADMIN_KEY,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const [output] = await once(server.stdout, "data");
    expect(String(output)).toContain(`open http://127.0.0.1:${port}`);
    const content = `Plays the cello since ${Date.now()}`;
    await lukasaFor("alice").memories.save(content);
    const logged = page.waitForEvent("console", (message) => message.text().includes("forgotten:"));
    await page.goto(`http://127.0.0.1:${port}`);
    await expect(page.getByText(content)).toBeVisible();
    await page.getByRole("button", { name: `Forget: ${content}` }).click();
    expect((await logged).text()).toContain(content);
  } finally {
    server.kill();
  }
});
