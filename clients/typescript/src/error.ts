import type { FieldError, MemoryView, Problem } from "./openapi.ts";

/**
 * An error of the server or the client. Program against `code`, which is stable; show `detail`, which
 * names the next step.
 *
 * Besides the server's codes the client has three more, with status 0: `unreachable` (no
 * response), `timeout` (no response in time) and `unreadable` (the response is not from Lukasa).
 */
export class LukasaError extends Error {
  override readonly name = "LukasaError";
  /** The HTTP status, or 0 if there was no response. */
  readonly status: number;
  /** The stable error code, such as `memory_not_found`. */
  readonly code: string;
  /** What the code means, in a few words. */
  readonly title: string;
  /** What happened, and what to do next. */
  readonly detail: string;
  /** The id of the request in the server's log. */
  readonly requestId: string | undefined;
  /** Errors of single fields, by JSON pointer. */
  readonly errors: FieldError[];
  /** Memories that may have been meant. */
  readonly candidates: MemoryView[];
  /** The conflicting operation. */
  readonly operationId: string | undefined;
  /** The domain that the user has to opt in to first. */
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

/** Converts an error response to a `LukasaError`, also one of a proxy that is not problem+json. */
export async function problemOf(response: Response): Promise<LukasaError> {
  const requestId = response.headers.get("lukasa-request-id") ?? undefined;
  const text = await response.text().catch(() => "");
  try {
    const problem = JSON.parse(text) as Partial<Problem>;
    if (typeof problem.code === "string") {
      return new LukasaError({ ...problem, code: problem.code }, requestId);
    }
  } catch {
    // Not JSON, so not from Lukasa; its text is used as the detail.
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
