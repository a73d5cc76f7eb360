/**
 * The panel inside an assistant (an MCP App, `ui://lukasa/panel`). It has no credentials and no network
 * access: every call goes through the assistant, as one of its tools.
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

/** Calls a tool of the server, and returns its structured result. */
async function call<T>(name: string, args: Record<string, unknown>): Promise<T> {
  const answer = await app.callServerTool({ name, arguments: args });
  if (answer.isError) throw new Error(`${name} was refused`);
  return answer.structuredContent as T;
}

/** The tool for undo, if the server that sent this page has one. */
const undoing = document.body.dataset.undoTool;

const source: Source = {
  list: async () =>
    (await call<{ memories?: Memory[] }>("list_memories", { limit: 100 })).memories ?? [],
  // Only the user can confirm a proposal, and an assistant cannot do it for them: proposals are answered in Lukasa.
  proposals: async () => [],
  save: (content) => call<Done>("save_memory", { content }),
  update: ({ id }, content) => call<Done>("update_memory", { id, content }),
  forget: ({ id }) => call<Done>("forget_memory", { id }),
  confirm: ({ id }) => call<Done>("confirm_memory", { id }),
  undo: undoing ? (operation_id) => call<Done>(undoing, { operation_id }) : undefined,
};

function applyHostContext(context: McpUiHostContext | undefined): void {
  if (context?.theme) applyDocumentTheme(context.theme);
  if (context?.styles?.variables) applyHostStyleVariables(context.styles.variables);
  if (context?.locale) document.documentElement.lang = context.locale;
}

const panel = document.querySelector("lukasa-memory-panel");
app.onhostcontextchanged = (changed) => applyHostContext({ ...app.getHostContext(), ...changed });
// A tool ran in the assistant: refresh the list.
app.ontoolresult = () => void panel?.load();
await app.connect();
applyHostContext(app.getHostContext());
useSource(source);
