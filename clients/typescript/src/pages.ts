/** One page of a list, as the server gives it. */
export interface Page<T> {
  data: T[];
  /** What to ask the next page with; null after the last. */
  next_cursor?: string | null;
}

/**
 * A list that comes in pages. Loop over it and the pages are read as they are needed:
 *
 * ```ts
 * for await (const memory of lukasa.memories.list()) console.log(memory.content);
 * ```
 *
 * All pages are of one list as it was when the first was read, whatever is written in between.
 */
export class Pages<T> implements AsyncIterable<T> {
  readonly #read: (cursor: string | undefined) => Promise<Page<T>>;

  constructor(read: (cursor: string | undefined) => Promise<Page<T>>) {
    this.#read = read;
  }

  /** One page: the first, or the one that a `next_cursor` leads to. */
  page(cursor?: string): Promise<Page<T>> {
    return this.#read(cursor);
  }

  /** Page after page. */
  async *pages(): AsyncGenerator<Page<T>, void, undefined> {
    let cursor: string | undefined;
    do {
      const page = await this.#read(cursor);
      yield page;
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
  }

  /** Everything, in one array. */
  async all(): Promise<T[]> {
    const all: T[] = [];
    for await (const page of this.pages()) all.push(...page.data);
    return all;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for await (const page of this.pages()) yield* page.data;
  }
}
