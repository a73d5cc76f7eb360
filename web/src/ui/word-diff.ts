/**
 * A word diff of two texts by their longest common subsequence. Pure.
 */
export interface Change {
  kind: "same" | "added" | "removed";
  text: string;
}

// Longer texts are shown as fully replaced: the table grows with the product of both lengths.
const MAX_WORDS = 2_000;

export function changes(before: string, after: string): Change[] {
  const a = pieces(before);
  const b = pieces(after);
  if (a.length > MAX_WORDS || b.length > MAX_WORDS) {
    return join([
      { kind: "removed", text: before },
      { kind: "added", text: after },
    ]);
  }
  const width = b.length + 1;
  // common[i * width + j]: how many words a[i..] and b[j..] have in common, in order.
  const common = new Uint16Array((a.length + 1) * width);
  const at = (i: number, j: number) => common[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i * width + j] =
        a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const found: Change[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    const [left, right] = [a[i], b[j]];
    if (left !== undefined && left === right) {
      found.push({ kind: "same", text: left });
      i++;
      j++;
    } else if (left !== undefined && (right === undefined || at(i + 1, j) >= at(i, j + 1))) {
      found.push({ kind: "removed", text: left });
      i++;
    } else if (right !== undefined) {
      found.push({ kind: "added", text: right });
      j++;
    }
  }
  return join(found);
}

/** Splits a text into words and the characters between them. */
function pieces(text: string): string[] {
  return text.match(/\s+|[\p{L}\p{N}_'’-]+|[^\s\p{L}\p{N}]/gu) ?? [];
}

/** Joins neighbouring changes of the same kind. */
function join(changes: Change[]): Change[] {
  const joined: Change[] = [];
  for (const change of changes) {
    const last = joined.at(-1);
    if (last?.kind === change.kind) last.text += change.text;
    else if (change.text) joined.push({ ...change });
  }
  return joined;
}
