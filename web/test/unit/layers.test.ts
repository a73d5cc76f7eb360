/**
 * The layers of `src`: which folder may import which, as listed in README.md. No two files import each other,
 * also not through others, and no page imports another page. Type imports count.
 */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path/posix";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

/** What each layer may import besides itself, from the lowest to the highest. `main.tsx` may import all. */
const LAYERS: Record<string, readonly string[]> = {
  i18n: [],
  base: ["i18n"],
  data: ["i18n", "base"],
  ui: ["i18n", "base"],
  features: ["i18n", "base", "data", "ui"],
  pages: ["i18n", "base", "data", "ui", "features"],
  app: ["i18n", "base", "data", "ui", "features", "pages"],
};
const ENTRY = "main.tsx";

/** Files by path in `src`. */
type Sources = Readonly<Record<string, string>>;

interface Import {
  from: string;
  to: string;
  /** Whether it is loaded when it is first needed. */
  dynamic: boolean;
}

const IMPORT = /\b(?:from|(import)\s*\(|import)\s*["'](\.[^"']+)["']/g;

function importsOf(sources: Sources): Import[] {
  return Object.entries(sources).flatMap(([from, text]) =>
    [...text.matchAll(IMPORT)].map(([, dynamic, path = ""]) => ({
      from,
      to: join(dirname(from), path),
      dynamic: dynamic !== undefined,
    })),
  );
}

/** The first folders of a path: `folder("pages/chat/index.tsx")` is `pages`, with depth 2 `pages/chat`. */
function folder(path: string, depth = 1): string {
  return path.split("/").slice(0, depth).join("/");
}

/** Every import that the rules forbid, as text. */
function faultsOf(sources: Sources): string[] {
  const imports = importsOf(sources);
  const faults = Object.keys(sources)
    .filter((file) => file !== ENTRY && !Object.hasOwn(LAYERS, folder(file)))
    .map((file) => `${file} is in no layer`);
  for (const { from, to, dynamic } of imports) {
    const [own, other] = [folder(from), folder(to)];
    const fault = (why: string) => faults.push(`${from} imports ${to}: ${why}`);
    if (!Object.hasOwn(sources, to)) {
      if (!to.endsWith(".css")) fault("there is no such file");
    } else if (from !== ENTRY && own !== other && !LAYERS[own]?.includes(other)) {
      fault(`${own} may not import ${other}`);
    } else if (own === "pages" && other === "pages" && folder(from, 2) !== folder(to, 2)) {
      fault("a page may not import another page");
    } else if (own === "app" && other === "pages" && !dynamic && !to.endsWith("params.ts")) {
      fault("pages are loaded when they are opened");
    }
  }
  const files = imports.map(({ from, to }): [string, string] => [from, to]);
  const features = imports
    .filter(({ from, to }) => folder(from) === "features" && folder(to) === "features")
    .map(({ from, to }): [string, string] => [folder(from, 2), folder(to, 2)])
    .filter(([from, to]) => from !== to);
  const cycles = [...cyclesIn(files), ...cyclesIn(features)];
  return [...faults, ...cycles.map((cycle) => `cycle: ${cycle.join(" -> ")}`)];
}

/** Cycles of a directed graph, at least one for each set of nodes that reach each other. */
function cyclesIn(edges: readonly [string, string][]): string[][] {
  const next = new Map<string, Set<string>>();
  for (const [from, to] of edges) next.set(from, (next.get(from) ?? new Set()).add(to));
  const cycles: string[][] = [];
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (node: string): void => {
    if (path.includes(node)) {
      cycles.push([...path.slice(path.indexOf(node)), node]);
      return;
    }
    if (done.has(node)) return;
    path.push(node);
    for (const to of next.get(node) ?? []) visit(to);
    path.pop();
    done.add(node);
  };
  for (const node of next.keys()) visit(node);
  return cycles;
}

function readSources(): Record<string, string> {
  const root = fileURLToPath(new URL("../../src", import.meta.url));
  const files = readdirSync(root, { recursive: true, encoding: "utf8" })
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => /\.tsx?$/.test(file));
  return Object.fromEntries(files.map((file) => [file, readFileSync(join(root, file), "utf8")]));
}

test("source files keep to the layers and form no cycle", () => {
  const sources = readSources();
  // The reader must see the files and their imports, or the rules would hold for nothing.
  const imports = importsOf(sources);
  assert.ok(Object.keys(sources).length > 200 && imports.length > 1_000);
  assert.ok(imports.some(({ dynamic, to }) => dynamic && to === "pages/memory/index.tsx"));
  assert.deepEqual(faultsOf(sources), []);
});

test("forbidden import, cycle and missing layer are detected in planted files", () => {
  const legal = {
    "main.tsx": 'import { router } from "./app/routes.tsx";\nimport "./styles.css";',
    "app/routes.tsx":
      'import { params } from "../pages/a/params.ts";\nlazy(() => import("../pages/a/index.tsx"));',
    "pages/a/params.ts": "",
    "pages/a/index.tsx":
      'import {\n  One,\n} from "../../features/one/one.tsx";\nexport { params } from "./params.ts";',
    "pages/b/index.tsx": 'import { useRouter } from "@tanstack/react-router";',
    "features/one/one.tsx": 'import { Two } from "../two/two.tsx";',
    "features/one/rest.tsx": "",
    "features/two/two.tsx": 'import { Button } from "../../ui/button.tsx";',
    "ui/button.tsx": 'import type { Preferences } from "../base/preferences.ts";',
    "data/store.ts": 'import { preferences } from "../base/preferences.ts";',
    "base/preferences.ts": 'import { t } from "../i18n/index.ts";',
    "i18n/index.ts": "",
  };
  assert.deepEqual(faultsOf(legal), []);
  const planted = (file: string, text: string) => faultsOf({ ...legal, [file]: text });
  assert.deepEqual(planted("ui/card.tsx", 'import { store } from "../data/store.ts";'), [
    "ui/card.tsx imports data/store.ts: ui may not import data",
  ]);
  assert.deepEqual(planted("data/a.ts", 'import type { Button } from "../ui/button.tsx";'), [
    "data/a.ts imports ui/button.tsx: data may not import ui",
  ]);
  assert.deepEqual(planted("pages/b/index.tsx", 'lazy(() => import("../a/index.tsx"));'), [
    "pages/b/index.tsx imports pages/a/index.tsx: a page may not import another page",
  ]);
  assert.deepEqual(planted("app/shell.tsx", 'import { A } from "../pages/a/index.tsx";'), [
    "app/shell.tsx imports pages/a/index.tsx: pages are loaded when they are opened",
  ]);
  assert.deepEqual(planted("features/a.tsx", 'import "../app/routes.tsx";'), [
    "features/a.tsx imports app/routes.tsx: features may not import app",
  ]);
  assert.deepEqual(planted("i18n/index.ts", 'import { prefer } from "../base/preferences.ts";'), [
    "i18n/index.ts imports base/preferences.ts: i18n may not import base",
    "cycle: base/preferences.ts -> i18n/index.ts -> base/preferences.ts",
  ]);
  assert.deepEqual(planted("base/a.ts", 'import type { A } from "./a.ts";'), [
    "cycle: base/a.ts -> base/a.ts",
  ]);
  // Through two feature folders, though no two files import each other.
  assert.deepEqual(planted("features/two/a.tsx", 'import { Rest } from "../one/rest.tsx";'), [
    "cycle: features/one -> features/two -> features/one",
  ]);
  assert.deepEqual(planted("helpers/a.ts", ""), ["helpers/a.ts is in no layer"]);
  assert.deepEqual(planted("base/a.ts", 'import { b } from "./b.ts";'), [
    "base/a.ts imports base/b.ts: there is no such file",
  ]);
});
