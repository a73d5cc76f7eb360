/**
 * The panel inside an assistant (an MCP App, `ui://lukasa/panel`). It holds no credential and reaches no
 * server: every call goes through the assistant, as the tools that its model may call.
 */
import {
  App,
  applyDocumentTheme,
  applyHostStyleVariables,
  type McpUiHostContext,
} from "@modelcontextprotocol/ext-apps";
import "./memory-panel.ts";
import { type Done, type Memory, type Source, useSource } from "./source.ts";

const app = new App({ name: "lukasa-panel", version: "0.1.0" }, {});

/** Calls a tool of the server, and gives what it answers as data. */
async function call<T>(name: string, given: Record<string, unknown>): Promise<T> {
  const answer = await app.callServerTool({ name, arguments: given });
  if (answer.isError) throw new Error(`${name} was refused`);
  return answer.structuredContent as T;
}

/** The tool that takes a write back, if the server that sent this page has one for it. */
const undoing = document.body.dataset.undoTool;

const source: Source = {
  list: async () =>
    (await call<{ memories?: Memory[] }>("list_memories", { limit: 100 })).memories ?? [],
  // A yes to a proposal is the person's own, and an assistant cannot pass it on: it is given in Lukasa.
  proposals: async () => [],
  save: (content) => call<Done>("save_memory", { content }),
  update: ({ id }, content) => call<Done>("update_memory", { id, content }),
  forget: ({ id }) => call<Done>("forget_memory", { id }),
  confirm: ({ id }) => call<Done>("confirm_memory", { id }),
  undo: undoing ? (operation_id) => call<Done>(undoing, { operation_id }) : undefined,
};

function dress(context: McpUiHostContext | undefined): void {
  if (context?.theme) applyDocumentTheme(context.theme);
  if (context?.styles?.variables) applyHostStyleVariables(context.styles.variables);
  if (context?.locale) document.documentElement.lang = context.locale;
}

const panel = document.querySelector("lukasa-memory-panel");
app.onhostcontextchanged = (changed) => dress({ ...app.getHostContext(), ...changed });
// The model has written something meanwhile: what is shown would be out of date.
app.ontoolresult = () => void panel?.load();
await app.connect();
dress(app.getHostContext());
useSource(source);
