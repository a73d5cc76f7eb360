/**
 * Memory for the AI SDK, in version 6 and 7: `withLukasa` gives a model memory without its knowing,
 * `lukasaTools` lets it ask and write by itself. They work together or alone.
 *
 * @packageDocumentation
 */
export {
  type Mode,
  type LukasaOptions,
  lukasaMiddleware,
  type Told,
  withLukasa,
} from "./middleware.ts";
export {
  type MemoryList,
  type MemoryWrite,
  memoryEvents,
  type LukasaToolOptions,
  type LukasaTools,
  lukasaTools,
} from "./tools.ts";
