/**
 * Parses the subset of Markdown that answers use: paragraphs, headings, lists, tables, code and bold text.
 * Pure. Everything else stays plain text: no HTML, images or links, because a model may repeat the text of
 * an attacker from a memory.
 */
export type Inline =
  | { kind: "text" | "strong" | "code"; text: string }
  /** A citation mark of the prompt, such as `[m3]`, that refers to a memory. */
  | { kind: "mark"; text: string }
  | { kind: "memory"; text: string };

export type Block =
  | { kind: "paragraph" | "heading"; lines: Inline[][] }
  | { kind: "list"; ordered: boolean; start: number; items: Inline[][][] }
  | { kind: "table"; head: Inline[][]; rows: Inline[][][] }
  | { kind: "code"; text: string };

const FENCE = /^\s*(```|~~~)/;
const HEADING = /^#{1,6}\s+(.*)$/;
const ITEM = /^\s{0,8}(?:[-*•]|(\d{1,9})[.)])\s+(.*)$/;
/** The line under the head of a table, and a horizontal rule. */
const RULE = /^\s*\|?(?:\s*:?-+:?\s*\|)+(?:\s*:?-+:?\s*)?$/;
const BREAK = /^\s*(?:-{3,}|\*{3,}|_{3,})\s*$/;
const PIECE = /`([^`\n]+)`|\*\*([^*\n]+)\*\*|\[(m\d{1,3})\]|\(?\b(mem_[0-9a-z]{26})\b\)?/g;

export function blocks(text: string): Block[] {
  const found: Block[] = [];
  const lines = text.replace(/\r\n?/g, "\n").split("\n");
  let open: Block | undefined;
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? "";
    const fence = FENCE.exec(line)?.[1];
    if (fence) {
      const code: string[] = [];
      // A streamed answer may not have closed it yet.
      while (++at < lines.length && !lines[at]?.trimStart().startsWith(fence)) {
        code.push(lines[at] ?? "");
      }
      found.push({ kind: "code", text: code.join("\n") });
      open = undefined;
      continue;
    }
    if (line.includes("|") && RULE.test(lines[at + 1] ?? "")) {
      const rows: Inline[][][] = [];
      for (at += 1; lines[at + 1]?.includes("|"); ) rows.push(cells(lines[++at] ?? ""));
      found.push({ kind: "table", head: cells(line), rows });
      open = undefined;
      continue;
    }
    const heading = HEADING.exec(line);
    const item = ITEM.exec(line);
    if (line.trim() === "" || BREAK.test(line)) {
      open = undefined;
    } else if (heading) {
      found.push({ kind: "heading", lines: [inlines(heading[1] ?? "")] });
      open = undefined;
    } else if (item) {
      const ordered = item[1] !== undefined;
      const last = found.at(-1);
      const words = [inlines(item[2] ?? "")];
      if (last?.kind === "list" && last.ordered === ordered) {
        last.items.push(words);
      } else {
        found.push({ kind: "list", ordered, start: Number(item[1] ?? 1), items: [words] });
      }
      open = found.at(-1);
    } else if (open?.kind === "list") {
      open.items.at(-1)?.push(inlines(line.trim()));
    } else if (open?.kind === "paragraph") {
      open.lines.push(inlines(line));
    } else {
      open = { kind: "paragraph", lines: [inlines(line)] };
      found.push(open);
    }
  }
  return found;
}

/** The cells of a line, whether or not it begins and ends with a bar. */
function cells(line: string): Inline[][] {
  const bare = line.trim().replace(/^\|/, "").replace(/\|$/, "");
  return bare.split("|").map((cell) => inlines(cell.trim()));
}

export function inlines(line: string): Inline[] {
  const found: Inline[] = [];
  let from = 0;
  for (const match of line.matchAll(PIECE)) {
    if (match.index > from) found.push({ kind: "text", text: line.slice(from, match.index) });
    const [whole, code, strong, mark, memory] = match;
    if (code !== undefined) found.push({ kind: "code", text: code });
    else if (strong !== undefined) found.push({ kind: "strong", text: strong });
    else if (mark !== undefined) found.push({ kind: "mark", text: mark });
    else if (memory !== undefined) found.push({ kind: "memory", text: memory });
    from = match.index + whole.length;
  }
  if (from < line.length) found.push({ kind: "text", text: line.slice(from) });
  return found;
}

/** The numbers of the cited memories, in the order in which the answer names them. */
export function numberCited(
  found: readonly Block[],
  marks: Readonly<Record<string, string>>,
): Map<string, number> {
  const numbers = new Map<string, number>();
  for (const part of found.flatMap(linesOf).flat()) {
    const id = part.kind === "memory" ? part.text : part.kind === "mark" && marks[part.text];
    if (id && !numbers.has(id)) numbers.set(id, numbers.size + 1);
  }
  return numbers;
}

function linesOf(block: Block): Inline[][] {
  if (block.kind === "code") return [];
  if (block.kind === "list") return block.items.flat();
  if (block.kind === "table") return [...block.head, ...block.rows.flat()];
  return block.lines;
}
