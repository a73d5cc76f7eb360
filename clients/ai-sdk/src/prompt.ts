// Prompts of all versions of the AI SDK, as far as memory needs them.

export interface Part {
  type: string;
  text?: string;
}

export interface Message {
  role: string;
  content: string | Part[];
}

/** The text of a message, without images, files and other parts. */
export function textOf(message: Message): string {
  if (typeof message.content === "string") return message.content;
  return message.content
    .flatMap((part) => (part.type === "text" && part.text ? [part.text] : []))
    .join("\n");
}

/** The index of the last user message; -1 if there is none. */
export function lastOfUser(prompt: Message[]): number {
  return prompt.findLastIndex((message) => message.role === "user");
}

/** The texts of the user messages since the last answer. */
export function newsOf(prompt: Message[]): string[] {
  const last = lastOfUser(prompt);
  const answered = prompt.slice(0, last).findLastIndex((message) => message.role === "assistant");
  return prompt
    .slice(answered + 1, last + 1)
    .filter((message) => message.role === "user")
    .map(textOf)
    .filter((text) => text.trim() !== "");
}

/** The texts of the model since the last user message: it may have stopped for tool calls. */
export function answerSoFar(prompt: Message[]): string[] {
  return prompt
    .slice(lastOfUser(prompt) + 1)
    .filter((message) => message.role === "assistant")
    .map(textOf)
    .filter((text) => text !== "");
}

/**
 * Puts a context into a prompt: the baseline after the system prompt, where it stays the same for the
 * whole chat and the provider's cache hits; the dynamic part right before the last user message, after
 * everything that is cached.
 */
export function place(prompt: Message[], baseline: string, dynamic: string): Message[] {
  const placed = [...prompt];
  const last = lastOfUser(placed);
  if (dynamic && last >= 0) {
    const message = placed[last] as Message;
    const content =
      typeof message.content === "string"
        ? [{ type: "text", text: message.content }]
        : message.content;
    placed[last] = { ...message, content: [{ type: "text", text: dynamic }, ...content] };
  }
  if (baseline) {
    const others = placed.findIndex((message) => message.role !== "system");
    const system = (others < 0 ? placed.length : others) - 1;
    const message = placed[system];
    // Some models accept only one system message, so the baseline is appended to it.
    if (message) placed[system] = { ...message, content: `${message.content}\n\n${baseline}` };
    else placed.unshift({ role: "system", content: baseline });
  }
  return placed;
}

/** A digest of these texts. */
export async function digest(...words: string[]): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(words));
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(hash.subarray(0, 16), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
