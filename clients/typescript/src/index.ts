/**
 * TypeScript client of Lukasa: a thin layer over the API, with the types of `openapi.json`.
 *
 * @packageDocumentation
 */
export { LukasaError } from "./error.ts";
export { type EventOptions, eventStream, type LiveEvent, type Message } from "./events.ts";
export { Lukasa } from "./lukasa.ts";
export type { Retrieve } from "./memories.ts";
export type * from "./openapi.ts";
export { type Page, Pages } from "./pages.ts";
export { etag, type Settings } from "./transport.ts";
export type { Answer, Input, Method, Operation, Options, PathOf, Query } from "./types.ts";
