// Prompts as every version of the AI SDK hands them to a model, as far as memory looks at them.

export interface Part {
  type: string;
  text?: string;
}

export interface Message {
  role: string;
  content: string | Part[];
}

/** What was said in one message, without pictures, files and the rest. */
export function textOf(message: Message): string {
  if (typeof message.content === "string") return message.content;
  return message.content
    .flatMap((part) => (part.type === "text" && part.text ? [part.text] : []))
    .join("\n");
}

/** Where the person last spoke; -1 if they have not. */
export function lastOfUser(prompt: Message[]): number {
  return prompt.findLastIndex((message) => message.role === "user");
}

/** What the person said since the model last spoke, one text for each message. */
export function newsOf(prompt: Message[]): string[] {
  const last = lastOfUser(prompt);
  const answered = prompt.slice(0, last).findLastIndex((message) => message.role === "assistant");
  return prompt
    .slice(answered + 1, last + 1)
    .filter((message) => message.role === "user")
    .map(textOf)
    .filter((text) => text.trim() !== "");
}

/** What the model has said since: it may have stopped to use a tool. */
export function answerSoFar(prompt: Message[]): string[] {
  return prompt
    .slice(lastOfUser(prompt) + 1)
    .filter((message) => message.role === "assistant")
    .map(textOf)
    .filter((text) => text !== "");
}

/**
 * Puts a context into a prompt: the baseline behind the system's own words, where it stays the same
 * for the whole chat and a provider's cache keeps hitting; the dynamic part right before what the
 * person said last, behind everything that is cached.
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
    // Some models take one system message and no more, so it is continued rather than followed.
    if (message) placed[system] = { ...message, content: `${message.content}\n\n${baseline}` };
    else placed.unshift({ role: "system", content: baseline });
  }
  return placed;
}

/** A name for these words: the same words have the same name. */
export async function digest(...words: string[]): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(words));
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(hash.subarray(0, 16), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
