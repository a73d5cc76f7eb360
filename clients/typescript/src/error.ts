import type { FieldError, MemoryView, Problem } from "./openapi.ts";

/**
 * What went wrong, as the server said it. Program against `code`, which is stable; show `detail`,
 * which says what to do next.
 *
 * Besides the server's codes there are three of the client's own, with status 0: `unreachable` (no
 * answer came), `timeout` (none came in time) and `unreadable` (what came is not an answer of Lukasa's).
 */
export class LukasaError extends Error {
  override readonly name = "LukasaError";
  /** The HTTP status, or 0 if there was no answer. */
  readonly status: number;
  /** The stable word to program against, such as `memory_not_found`. */
  readonly code: string;
  /** What the code means, in a few words. */
  readonly title: string;
  /** What happened, and what to do next. */
  readonly detail: string;
  /** The id under which the server's log has the request. */
  readonly requestId: string | undefined;
  /** What is wrong with each field, by JSON pointer. */
  readonly errors: FieldError[];
  /** The memories that were meant, perhaps. */
  readonly candidates: MemoryView[];
  /** The operation that is in the way. */
  readonly operationId: string | undefined;
  /** The domain that the user would have to open first. */
  readonly domain: string | undefined;

  constructor(problem: Partial<Problem> & { code: string }, requestId?: string, cause?: unknown) {
    const title = problem.title ?? problem.code;
    const detail = problem.detail ?? "";
    super(detail ? `${title}. ${detail}` : title, cause === undefined ? undefined : { cause });
    this.status = problem.status ?? 0;
    this.code = problem.code;
    this.title = title;
    this.detail = detail;
    this.requestId = requestId;
    this.errors = problem.errors ?? [];
    this.candidates = problem.candidates ?? [];
    this.operationId = problem.operation_id ?? undefined;
    this.domain = problem.domain ?? undefined;
  }
}

/** Reads the problem out of an answer, whoever gave it: a proxy in between speaks no problem+json. */
export async function problemOf(response: Response): Promise<LukasaError> {
  const requestId = response.headers.get("lukasa-request-id") ?? undefined;
  const text = await response.text().catch(() => "");
  try {
    const problem = JSON.parse(text) as Partial<Problem>;
    if (typeof problem.code === "string") {
      return new LukasaError({ ...problem, code: problem.code }, requestId);
    }
  } catch {
    // It is not JSON, and so not from Lukasa; what it says may still help.
  }
  return new LukasaError(
    {
      code: "unreadable",
      title: `The answer ${response.status} is not one of Lukasa's`,
      detail: text.slice(0, 200) || "Is the URL that of a Lukasa server?",
      status: response.status,
    },
    requestId,
  );
}
