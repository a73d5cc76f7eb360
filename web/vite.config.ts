import { fileURLToPath } from "node:url";
import tailwind from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// The API server for `npm run dev`; in a release it serves the console itself.
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
    // Assets are separate files: the content security policy allows nothing inline.
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
