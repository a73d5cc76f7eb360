import assert from "node:assert/strict";
import { test } from "node:test";
import type { HomeView, Lukasa, MemoryView, Pages } from "lukasa-client";
import {
  firstPosition,
  forgetHome,
  readDomains,
  readFirstPage,
  readPolicy,
  readReview,
  readTimeZone,
} from "../../src/data/home.ts";

const { signal } = new AbortController();

/** A server that counts its requests, and fails the first screen's if asked to. */
function fakeServer(fails = false) {
  const asked: string[] = [];
  const answer = <T>(name: string, value: T) => {
    asked.push(name);
    return Promise.resolve(value);
  };
  const home = {
    position: "now",
    memories: { data: [{ id: "first" }], next_cursor: "more" },
    review: { data: [], domains: [] },
    domains: [{ name: "first" }],
    time_zone: null,
    policy: { version: "first" },
  } as unknown as HomeView;
  const lukasa = {
    home: () => {
      asked.push("home");
      return fails ? Promise.reject(new Error("unavailable")) : Promise.resolve({ ...home });
    },
    review: { get: () => answer("review", { data: [{ kind: "later" }], domains: [] }) },
    domains: { list: () => answer("domains", [{ name: "later" }]) },
    policy: { get: () => answer("policy", { version: "later" }) },
    memories: {
      list: () => ({ page: () => answer("rules", { data: [{ id: "zone", key: "timezone" }] }) }),
    },
  } as unknown as Lukasa;
  const list = {
    page: () => answer("memories", { data: [{ id: "later" }], next_cursor: null }),
  } as unknown as Pages<MemoryView>;
  const readAll = () =>
    Promise.all([
      readReview(lukasa, signal),
      readTimeZone(lukasa, signal),
      firstPosition(lukasa),
      readDomains(lukasa, signal),
      readFirstPage(lukasa, list),
      readPolicy(lukasa, signal),
    ]);
  return { lukasa, asked, readAll };
}

const OWN = ["domains", "memories", "policy", "review", "rules"];

test("the first screen makes one request, and later queries make their own", async () => {
  const { asked, readAll } = fakeServer();
  const [review, zone, position, domains, page, policy] = await readAll();
  assert.deepEqual(asked, ["home"]);
  assert.deepEqual(review.data, []);
  assert.equal(zone, null);
  assert.equal(position, "now");
  assert.equal(domains[0]?.name, "first");
  assert.deepEqual([page.data[0]?.id, page.next_cursor], ["first", "more"]);
  assert.equal(policy.version, "first");
  const again = await readAll();
  assert.deepEqual(asked.slice(1).sort(), OWN);
  assert.equal(again[1]?.id, "zone");
  assert.equal(again[3][0]?.name, "later");
});

test("a query after the first change does not take the first answer", async () => {
  const { lukasa, asked } = fakeServer();
  await readReview(lukasa, signal);
  forgetHome(lukasa);
  assert.equal((await readDomains(lukasa, signal))[0]?.name, "later");
  assert.deepEqual(asked, ["home", "domains"]);
});

test("without an answer for the first screen each query makes its own request", async () => {
  const { asked, readAll } = fakeServer(true);
  const [, , position, domains] = await readAll();
  assert.equal(position, undefined);
  assert.equal(domains[0]?.name, "later");
  assert.deepEqual(asked.sort(), ["home", ...OWN].sort());
});
