/** Marks the words of a search in the text of a memory. */
import { createContext, type ReactNode, useContext, useMemo } from "react";
import { matchesIn, plain } from "../../data/select.ts";

/** The words of the current search; none if empty. */
export const SearchWords = createContext<readonly string[]>([]);

/** With `words`, those are marked instead of the words of the search. */
export function Highlighted({
  text,
  words: own,
}: {
  text: string;
  words?: readonly string[];
}): ReactNode {
  const searched = useContext(SearchWords);
  const words = useMemo(() => own?.map(plain) ?? searched, [own, searched]);
  const parts = useMemo(() => {
    const found: ReactNode[] = [];
    let end = 0;
    for (const [from, to] of matchesIn(text, words)) {
      found.push(text.slice(end, from), <mark key={from}>{text.slice(from, to)}</mark>);
      end = to;
    }
    return [...found, text.slice(end)];
  }, [text, words]);
  return words.length === 0 ? text : parts;
}
