import { fileURLToPath } from "node:url";
import tailwind from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// Where the API is while the console is being worked on; in a release both are one server.
const server = process.env.LUKASA_URL ?? "http://127.0.0.1:7777";
const api = ["/api", "/v1", "/mcp", "/mem0", "/healthz", "/readyz", "/openapi.json", "/receipts"];

export default defineConfig({
  plugins: [react(), tailwind()],
  resolve: {
    alias: {
      "lukasa-client": fileURLToPath(
        new URL("../clients/typescript/src/index.ts", import.meta.url),
      ),
    },
  },
  build: {
    target: "es2023",
    // Everything is a file of its own: the content security policy allows nothing inline.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  server: {
    proxy: Object.fromEntries(
      api.map((path) => [
        path,
        { target: server, changeOrigin: true, headers: { origin: server } },
      ]),
    ),
  },
});
