import { once } from "node:events";
import { mkdirSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, test } from "@playwright/test";
import { build } from "esbuild";
import { LUKASA, lukasaFor } from "./host.ts";

const PROTOCOL = "2026-07-28";
const UI = "io.modelcontextprotocol/ui";
const SHOWS_PAGES = { extensions: { [UI]: { mimeTypes: ["text/html;profile=mcp-app"] } } };
let server: Server;
const user = `app-${Date.now().toString(36)}`;

/** Sends an MCP request to the real server, as the assistant's backend does. */
async function sendMcp(method: string, params: { name?: string }, can: object): Promise<unknown> {
  const { secret } = await lukasaFor(user).keys.mintToken({ user });
  const meta = {
    "io.modelcontextprotocol/protocolVersion": PROTOCOL,
    "io.modelcontextprotocol/clientInfo": { name: "a test", version: "1.0.0" },
    "io.modelcontextprotocol/clientCapabilities": can,
  };
  const answer = await fetch(`${LUKASA}/mcp`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${secret}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": PROTOCOL,
      "mcp-method": method,
      ...(params.name ? { "mcp-name": params.name } : {}),
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: meta } }),
  });
  return (await answer.json()).result;
}

const callTool = async (body: string) =>
  JSON.stringify(await sendMcp("tools/call", JSON.parse(body), SHOWS_PAGES));

test.beforeAll(async () => {
  const bridge = await build({
    entryPoints: ["test/bridge.ts"],
    bundle: true,
    format: "esm",
    write: false,
  });
  const panel = readFileSync("dist/panel.html");
  server = createServer(async (asked, answer) => {
    const send = (type: string, content: string | Uint8Array, policy: string) =>
      answer
        .writeHead(200, { "content-type": type, "content-security-policy": policy })
        .end(content);
    if (asked.url === "/") {
      const page = `<!doctype html><html lang="en"><title>starting</title><iframe sandbox="allow-scripts"
        title="Memory" width="480"></iframe><script type="module" src="/bridge.js"></script></html>`;
      // The bridge needs `unsafe-eval`; this is the host page, not the panel.
      return send("text/html", page, "default-src 'self' 'unsafe-eval'");
    }
    if (asked.url === "/bridge.js") {
      return send("text/javascript", bridge.outputFiles[0]?.text ?? "", "default-src 'none'");
    }
    if (asked.url === "/panel") {
      // The policy of hosts for a panel without permissions: inline script only, and no connections.
      const policy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'";
      return send("text/html", panel, policy);
    }
    if (asked.url === "/tools") {
      const body = (await asked.toArray()).map(String).join("");
      return send("application/json", await callTool(body), "default-src 'none'");
    }
    answer.writeHead(404).end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
});

test.afterAll(() => server.close());

test("MCP App panel works through tools alone, without network access", async ({ page }) => {
  const wrong: string[] = [];
  page.on("pageerror", (error) => wrong.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error" && !/favicon/.test(message.location().url)) {
      wrong.push(message.text());
    }
  });
  const lukasa = lukasaFor(user);
  await lukasa.memories.save("Prefers window seats on long flights");
  const { port } = server.address() as AddressInfo;
  await page.goto(`http://127.0.0.1:${port}/`);
  await expect(page).toHaveTitle("initialized");
  const panel = page.frameLocator("iframe");
  await expect(panel.getByText("Prefers window seats")).toBeVisible();
  await panel.getByLabel("Remember something").fill("Has a sister called Ana");
  await panel.getByRole("button", { name: "Save" }).click();
  await expect(panel.getByRole("listitem").getByText("Has a sister called Ana")).toBeVisible();
  const [saved] = await lukasa.memories.list({ search: "sister" }).all();
  // A write through an assistant has the assistant's origin, even if the user pressed the button.
  expect(saved?.origin).not.toBe("user_said");
  await panel.getByRole("button", { name: /^Forget: Prefers/ }).click();
  await expect(panel.getByRole("status")).toContainText("Forgotten");
  await expect(panel.getByRole("listitem")).toHaveCount(1);
  await panel.getByRole("button", { name: "Undo" }).click();
  await expect(panel.getByRole("listitem")).toHaveCount(2);
  expect(await lukasa.memories.list({ search: "window" }).all()).toHaveLength(1);
  // The frame has the height of the content, and the theme of the host.
  const height = Number(await page.locator("iframe").getAttribute("height"));
  expect(height).toBeGreaterThan(80);
  await expect(panel.locator("html")).toHaveAttribute("data-theme", "dark");
  const folder = process.env.LUKASA_SCREENS;
  if (folder) {
    mkdirSync(folder, { recursive: true });
    await page.screenshot({ path: join(folder, "mcp-app.png") });
  }
  expect(wrong).toEqual([]);
});

test("undo_memory is listed only for clients with MCP Apps, and only for the app", async () => {
  type Listed = { tools: { name: string; _meta?: { ui?: { visibility?: string[] } } }[] };
  const undo = async (can: object) => {
    const { tools } = (await sendMcp("tools/list", {}, can)) as Listed;
    return tools.find(({ name }) => name === "undo_memory");
  };
  expect(await undo({})).toBeUndefined();
  expect((await undo(SHOWS_PAGES))?._meta?.ui?.visibility).toEqual(["app"]);
  const discovered = (await sendMcp("server/discover", {}, {})) as {
    capabilities: { extensions?: object };
  };
  expect(discovered.capabilities.extensions).toHaveProperty([UI]);
});
