/** Renders an answer: paragraphs, lists, tables and code, all of it as text. */
import { memo, useMemo } from "react";
import { t } from "../../i18n/index.ts";
import { Snippet } from "../../ui/snippet.tsx";
import { Citation } from "./citation.tsx";
import { type Block, blocks, type Inline, numberCited } from "./markdown.ts";

/** The memories by their marks in the prompt, and their numbers in this answer. */
interface Cited {
  marks: Readonly<Record<string, string>>;
  numbers: ReadonlyMap<string, number>;
}

export const AnswerText = memo(function AnswerText({
  text,
  marks,
}: {
  text: string;
  marks: Cited["marks"];
}) {
  const read = useMemo(() => blocks(text), [text]);
  const cited = useMemo(() => ({ marks, numbers: numberCited(read, marks) }), [read, marks]);
  return (
    <div className="flex flex-col gap-2.5 leading-relaxed">
      {read.map((block, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: blocks are only ever added at the end
        <OneBlock key={at} block={block} cited={cited} />
      ))}
    </div>
  );
});

function OneBlock({ block, cited }: { block: Block; cited: Cited }) {
  if (block.kind === "code") return <Snippet code={block.text} />;
  if (block.kind === "list") {
    const items = block.items.map((lines, at) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: items are only ever added at the end
      <li key={at} dir="auto" className="ps-1">
        <Lines lines={lines} cited={cited} />
      </li>
    ));
    return block.ordered ? (
      <ol start={block.start} className="flex list-decimal flex-col gap-1 ps-6">
        {items}
      </ol>
    ) : (
      <ul className="flex list-disc flex-col gap-1 ps-5">{items}</ul>
    );
  }
  if (block.kind === "table") return <TableBlock block={block} cited={cited} />;
  return (
    <p dir="auto" className={block.kind === "heading" ? "pt-1 font-semibold" : undefined}>
      <Lines lines={block.lines} cited={cited} />
    </p>
  );
}

function TableBlock({
  block: { head, rows },
  cited,
}: {
  block: Extract<Block, { kind: "table" }>;
  cited: Cited;
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
    <section aria-label={t("chat.table")} tabIndex={0} className="overflow-x-auto">
      <table className="min-w-full border-collapse text-body">
        <thead>
          <tr className="border-b">
            {head.map((cell, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: columns never change places
              <th key={at} dir="auto" scope="col" className="py-1.5 pe-4 text-start font-medium">
                <Lines lines={[cell]} cited={cited} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows are only ever added at the end
            <tr key={at} className="border-b last:border-b-0">
              {row.map((cell, place) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: columns never change places
                <td key={place} dir="auto" className="py-1.5 pe-4 align-top">
                  <Lines lines={[cell]} cited={cited} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Lines({ lines, cited }: { lines: Inline[][]; cited: Cited }) {
  return lines.map((line, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: lines are only ever added at the end
    <span key={at}>
      {at > 0 && <br />}
      {line.map((part, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: parts are only ever added at the end
        <Part key={place} part={part} cited={cited} />
      ))}
    </span>
  ));
}

function Part({ part, cited }: { part: Inline; cited: Cited }) {
  switch (part.kind) {
    case "strong":
      return <strong className="font-semibold">{part.text}</strong>;
    case "code":
      return (
        <code className="rounded-[0.25rem] bg-sunken px-1 py-0.5 font-mono text-meta">
          {part.text}
        </code>
      );
    case "memory":
      return <Citation id={part.text} number={cited.numbers.get(part.text) ?? 1} />;
    case "mark": {
      const id = cited.marks[part.text];
      return id ? <Citation id={id} number={cited.numbers.get(id) ?? 1} /> : `[${part.text}]`;
    }
    default:
      return part.text;
  }
}
