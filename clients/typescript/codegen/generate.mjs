// Generates the types of the client from the OpenAPI document:
//   node codegen/generate.mjs ../../openapi.json src/openapi.ts
import { readFile, writeFile } from "node:fs/promises";
import openapiTS, { astToString } from "openapi-typescript";

const [from, to] = process.argv.slice(2);
const tree = await openapiTS(JSON.parse(await readFile(from, "utf8")), {
  emptyObjectsUnknown: true,
  rootTypes: true,
  rootTypesNoSchemaPrefix: true,
});
// Drop the lines for methods that a path does not have.
const text = astToString(tree)
  .replaceAll(/^ +\w+\?: never;\n/gm, "")
  .replaceAll(/^ +parameters: \{\n +\};\n/gm, "");
await writeFile(
  to,
  `// Generated from openapi.json by \`npm run generate\`; not to be edited.\n\n${text}`,
);
