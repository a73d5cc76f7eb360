/** Finds quotations in a text, so that they can be marked. Pure. */
export interface Piece {
  text: string;
  marked: boolean;
}

/** Splits a text into pieces; those that occur in one of the quotations are marked. */
export function pieces(text: string, quotes: readonly string[]): Piece[] {
  const found: [number, number][] = [];
  for (const quote of quotes) {
    const words = quote.trim().split(/\s+/).filter(Boolean);
    if (words.length === 0) continue;
    // A quotation is one line; in the text its words may be separated by any white space.
    const pattern = words.map((word) => word.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")).join("\\s+");
    const match = new RegExp(pattern, "iu").exec(text);
    if (match) found.push([match.index, match.index + match[0].length]);
  }
  found.sort((a, b) => a[0] - b[0]);
  const out: Piece[] = [];
  let at = 0;
  for (const [from, to] of found) {
    if (to <= at) continue;
    const begin = Math.max(from, at);
    if (begin > at) out.push({ text: text.slice(at, begin), marked: false });
    const last = out.at(-1);
    if (last?.marked && begin === at) last.text += text.slice(begin, to);
    else out.push({ text: text.slice(begin, to), marked: true });
    at = to;
  }
  if (at < text.length) out.push({ text: text.slice(at), marked: false });
  return out;
}

/** Characters shown around a quotation. */
const CONTEXT_CHARS = 110;

/** Shortens the pieces to the text around the marks; without marks, to the beginning. */
export function excerpt(all: readonly Piece[]): Piece[] {
  if (!all.some((piece) => piece.marked)) {
    const text = all.map((piece) => piece.text).join("");
    return [{ text: before(text, 2 * CONTEXT_CHARS), marked: false }];
  }
  return all.map((piece, at) => {
    if (piece.marked || piece.text.length <= 2 * CONTEXT_CHARS) return piece;
    const head = at > 0 ? before(piece.text, CONTEXT_CHARS) : "";
    const tail = at < all.length - 1 ? after(piece.text, CONTEXT_CHARS) : "";
    return { text: `${head.replace(/ …$/, "")} … ${tail.replace(/^… /, "")}`, marked: false };
  });
}

/** The first words, up to about `length` characters. */
function before(text: string, length: number): string {
  if (text.length <= length) return text;
  const cut = text.slice(0, length);
  return `${cut.slice(0, Math.max(cut.lastIndexOf(" "), length / 2))} …`;
}

/** The last words, up to about `length` characters. */
function after(text: string, length: number): string {
  if (text.length <= length) return text;
  const cut = text.slice(-length);
  const blank = cut.indexOf(" ");
  return `… ${cut.slice(blank > 0 && blank < length / 2 ? blank + 1 : 0)}`;
}
