/**
 * A host page on another origin, with a strict content security policy: it serves the bundle, and its backend
 * mints the tokens. The key never leaves the backend.
 */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Lukasa } from "lukasa-client";

export const LUKASA = process.env.CONSOLE_KEYS_URL ?? "";
const key = process.env.CONSOLE_ADMIN_KEY ?? "";

export interface Host {
  url: string;
  /** How many tokens were minted. */
  minted: () => number;
  /** Mints further tokens for another page, as if one had been stolen. */
  mintFor: (page: string) => void;
  close: () => void;
}

export const lukasaFor = (user: string) => new Lukasa({ url: LUKASA, key, user });

/** A client with a token of the user: an application's key cannot state a rule for them. */
export async function userThemselves(user: string): Promise<Lukasa> {
  const { secret } = await lukasaFor(user).keys.mintToken({ user });
  return new Lukasa({ url: LUKASA, key: secret });
}

const PAGE = (body: string) => `<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>A chat</title>
<link rel="stylesheet" href="/host.css"><script type="module" src="/host.js"></script></head>
<body><main><h1>A chat</h1>${body}</main></body></html>`;

const STYLE = `body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 34rem; padding: 0 1rem; }
.night { color-scheme: dark; background: #16130f; color: #efebe8; }
.branded { --lukasa-accent: rgb(0, 90, 60); } .branded::part(memory) { font-weight: 700; }`;

export async function host(user: string, body: string, script: string): Promise<Host> {
  let minted = 0;
  let bound: string | undefined;
  const bundle = readFileSync("dist/lukasa-elements.js");
  const server = createServer(async (request, response) => {
    const { port } = server.address() as AddressInfo;
    const own = `http://127.0.0.1:${port}`;
    const send = (type: string, content: string | Buffer) => {
      response.writeHead(200, {
        "content-type": type,
        "content-security-policy": [
          "default-src 'none'",
          "script-src 'self'",
          "style-src 'self'",
          `connect-src 'self' ${LUKASA}`,
          "base-uri 'none'",
        ].join("; "),
      });
      response.end(content);
    };
    const path = request.url ?? "/";
    if (path === "/") return send("text/html", PAGE(body));
    if (path === "/host.css") return send("text/css", STYLE);
    if (path === "/lukasa-elements.js") return send("text/javascript", bundle);
    if (path === "/host.js") {
      const start = `import { connect, setStrings } from "/lukasa-elements.js";
        connect({ url: "${LUKASA}", token: async () => (await fetch("/token")).json() });`;
      return send("text/javascript", `${start}\n${script}`);
    }
    if (path === "/token") {
      minted++;
      const token = await lukasaFor(user).keys.mintToken({ user, page: bound ?? own });
      return send("application/json", JSON.stringify(token));
    }
    response.writeHead(404).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    minted: () => minted,
    mintFor: (page) => {
      bound = page;
    },
    close: () => server.close(),
  };
}
