/**
 * The queries of the first screen. The first of them reads all with one request, and each takes its part of the
 * answer once; after that, and after the first change, each sends its own request.
 */
import type {
  DomainView,
  HomeView,
  Lukasa,
  MemoryView,
  Page,
  Pages,
  PolicyView,
  ReviewView,
} from "lukasa-client";

/** The parts that are not taken yet; none if the request failed. */
const homes = new WeakMap<Lukasa, Promise<Partial<HomeView>>>();

function homeOf(lukasa: Lukasa): Promise<Partial<HomeView>> {
  const home = homes.get(lukasa) ?? lukasa.home().catch(() => ({}));
  homes.set(lukasa, home);
  return home;
}

/** What is not taken yet may be outdated: the next queries send their own requests. */
export function forgetHome(lukasa: Lukasa): void {
  homes.set(lukasa, Promise.resolve({}));
}

async function first<T>(lukasa: Lukasa, part: keyof HomeView, read: () => Promise<T>): Promise<T> {
  const home = await homeOf(lukasa);
  const taken = home[part] as T | undefined;
  delete home[part];
  return taken === undefined ? read() : taken;
}

/** The position to stream changes from, unless the first request failed. */
export async function firstPosition(lukasa: Lukasa): Promise<string | undefined> {
  return (await homeOf(lukasa)).position;
}

/** The first page of a list of all memories of every status. */
export function readFirstPage(lukasa: Lukasa, list: Pages<MemoryView>): Promise<Page<MemoryView>> {
  return first(lukasa, "memories", () => list.page());
}

export function readReview(lukasa: Lukasa, signal: AbortSignal): Promise<ReviewView> {
  return first(lukasa, "review", () => lukasa.review.get({ signal }));
}

export function readDomains(lukasa: Lukasa, signal: AbortSignal): Promise<DomainView[]> {
  return first(lukasa, "domains", () => lukasa.domains.list({ signal }));
}

export function readPolicy(lukasa: Lukasa, signal: AbortSignal): Promise<PolicyView> {
  return first(lukasa, "policy", () => lukasa.policy.get({ signal }));
}

/** The memory with the user's time zone: the hard one under this domain and key. */
export const TIME_ZONE = { domain: "personal", key: "timezone" } as const;

export function readTimeZone(lukasa: Lukasa, signal: AbortSignal): Promise<MemoryView | null> {
  return first(lukasa, "time_zone", async () => {
    const filter = { domain: TIME_ZONE.domain, force: "hard", limit: 100 };
    const page = await lukasa.memories.list(filter, { signal }).page();
    return page.data.find((one) => one.key === TIME_ZONE.key) ?? null;
  });
}
