/** Erasure receipts: reading them, and verifying their signatures in the browser. */

import { useQuery } from "@tanstack/react-query";
import type { SignedReceiptView } from "lukasa-client";
import { useLukasa } from "../base/sign-in.ts";

export function useReceipts() {
  const lukasa = useLukasa();
  return useQuery({
    queryKey: ["receipts"],
    queryFn: ({ signal }) => lukasa.erasures.list({ signal }),
  });
}

/** Groups receipts by erasure: one erasure may remove several things, each with its own signed receipt. */
export function byErasure(signed: readonly SignedReceiptView[]): SignedReceiptView[][] {
  const groups = new Map<string, SignedReceiptView[]>();
  for (const one of signed) {
    const of = one.receipt.operation_id ?? one.receipt.id;
    groups.set(of, [...(groups.get(of) ?? []), one]);
  }
  return [...groups.values()];
}

/** The signed text: JSON without spaces, the keys of every object sorted. */
export function signedText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(signedText).join(",")}]`;
  if (value !== null && typeof value === "object") {
    const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
    return `{${entries.map(([key, one]) => `${JSON.stringify(key)}:${signedText(one)}`).join(",")}}`;
  }
  return JSON.stringify(value);
}

/** Whether `publicKey` signed exactly this receipt; undefined if the browser cannot check it. */
export async function verifies(
  { receipt, signature }: SignedReceiptView,
  publicKey: string,
): Promise<boolean | undefined> {
  if (!globalThis.crypto?.subtle) return undefined;
  try {
    const key = await crypto.subtle.importKey("raw", bytes(publicKey), "Ed25519", false, [
      "verify",
    ]);
    const text = new TextEncoder().encode(signedText(receipt));
    return await crypto.subtle.verify("Ed25519", key, bytes(signature.value), text);
  } catch {
    return undefined;
  }
}

function bytes(hex: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}
