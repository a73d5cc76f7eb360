import type { ReactNode } from "react";
import { classes } from "./classes.ts";

export interface Column<Row> {
  key: string;
  title: ReactNode;
  cell: (row: Row) => ReactNode;
  /** Numbers are aligned at the end of the column. */
  number?: boolean;
  /** Left out on phones. */
  wide?: boolean;
}

/** A table; scrolls horizontally where it does not fit. */
export function Table<Row>({
  label,
  columns,
  rows,
  rowKey,
}: {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string;
}) {
  const cell = (column: Column<Row>) =>
    classes(
      "px-4 py-2 align-top",
      column.number ? "text-end tabular-nums" : "text-start",
      column.wide && "max-sm:hidden",
    );
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
    <section aria-label={label} tabIndex={0} className="overflow-x-auto -outline-offset-2">
      <table className="w-full border-collapse">
        <caption className="sr-only">{label}</caption>
        <thead>
          <tr className="border-b text-fine text-muted">
            {columns.map((column) => (
              <th key={column.key} scope="col" className={classes(cell(column), "font-medium")}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={rowKey(row)} className="border-b last:border-b-0">
              {columns.map((column) => (
                <td key={column.key} className={cell(column)}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
