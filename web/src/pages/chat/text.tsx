/** Renders an answer: paragraphs, lists, tables and code, all of it as text. */
import { memo, useMemo } from "react";
import { t } from "../../i18n/index.ts";
import { Snippet } from "../../ui/snippet.tsx";
import { Citation } from "./citation.tsx";
import { type Block, blocks, type Inline } from "./markdown.ts";

type Marks = Readonly<Record<string, string>>;

export const AnswerText = memo(function AnswerText({
  text,
  marks,
}: {
  text: string;
  marks: Marks;
}) {
  const read = useMemo(() => blocks(text), [text]);
  return (
    <div className="flex flex-col gap-2.5 leading-relaxed">
      {read.map((block, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: blocks are only ever added at the end
        <OneBlock key={at} block={block} marks={marks} />
      ))}
    </div>
  );
});

function OneBlock({ block, marks }: { block: Block; marks: Marks }) {
  if (block.kind === "code") return <Snippet code={block.text} />;
  if (block.kind === "list") {
    const items = block.items.map((lines, at) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: items are only ever added at the end
      <li key={at} dir="auto" className="ps-1">
        <Lines lines={lines} marks={marks} />
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
  if (block.kind === "table") return <TableBlock block={block} marks={marks} />;
  return (
    <p dir="auto" className={block.kind === "heading" ? "pt-1 font-semibold" : undefined}>
      <Lines lines={block.lines} marks={marks} />
    </p>
  );
}

function TableBlock({
  block: { head, rows },
  marks,
}: {
  block: Extract<Block, { kind: "table" }>;
  marks: Marks;
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
                <Lines lines={[cell]} marks={marks} />
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
                  <Lines lines={[cell]} marks={marks} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Lines({ lines, marks }: { lines: Inline[][]; marks: Marks }) {
  return lines.map((line, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: lines are only ever added at the end
    <span key={at}>
      {at > 0 && <br />}
      {line.map((part, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: parts are only ever added at the end
        <Part key={place} part={part} marks={marks} />
      ))}
    </span>
  ));
}

function Part({ part, marks }: { part: Inline; marks: Marks }) {
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
      return <Citation id={part.text} />;
    case "mark": {
      const id = marks[part.text];
      return id ? <Citation id={id} mark={part.text} /> : `[${part.text}]`;
    }
    default:
      return part.text;
  }
}
