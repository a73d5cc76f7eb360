/**
 * Memory for the AI SDK, in version 6 and 7: `withQuipu` gives a model memory without its knowing,
 * `quipuTools` lets it ask and write by itself. They work together or alone.
 *
 * @packageDocumentation
 */
export {
  type Mode,
  type QuipuOptions,
  quipuMiddleware,
  type Told,
  withQuipu,
} from "./middleware.ts";
export {
  type MemoryList,
  type MemoryWrite,
  memoryEvents,
  type QuipuToolOptions,
  type QuipuTools,
  quipuTools,
} from "./tools.ts";
