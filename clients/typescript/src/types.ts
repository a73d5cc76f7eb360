import type { MemoryView, paths } from "./openapi.ts";

/** What any call can be told. It is always the last argument. */
export interface Options {
  /** Ends the call, and any wait between tries. */
  signal?: AbortSignal;
  /** How long one try may take, in milliseconds. */
  timeout?: number;
  /** How often to try again. */
  retries?: number;
  /** Whose memory it is about, if not the client's own user. */
  user?: string;
  /** The key that makes a write happen once; one is drawn for each call if absent. */
  idempotencyKey?: string;
  /** Only if the memory is still this one: the memory as it was read, or its ETag. */
  ifMatch?: MemoryView | string;
  /** Further headers. */
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

// A description can say that a body is text or bytes, but not which of JavaScript's shapes it has.
type Sendable<C> = C extends { "application/json": infer T } ? T : string | Blob | Uint8Array;

type BodyPart<O> = O extends { requestBody: { content: infer C } }
  ? { body: Sendable<C>; contentType?: string }
  : O extends { requestBody?: { content: infer C } }
    ? { body?: Sendable<C>; contentType?: string }
    : unknown;

/** What an operation takes: its path's names, its query, its body. */
export type Input<O> = PathPart<O> & QueryPart<O> & BodyPart<O>;

type Success<O> = O extends { responses: infer R } ? R[keyof R & (200 | 201 | 202 | 204)] : never;

type Content<S> = S extends { content: { "application/json": infer T } }
  ? T
  : S extends { content: { "application/zip": unknown } }
    ? Blob
    : undefined;

/** What an operation answers with. */
export type Answer<O> = Content<Success<O>>;

/** The query of an operation. */
export type Query<M extends Method, P extends keyof paths> =
  Operation<M, P> extends { parameters: { query?: infer T } } ? NonNullable<T> : never;
