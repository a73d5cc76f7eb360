/** One page of a list, as the server gives it. */
export interface Page<T> {
  data: T[];
  /** The cursor of the next page; null after the last. */
  next_cursor?: string | null;
}

/**
 * A paged list. Iterating over it reads pages as needed:
 *
 * ```ts
 * for await (const memory of lukasa.memories.list()) console.log(memory.content);
 * ```
 *
 * All pages show the list as it was when the first one was read, even if something is written in between.
 */
export class Pages<T> implements AsyncIterable<T> {
  readonly #read: (cursor: string | undefined) => Promise<Page<T>>;

  constructor(read: (cursor: string | undefined) => Promise<Page<T>>) {
    this.#read = read;
  }

  /** One page: the first, or the one of a `next_cursor`. */
  page(cursor?: string): Promise<Page<T>> {
    return this.#read(cursor);
  }

  /** Iterates over the pages. */
  async *pages(): AsyncGenerator<Page<T>, void, undefined> {
    let cursor: string | undefined;
    do {
      const page = await this.#read(cursor);
      yield page;
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
  }

  /** All items in one array. */
  async all(): Promise<T[]> {
    const all: T[] = [];
    for await (const page of this.pages()) all.push(...page.data);
    return all;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for await (const page of this.pages()) yield* page.data;
  }
}
