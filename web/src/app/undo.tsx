/**
 * The undo, of which there is one. Every write goes through `useAct`: it is shown at once, sent, and said
 * in a message with Undo; `Z` takes back the latest of this page's writes, and when those are used up
 * the latest that the server knows of.
 */

import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { type Lukasa, LukasaError, type Written } from "lukasa-client";
import { useCallback } from "react";
import { refreshMemories } from "../data/store.ts";
import { t } from "../i18n/index.ts";
import { dropToast, showToast } from "../ui/toast.tsx";
import { sentenceOf } from "./problems.tsx";
import { useLukasa } from "./sign-in.tsx";

export interface Act {
  /** What was done, in a word or two: "Forgotten"; or in words that depend on how far it went. */
  say: string | ((written: Written) => string);
  /** The words it was done to. */
  about?: string;
  /** Shows it before the server has answered; gives back what takes that away again. */
  show?: () => () => void;
  run: () => Promise<Written>;
  /** The same with the user's answer that something about a closed domain is kept without a domain. */
  runWithoutDomain?: () => Promise<Written>;
  after?: (written: Written) => void;
}

/** The same done to several memories at once: one message, and one undo for all of it. */
export interface ActOnAll extends Omit<Act, "run" | "runWithoutDomain" | "after"> {
  runs: readonly (() => Promise<Written>)[];
  after?: (written: Written) => void;
}

interface Done {
  /** When the server has answered. */
  settled: Promise<unknown>;
  operation?: string;
  /** What was done together with it, and is taken back together with it. */
  others?: string[];
  toast?: number;
}

/** This page's writes that can still be taken back, the latest last; also those still on their way. */
const done: Done[] = [];
/** What cannot be undone, and what is an undo already. */
const FINAL = new Set(["erase", "purge", "undo", "erase_user"]);

/** Runs a write; gives what the server answered, or nothing if it refused (which was then said). */
export function useAct(): (act: Act) => Promise<Written | undefined> {
  const lukasa = useLukasa();
  const queries = useQueryClient();
  return useCallback(
    async function perform(act: Act): Promise<Written | undefined> {
      const hide = act.show?.();
      const running = act.run();
      const one: Done = { settled: running.catch(() => undefined) };
      done.push(one);
      try {
        const written = await running;
        act.after?.(written);
        sayDone(lukasa, queries, act, written, one);
        return written;
      } catch (error) {
        drop(one);
        hide?.();
        if (!askAboutDomain(lukasa, queries, act, error, perform))
          showToast({ text: sentenceOf(error), tone: "bad" });
        return undefined;
      }
    },
    [lukasa, queries],
  );
}

/**
 * Asks what to do with something about a domain that the user has not opened: open it, keep this one
 * without a domain, or nothing. Whether there was anything to ask.
 */
function askAboutDomain(
  lukasa: Lukasa,
  queries: QueryClient,
  act: Act,
  error: unknown,
  perform: (act: Act) => Promise<Written | undefined>,
): boolean {
  const domain =
    error instanceof LukasaError && error.code === "opt_in_needed" ? error.domain : undefined;
  if (!domain) return false;
  const { runWithoutDomain } = act;
  const open = async () => {
    try {
      await lukasa.domains.open(domain);
      await queries.invalidateQueries({ queryKey: ["domains"] });
      await perform(act);
    } catch (refused) {
      showToast({ text: sentenceOf(refused), tone: "bad" });
    }
  };
  showToast({
    text: t("shell.closedDomain.text", { domain }),
    about: act.about,
    action: { label: t("shell.closedDomain.open", { domain }), run: () => void open() },
    other: runWithoutDomain && {
      label: t("shell.closedDomain.keep"),
      run: () => void perform({ ...act, run: runWithoutDomain }),
    },
  });
  return true;
}

/** How many of them are on their way at a time. */
const AT_ONCE = 6;

/** Runs the same write on several memories. What the server refuses is said once and stays as it was. */
export function useActOnAll(): (act: ActOnAll) => Promise<void> {
  const lukasa = useLukasa();
  const queries = useQueryClient();
  return useCallback(
    async (act: ActOnAll) => {
      const hide = act.show?.();
      const written: Written[] = [];
      let refused: unknown;
      const waiting = [...act.runs];
      const work = async () => {
        for (let run = waiting.shift(); run; run = waiting.shift()) {
          try {
            written.push(await run());
          } catch (error) {
            refused = error;
          }
        }
      };
      const running = Promise.all(Array.from({ length: AT_ONCE }, work));
      const one: Done = { settled: running };
      done.push(one);
      await running;
      // What was not done goes back to how it was; what was done is then put in its place again.
      if (refused !== undefined) hide?.();
      for (const each of written) act.after?.(each);
      const first = written.find((each) => each.event.undo);
      if (first) {
        one.others = written.flatMap((each) =>
          each !== first && each.event.undo && each.event.operation_id
            ? [each.event.operation_id]
            : [],
        );
        sayDone(lukasa, queries, { ...act, run: () => Promise.resolve(first) }, first, one);
      } else drop(one);
      if (refused !== undefined) showToast({ text: sentenceOf(refused), tone: "bad" });
    },
    [lukasa, queries],
  );
}

function drop(one: Done | undefined): void {
  const at = one ? done.indexOf(one) : -1;
  if (at >= 0) done.splice(at, 1);
}

function sayDone(
  lukasa: Lukasa,
  queries: QueryClient,
  act: Act,
  written: Written,
  one: Done,
): void {
  const operation = written.event.operation_id;
  const text = typeof act.say === "string" ? act.say : act.say(written);
  // Saying what is known already writes nothing, and there is nothing to take back.
  if (!operation || !written.event.undo) {
    drop(one);
    showToast({ text, about: act.about });
    return;
  }
  one.operation = operation;
  one.toast = showToast({
    text,
    about: act.about,
    action: {
      label: t("shell.undo.undo"),
      shortcut: "z",
      run: () => void takeBack(lukasa, queries, operation),
    },
  });
}

async function takeBack(lukasa: Lukasa, queries: QueryClient, operation: string): Promise<void> {
  const own = done.find((one) => one.operation === operation);
  drop(own);
  if (own?.toast !== undefined) dropToast(own.toast);
  try {
    const written = await lukasa.operations.undo(operation);
    const ids = [...written.event.memory_ids];
    for (const other of own?.others ?? []) {
      ids.push(...(await lukasa.operations.undo(other)).event.memory_ids);
    }
    showToast({
      text: t("shell.undo.undone"),
      about: own?.others?.length ? undefined : written.memory?.content,
    });
    await refreshMemories(queries, lukasa, ids);
  } catch (error) {
    showToast({ text: sentenceOf(error), tone: "bad" });
  }
}

/** Takes back the latest write; what `Z` does. */
export function useUndoLatest(): () => Promise<void> {
  const lukasa = useLukasa();
  const queries = useQueryClient();
  return useCallback(async () => {
    // What was shown a moment ago may still be on its way; whoever presses Z means that.
    await done.at(-1)?.settled;
    const own = done.findLast((one) => one.operation !== undefined)?.operation;
    if (own !== undefined) return takeBack(lukasa, queries, own);
    try {
      const page = await lukasa.operations.list({ limit: 20 }).page();
      const latest = page.data.find((one) => !one.undone_by && !one.undoes && !FINAL.has(one.verb));
      if (latest) return await takeBack(lukasa, queries, latest.id);
      showToast({ text: t("shell.undo.nothing") });
    } catch (error) {
      showToast({
        text: error instanceof LukasaError ? error.title : t("shell.problem.title"),
        tone: "bad",
      });
    }
  }, [lukasa, queries]);
}
