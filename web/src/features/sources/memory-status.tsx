import { nameText } from "../../i18n/index.ts";
import { Badge } from "../../ui/badge.tsx";

/** The status badge of a memory; hidden for active memories. */
export function MemoryStatus({ status }: { status: string }) {
  if (status === "active") return null;
  const key = `memory.status.${status}`;
  return <Badge tone="warn">{nameText(key, status)}</Badge>;
}
