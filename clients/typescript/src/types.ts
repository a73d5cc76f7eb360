import type { MemoryView, paths } from "./openapi.ts";

/** Options of any call, always its last argument. */
export interface Options {
  /** Aborts the call, and any wait between attempts. */
  signal?: AbortSignal;
  /** Timeout of one attempt, in milliseconds. */
  timeout?: number;
  /** Number of retries. */
  retries?: number;
  /** The user, if not the client's own. */
  user?: string;
  /** The project that the call is about, if not the client's own; empty for no project. */
  project?: string;
  /** The space to act in as a member, if not the client's own. Only operations on memories have spaces. */
  space?: string;
  /** The idempotency key, so that a write happens once; random for each call if absent. */
  idempotencyKey?: string;
  /** Write only if the memory is unchanged: the memory as it was read, or its ETag. */
  ifMatch?: MemoryView | string;
  /** Additional headers. */
  headers?: Record<string, string>;
}

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** The paths that take a method. */
export type PathOf<M extends Method> = {
  [P in keyof paths]: Lowercase<M> extends keyof paths[P] ? P : never;
}[keyof paths];

export type Operation<M extends Method, P extends keyof paths> = paths[P][Lowercase<M> &
  keyof paths[P]];

type PathPart<O> = O extends { parameters: { path: infer T } } ? { path: T } : unknown;

type QueryPart<O> = O extends { parameters: { query: infer T } }
  ? { query: T }
  : O extends { parameters: { query?: infer T } }
    ? { query?: T }
    : unknown;

// OpenAPI can describe a body as text or bytes, but not its JavaScript type.
type Sendable<C> = C extends { "application/json": infer T } ? T : string | Blob | Uint8Array;

type BodyPart<O> = O extends { requestBody: { content: infer C } }
  ? { body: Sendable<C>; contentType?: string }
  : O extends { requestBody?: { content: infer C } }
    ? { body?: Sendable<C>; contentType?: string }
    : unknown;

/** The input of an operation: path parameters, query and body. */
export type Input<O> = PathPart<O> & QueryPart<O> & BodyPart<O>;

type Success<O> = O extends { responses: infer R } ? R[keyof R & (200 | 201 | 202 | 204)] : never;

type Content<S> = S extends { content: { "application/json": infer T } }
  ? T
  : S extends { content: { "application/zip": unknown } }
    ? Blob
    : undefined;

/** The response body of an operation. */
export type Answer<O> = Content<Success<O>>;

/** The query parameters of an operation. */
export type Query<M extends Method, P extends keyof paths> =
  Operation<M, P> extends { parameters: { query?: infer T } } ? NonNullable<T> : never;
