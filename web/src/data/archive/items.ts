/** The items of `POST /api/import`, and how they are split into requests. Pure. */

export interface ChatTurn {
  role: "user" | "assistant";
  content: string;
  said_at?: string;
}

/** A conversation, or a range of its messages. */
export interface ChatItem {
  item: "chat";
  /** The other program's id for it. */
  source: string;
  title?: string;
  opened_at?: string;
  /** How many messages of the conversation precede these. */
  before: number;
  turns: ChatTurn[];
  /** Whether these are its last messages. */
  last: boolean;
}

export interface MemoryItem {
  item: "memory";
  source: string;
  content: string;
}

export type ImportItem = ChatItem | MemoryItem;

/** Most items, messages and bytes of one request; the same as those of the command line. */
const REQUEST_ITEMS = 200;
const REQUEST_TURNS = 200;
const REQUEST_BYTES = 4 * 1024 * 1024;

/** Joins items to the bodies of requests, an item on each line; long chats are split into several items. */
export async function* batchesOf(items: AsyncIterable<ImportItem>): AsyncGenerator<string> {
  let lines: string[] = [];
  let [bytes, turns] = [0, 0];
  for await (const item of items) {
    for (const piece of piecesOf(item)) {
      const line = JSON.stringify(piece);
      const lineBytes = bytesOf(line);
      const pieceTurns = piece.item === "chat" ? piece.turns.length : 0;
      const fits =
        lines.length < REQUEST_ITEMS &&
        bytes + lineBytes < REQUEST_BYTES &&
        turns + pieceTurns <= REQUEST_TURNS;
      if (!fits && lines.length > 0) {
        yield lines.join("\n");
        lines = [];
        [bytes, turns] = [0, 0];
      }
      lines.push(line);
      bytes += lineBytes;
      turns += pieceTurns;
    }
  }
  if (lines.length > 0) yield lines.join("\n");
}

/** A long chat in pieces that fit into a request; any other item unchanged. */
export function piecesOf(item: ImportItem): ImportItem[] {
  if (item.item !== "chat") return [item];
  const pieces: ChatItem[] = [];
  let part: ChatTurn[] = [];
  let [bytes, before] = [0, 0];
  for (const turn of item.turns) {
    const turnBytes = bytesOf(turn.content);
    if (part.length >= REQUEST_TURNS || (bytes + turnBytes > REQUEST_BYTES && part[0])) {
      pieces.push({ ...item, before, turns: part, last: false });
      before += part.length;
      [part, bytes] = [[], 0];
    }
    bytes += turnBytes;
    part.push(turn);
  }
  pieces.push({ ...item, before, turns: part });
  return pieces;
}

const encoder = new TextEncoder();

function bytesOf(text: string): number {
  return encoder.encode(text).length;
}
