/**
 * Undo for every write. Writes go through `useWrite`: shown optimistically, sent, and announced in a toast
 * with Undo; `Z` undoes the latest write of this page, and when there are none left the latest one that the
 * server knows.
 */

import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { type Lukasa, LukasaError, type WriteResult } from "lukasa-client";
import { useCallback } from "react";
import { showFailure } from "../base/failures.ts";
import { useLukasa } from "../base/sign-in.ts";
import { dropToast, showToast } from "../base/toasts.ts";
import { domainName } from "../i18n/domains.ts";
import { t } from "../i18n/index.ts";
import { shownContent } from "./shown-content.ts";
import { delayRefresh, refreshMemories } from "./store.ts";

export interface Write {
  /** The toast text, such as "Forgotten", or a function of the server's response. */
  say: string | ((written: WriteResult) => string);
  /** What could not be done if it is refused, such as "Could not forget this". */
  failed?: string;
  /** The text of the memory or chat that was changed. */
  about?: string;
  /** Shows the change before the server answers; returns a function that reverts it. */
  show?: () => () => void;
  run: () => Promise<WriteResult>;
  /** The same write with the user's consent to save text about a closed domain without a domain. */
  runWithoutDomain?: () => Promise<WriteResult>;
  after?: (written: WriteResult) => void;
}

/** One write on several memories: one toast, and one undo for all of them. */
export interface BatchWrite extends Omit<Write, "run" | "runWithoutDomain" | "after"> {
  runs: readonly (() => Promise<WriteResult>)[];
  after?: (written: WriteResult) => void;
  /** Called with the number of requests that were answered. */
  onProgress?: (done: number) => void;
  /**
   * Whether each request needs the one before: they are sent one by one, and undone in reverse. If one is refused,
   * those before it are undone at once.
   */
  inOrder?: boolean;
}

interface RecentWrite {
  /** Resolves when the server has answered. */
  settled: Promise<unknown>;
  operation?: string;
  /** Operations of the same action, undone together with it. */
  others?: string[];
  /** Whether the others are undone one by one. */
  inOrder?: boolean;
  /** Whether it is not one operation, such as an import: its undo is known when the server has answered. */
  hasOwnUndo?: boolean;
  undo?: () => Promise<unknown>;
  toast?: number;
}

/** This page's writes that can still be undone, the latest last, including pending ones. */
const recentWrites: RecentWrite[] = [];
/** Verbs that cannot be undone, and undo itself. */
const FINAL = new Set(["erase", "purge", "undo", "erase_user"]);

/** Runs a write. Resolves with the response, or with nothing if it was refused, after an error toast. */
export function useWrite(): (write: Write) => Promise<WriteResult | undefined> {
  const lukasa = useLukasa();
  const queries = useQueryClient();
  return useCallback(
    async function perform(write: Write): Promise<WriteResult | undefined> {
      const hide = write.show?.();
      const running = write.run();
      const one: RecentWrite = { settled: running.catch(() => undefined) };
      recentWrites.push(one);
      try {
        const written = await running;
        write.after?.(written);
        announce(lukasa, queries, write, written, one);
        return written;
      } catch (error) {
        drop(one);
        hide?.();
        if (!askAboutDomain(lukasa, queries, write, error, perform))
          showFailure(error, {
            what: write.failed,
            about: write.about,
            retry: () => perform(write),
          });
        return undefined;
      }
    },
    [lukasa, queries],
  );
}

/**
 * Handles a write about a domain that is turned off: a toast offers to turn it on or to save without a domain.
 * Returns whether the error was of this kind.
 */
function askAboutDomain(
  lukasa: Lukasa,
  queries: QueryClient,
  write: Write,
  error: unknown,
  perform: (write: Write) => Promise<WriteResult | undefined>,
): boolean {
  const domain =
    error instanceof LukasaError && error.code === "opt_in_needed" ? error.domain : undefined;
  if (!domain) return false;
  const { runWithoutDomain } = write;
  const open = async () => {
    try {
      await lukasa.domains.open(domain);
      await queries.invalidateQueries({ queryKey: ["domains"] });
      await perform(write);
    } catch (refused) {
      showFailure(refused, { about: write.about, retry: open });
    }
  };
  showToast({
    text: t("shell.closedDomain.text", { domain: domainName(domain) }),
    about: write.about,
    action: {
      label: t("shell.closedDomain.open", { domain: domainName(domain) }),
      run: () => void open(),
    },
    other: runWithoutDomain && {
      label: t("shell.closedDomain.keep"),
      run: () => void perform({ ...write, run: runWithoutDomain }),
    },
  });
  return true;
}

/** Parallel requests of one action. */
const MAX_CONCURRENT = 6;
/** An undo of more writes than these is announced when it starts. */
const MIN_ANNOUNCED = 50;

/** Does the work for each item, some of them at a time. */
async function concurrently<T>(
  items: readonly T[],
  work: (item: T) => Promise<void>,
  workers = MAX_CONCURRENT,
): Promise<void> {
  const waiting = items.values();
  const worker = async () => {
    for (const item of waiting) await work(item);
  };
  const running = Promise.all(Array.from({ length: workers }, worker));
  delayRefresh(running);
  await running;
}

/**
 * Runs the same write on several memories. Refused ones are reverted, with one error toast for all. With `inOrder`
 * all or none are written: `after` is called for none if one was refused.
 */
export function useBatchWrite(): (write: BatchWrite) => Promise<void> {
  const lukasa = useLukasa();
  const queries = useQueryClient();
  return useCallback(
    async function performAll(write: BatchWrite): Promise<void> {
      const hide = write.show?.();
      const written: WriteResult[] = [];
      const unsent: BatchWrite["runs"][number][] = [];
      let refused: unknown;
      let done = 0;
      const { inOrder } = write;
      const sending = concurrently(
        write.runs,
        async (run) => {
          if (inOrder && refused !== undefined) return;
          try {
            written.push(await run());
          } catch (error) {
            refused = error;
            unsent.push(run);
          }
          done++;
          write.onProgress?.(done);
        },
        inOrder ? 1 : MAX_CONCURRENT,
      );
      const running = sending.then(async () => {
        if (inOrder && refused !== undefined) await revert(lukasa, queries, written.splice(0));
      });
      delayRefresh(running);
      const one: RecentWrite = { settled: running, inOrder };
      recentWrites.push(one);
      await running;
      // Revert everything shown, then apply the writes that succeeded again.
      if (refused !== undefined) hide?.();
      for (const each of written) write.after?.(each);
      if (inOrder) written.reverse();
      const first = written.find((each) => each.event.undo);
      if (first) {
        one.others = written.flatMap((each) =>
          each !== first && each.event.undo && each.event.operation_id
            ? [each.event.operation_id]
            : [],
        );
        announce(lukasa, queries, { ...write, run: () => Promise.resolve(first) }, first, one);
      } else drop(one);
      if (refused === undefined) return;
      const runs = inOrder ? write.runs : unsent;
      const [failed, of] = [runs.length, write.runs.length];
      const about = failed < of ? t("shell.failed.some", { failed, of }) : write.about;
      showFailure(refused, {
        what: write.failed,
        about,
        retry: () => performAll({ ...write, runs }),
      });
    },
    [lukasa, queries],
  );
}

/** Undoes these writes, the latest first. A toast names what to do if one of them cannot be undone. */
async function revert(
  lukasa: Lukasa,
  queries: QueryClient,
  written: readonly WriteResult[],
): Promise<void> {
  try {
    for (const { event } of [...written].reverse())
      if (event.undo && event.operation_id) await lukasa.operations.undo(event.operation_id);
  } catch {
    showToast({ text: t("shell.undo.partly"), tone: "bad" });
  }
  await refreshMemories(queries, lukasa, [
    ...new Set(written.flatMap(({ event }) => event.memory_ids)),
  ]);
}

function drop(one: RecentWrite | undefined): void {
  const at = one ? recentWrites.indexOf(one) : -1;
  if (at >= 0) recentWrites.splice(at, 1);
}

function announce(
  lukasa: Lukasa,
  queries: QueryClient,
  write: Write,
  written: WriteResult,
  one: RecentWrite,
): void {
  const operation = written.event.operation_id;
  const text = typeof write.say === "string" ? write.say : write.say(written);
  // Saving what is already known writes nothing, so there is nothing to undo.
  if (!operation || !written.event.undo) {
    drop(one);
    showToast({ text, about: write.about });
    return;
  }
  one.operation = operation;
  one.toast = showToast({
    text,
    about: write.about,
    action: {
      label: t("shell.undo.undo"),
      shortcut: "z",
      run: () => void undoOperation(lukasa, queries, operation),
    },
  });
}

/** A change that is not an operation, or not one, and has an undo of its own. */
export interface OwnUndo {
  /** For `forgetUndo`. */
  id?: string;
  text: string;
  about?: string;
  /** Takes the change back and says so, or why not. */
  undo: () => Promise<unknown>;
}

/** Announces a change with an undo of its own, which `Z` then undoes as the latest one. */
export function announceUndo(own: OwnUndo): void {
  const one: RecentWrite = { settled: Promise.resolve(), hasOwnUndo: true };
  recentWrites.push(one);
  announceOwn(one, own);
}

/**
 * Sends a change with an undo of its own and announces it, unless nothing was changed. `Z` refers to it from now on,
 * and waits for the answer.
 */
export function sendWithUndo(send: () => Promise<OwnUndo | undefined>): Promise<void> {
  const one: RecentWrite = { settled: Promise.resolve(), hasOwnUndo: true };
  recentWrites.push(one);
  const work = async () => {
    try {
      const own = await send();
      if (own) announceOwn(one, own);
      else drop(one);
    } catch (error) {
      drop(one);
      throw error;
    }
  };
  const running = work();
  one.settled = running.catch(() => undefined);
  return running;
}

function announceOwn(one: RecentWrite, { id, text, about, undo }: OwnUndo): void {
  one.operation = id;
  one.undo = undo;
  one.toast = showToast({
    text,
    about,
    action: { label: t("shell.undo.undo"), shortcut: "z", run: () => void undoRecent(one) },
  });
}

/** Forgets a change that was undone elsewhere on the page. */
export function forgetUndo(id: string): void {
  const one = recentWrites.find(({ operation }) => operation === id);
  drop(one);
  if (one?.toast !== undefined) dropToast(one.toast);
}

/** Undoes a change that has an undo of its own. */
async function undoRecent(one: RecentWrite): Promise<void> {
  drop(one);
  if (one.toast !== undefined) dropToast(one.toast);
  await one.undo?.();
}

async function undoOperation(
  lukasa: Lukasa,
  queries: QueryClient,
  operation: string,
): Promise<void> {
  const own = recentWrites.find((one) => one.operation === operation);
  drop(own);
  if (own?.toast !== undefined) dropToast(own.toast);
  const others = own?.others ?? [];
  // Undoing thousands takes a while.
  const started =
    others.length > MIN_ANNOUNCED ? showToast({ text: t("shell.undo.undoing") }) : undefined;
  try {
    const written = await lukasa.operations.undo(operation);
    const ids = [...written.event.memory_ids];
    await concurrently(
      others,
      async (other) => {
        ids.push(...(await lukasa.operations.undo(other)).event.memory_ids);
      },
      own?.inOrder ? 1 : MAX_CONCURRENT,
    );
    showToast({
      text: t("shell.undo.undone"),
      about: others.length || !written.memory ? undefined : shownContent(written.memory),
    });
    await refreshMemories(queries, lukasa, ids);
  } catch (error) {
    showFailure(error, {
      what: t("shell.failed.undo"),
      retry: () => undoOperation(lukasa, queries, operation),
    });
  } finally {
    if (started !== undefined) dropToast(started);
  }
}

/** Whether undoing the latest write undoes this operation, which is unknown while it is pending. */
export function isLatestWrite(operation: string | undefined): boolean {
  const latest = recentWrites.at(-1);
  if (!latest) return true;
  const isKnown = operation !== undefined && latest.operation !== undefined;
  return !latest.hasOwnUndo && (!isKnown || latest.operation === operation);
}

/** Undoes the latest write; bound to `Z`. */
export function useUndoLatest(): () => Promise<void> {
  const lukasa = useLukasa();
  const queries = useQueryClient();
  return useCallback(
    async function undoLatest(): Promise<void> {
      // The latest write may still be pending; Z refers to it.
      await recentWrites.at(-1)?.settled;
      const own = recentWrites.findLast((one) => one.operation !== undefined || one.undo);
      if (own?.undo) return undoRecent(own);
      if (own?.operation !== undefined) return undoOperation(lukasa, queries, own.operation);
      try {
        const page = await lukasa.operations.list({ limit: 20 }).page();
        const latest = page.data.find(
          (one) => !one.undone_by && !one.undoes && !FINAL.has(one.verb),
        );
        if (latest) return await undoOperation(lukasa, queries, latest.id);
        showToast({ text: t("shell.undo.nothing") });
      } catch (error) {
        showFailure(error, { what: t("shell.failed.undo"), retry: undoLatest });
      }
    },
    [lukasa, queries],
  );
}
