import { useMemo } from "react";
import { classes } from "./classes.ts";
import { changes } from "./word-diff.ts";

/** A word diff of two texts: removed words are struck through, added ones underlined. */
export function Diff({ before, after }: { before: string; after: string }) {
  const parts = useMemo(() => changes(before, after), [before, after]);
  return (
    <span dir="auto" className="whitespace-pre-wrap">
      {parts.map((part, at) => {
        const key = `${at}-${part.kind}`;
        if (part.kind === "removed") {
          return (
            <del key={key} className="rounded-sm bg-bad-soft text-bad">
              {part.text}
            </del>
          );
        }
        if (part.kind === "added") {
          return (
            <ins
              key={key}
              className={classes(
                "rounded-sm bg-good-soft text-good underline",
                // A gap, or the old and the new word would read as one.
                parts[at - 1]?.kind === "removed" && "ms-1",
              )}
            >
              {part.text}
            </ins>
          );
        }
        return <span key={key}>{part.text}</span>;
      })}
    </span>
  );
}
