/** The host side of an MCP App, with the bridge of the SDK: it forwards tool calls to its backend. */
import { AppBridge, PostMessageTransport } from "@modelcontextprotocol/ext-apps/app-bridge";

const frame = document.querySelector("iframe") as HTMLIFrameElement;
const view = frame.contentWindow as Window;
const bridge = new AppBridge(
  null,
  { name: "a test", version: "1.0.0" },
  { serverTools: {} },
  { hostContext: { theme: "dark", locale: "en", displayMode: "inline" } },
);
bridge.oncalltool = async (params) => {
  const answer = await fetch("/tools", { method: "POST", body: JSON.stringify(params) });
  return answer.json();
};
bridge.onsizechange = ({ height }) => {
  if (height) frame.height = String(height);
};
bridge.oninitialized = () => {
  document.title = "initialized";
};
await bridge.connect(new PostMessageTransport(view, view));
frame.src = "/panel";
