/** Downloads content as a file. */
import { numberFormat } from "../i18n/formats.ts";
export function saveFile(name: string, content: Blob | string, type = "application/json"): void {
  const blob = typeof content === "string" ? new Blob([content], { type }) : content;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  // The download has to start before the URL is revoked.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** A size such as "3.4 MB", in the given locale. */
export function formatBytes(bytes: number, locale: string): string {
  const units = ["byte", "kilobyte", "megabyte", "gigabyte"] as const;
  const step = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  return numberFormat(locale, {
    style: "unit",
    unit: units[step],
    unitDisplay: "short",
    maximumFractionDigits: step > 1 ? 1 : 0,
  }).format(bytes / 1000 ** step);
}
