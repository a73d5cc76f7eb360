/**
 * Memory for the AI SDK, in version 6 and 7: `withLukasa` gives a model memory without its knowing,
 * `lukasaTools` lets it ask and write by itself. They work together or alone.
 *
 * @packageDocumentation
 */
export {
  type LukasaOptions,
  lukasaMiddleware,
  type Mode,
  type Told,
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
