/**
 * Serves a built console in front of a server that does not serve one itself, with the headers that the
 * real one sends. For tests and for looking; `quipu serve --console` takes its place.
 *
 *     node test/serve.mjs DIST PORT http://127.0.0.1:7777
 */
import { createReadStream, statSync } from "node:fs";
import { createServer, request } from "node:http";
import { extname, join, normalize } from "node:path";

const [folder, port, upstream] = process.argv.slice(2);
const API = /^\/(api|v1|mcp|mem0|healthz|readyz|openapi\.json|receipts)(\/|\?|$)/;
const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
  "connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

createServer((asked, answer) => {
  if (API.test(asked.url)) return forward(asked, answer);
  const path = normalize(decodeURIComponent(new URL(asked.url, "http://here").pathname));
  const file = isFile(join(folder, path)) ? join(folder, path) : join(folder, "index.html");
  answer.writeHead(200, {
    "content-type": TYPES[extname(file)] ?? "application/octet-stream",
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "cache-control": path.startsWith("/assets/") ? "max-age=31536000, immutable" : "no-cache",
  });
  createReadStream(file).pipe(answer);
}).listen(Number(port), "127.0.0.1");

function forward(asked, answer) {
  const to = new URL(asked.url, upstream);
  const headers = { ...asked.headers, host: to.host };
  if (headers.origin) headers.origin = to.origin;
  const onward = request(to, { method: asked.method, headers }, (got) => {
    answer.writeHead(got.statusCode, got.headers);
    got.pipe(answer);
  });
  onward.on("error", () => {
    if (!answer.headersSent) answer.writeHead(502);
    answer.end();
  });
  answer.on("close", () => onward.destroy());
  asked.pipe(onward);
}

function isFile(path) {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
