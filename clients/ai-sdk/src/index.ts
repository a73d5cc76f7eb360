/**
 * Memory for the AI SDK, versions 6 and 7: `withLukasa` adds memory to the prompts of a model, `lukasaTools`
 * gives it tools to read and write memory. Both can be combined.
 *
 * @packageDocumentation
 */
export {
  type LukasaMetadata,
  type LukasaOptions,
  lukasaMiddleware,
  type Mode,
  withLukasa,
} from "./middleware.ts";
export {
  type LukasaToolOptions,
  type LukasaTools,
  lukasaTools,
  type MemoryList,
  type MemoryWrite,
  memoryEvents,
} from "./tools.ts";
