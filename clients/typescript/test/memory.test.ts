// All groups of methods against the real server.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Lukasa, LukasaError, type WriteResult } from "lukasa-client";
import { eventually, real, uniqueUser } from "./servers.ts";

const idOf = (written: WriteResult) => written.memory?.id ?? assert.fail("there is no memory");
const failsWith = (code: string) => (error: unknown) =>
  error instanceof LukasaError && error.code === code;

/** A client with a token of the user, for what only a human may do. */
function asUser(user: string): Lukasa {
  const admin = real(user);
  const key = async () => (await admin.keys.mintToken({ user })).secret;
  return new Lukasa({ key });
}

test("memory is saved, changed and undone", async () => {
  const lukasa = real(uniqueUser());
  const saved = await lukasa.memories.save({ content: "Retires at 50", tags: ["goal"] });
  assert.equal(saved.event.type, "memory.saved");
  const id = idOf(saved);
  const changed = await lukasa.memories.update(id, "Retires at 55");
  assert.equal((await lukasa.memories.get(id)).content, "Retires at 55");
  assert.equal((await lukasa.memories.history(id, { limit: 1 }).all()).length > 1, true);

  const undone = await lukasa.operations.undo(changed);
  assert.equal(undone.memory?.content, "Retires at 50");
  assert.equal((await lukasa.memories.get(id)).content, "Retires at 50");
  await assert.rejects(lukasa.operations.undo(changed.event), failsWith("already_undone"));

  const operations = await lukasa.operations.list({ memory_id: id }).all();
  assert.deepEqual(
    operations.map((operation) => operation.verb),
    ["undo", "change", "save"],
  );
  const last = operations[0]?.id ?? "";
  assert.equal((await lukasa.operations.get(last)).undoes, changed.event.operation_id);
});

test("memory is rated by the user", async () => {
  const user = uniqueUser();
  const human = asUser(user);
  const id = idOf(await human.memories.save("Likes oolong tea"));
  const down = await human.memories.rate(id, "down");
  assert.match(down.message, /PATCH/);
  assert.equal((await human.memories.get(id)).rating, "down");
  await assert.rejects(real(user).memories.rate(id, "up"), failsWith("human_needed"));
  assert.equal((await human.memories.rate(id, null)).rating, null);
});

test("observations are recorded, listed and deleted by source", async () => {
  const lukasa = real(uniqueUser());
  const event = { source: "shop", kind: "order", payload: { value: "tea" } };
  const { observation_ids } = await lukasa.observations.record([event, event]);
  assert.equal((await lukasa.observations.list({ source: "shop" }).all()).length, 2);
  await lukasa.observations.delete(observation_ids[0] ?? "");
  assert.equal((await lukasa.observations.deleteSource("shop")).reached?.observations, 1);
  assert.deepEqual(await lukasa.observations.list().all(), []);
});

test("prediction is stated and its outcome reported", async () => {
  const lukasa = real(uniqueUser());
  const memory_id = idOf(await lukasa.memories.save("Prefers window seats"));
  const { id } = await lukasa.memories.predict({ memory_id, expects: "Takes a window seat" });
  assert.equal((await lukasa.memories.reportOutcome(id, { outcome: "wrong" })).outcome, "wrong");
});

test("pages stay consistent while memories are written", async () => {
  const lukasa = real(uniqueUser());
  const contents = Array.from({ length: 23 }, (_, n) => `Fact number ${n}`);
  for (const content of contents) await lukasa.memories.save(content);
  const seen: string[] = [];
  const list = lukasa.memories.list({ limit: 5 });
  for await (const memory of list) {
    if (seen.length === 7) await lukasa.memories.save("Said in between");
    seen.push(memory.content);
  }
  assert.deepEqual(seen, contents.toReversed());
  const sizes: number[] = [];
  for await (const page of lukasa.memories.list({ limit: 10 }).pages())
    sizes.push(page.data.length);
  assert.deepEqual(sizes, [10, 10, 4]);
  const first = await list.page();
  const second = await list.page(first.next_cursor ?? "");
  assert.equal(first.data.length + second.data.length, 10);
  assert.equal((await lukasa.memories.list({ limit: 7 }).all()).length, 24);
});

test("If-Match rejects a stale version", async () => {
  const lukasa = real(uniqueUser());
  const id = idOf(await lukasa.memories.save("Drinks tea"));
  const read = await lukasa.memories.get(id);
  await lukasa.memories.update(id, "Drinks coffee", { ifMatch: read });
  const late = lukasa.memories.update(id, "Drinks water", { ifMatch: read });
  await assert.rejects(late, failsWith("version_mismatch"));
  assert.equal((await lukasa.memories.get(id)).content, "Drinks coffee");
});

test("errors have codes, candidates and request ids", async () => {
  const lukasa = real(uniqueUser());
  await lukasa.memories.save("Likes tea in the morning");
  await lukasa.memories.save("Likes tea in the evening");
  const error = await lukasa.memories.forget("Likes tea").catch((error: unknown) => error);
  assert.ok(error instanceof LukasaError);
  assert.equal(error.code, "ambiguous_target");
  assert.equal(error.status, 409);
  assert.equal(error.candidates.length, 2);
  assert.match(error.requestId ?? "", /./);
  assert.match(error.message, /candidates/);
  await assert.rejects(lukasa.memories.get("mem_01hx3v9d0kf7rtm4q5wz8yb2ca"), {
    code: "memory_not_found",
  });
  const wrong = new Lukasa({ key: "lk_live_wrong", user: "alice" });
  await assert.rejects(wrong.state(), { code: "unauthenticated" });
  const invalid = await lukasa.memories.save({ content: "x", importance: 7 }).catch((e) => e);
  assert.equal(invalid.code, "invalid_request");
  assert.ok(invalid.errors.length > 0);
});

test("users are isolated from each other", async () => {
  const alice = real(`alice-${uniqueUser()} é李`);
  const bob = alice.forUser(uniqueUser());
  const id = idOf(await alice.memories.save("Has a secret"));
  await bob.memories.save("Has a dog");
  await assert.rejects(bob.memories.get(id), failsWith("memory_not_found"));
  assert.equal((await bob.memories.list().all()).length, 1);
  assert.equal((await alice.memories.list().all()).length, 1);
});

test("proposal is answered only with a token of the user", async () => {
  const user = uniqueUser();
  const [lukasa, human] = [real(user), asUser(user)];
  const proposed = await lukasa.memories.propose("Allergic to peanuts");
  const id = idOf(proposed);
  const [waiting] = await lukasa.memories.proposals().all();
  assert.equal(waiting?.id, id);
  await assert.rejects(
    lukasa.memories.confirm(id, { sha256: waiting?.sha256 }),
    failsWith("human_needed"),
  );
  const items = await human.review.list();
  const item = items.find(({ memory }) => memory.id === id) ?? assert.fail("it is not in review");
  await human.review.answer(item.yes);
  assert.equal((await lukasa.memories.get(id)).status, "active");
});

test("memories are found by search and retrieve", async () => {
  const lukasa = real(uniqueUser());
  await lukasa.memories.save({ content: "Prefers window seats", domain: "travel" });
  await lukasa.memories.save({ content: "Flies with a cat", domain: "travel" });
  const found = await lukasa.memories.recall("window seats");
  assert.equal(found.memories[0]?.memory.content, "Prefers window seats");
  assert.deepEqual(found.memories[0]?.why.matched, ["window", "seats"]);
  const ask = { query: "Book a flight to Porto", session_id: "chat-1", budget: 700 };
  const context = await lukasa.memories.retrieve(ask);
  assert.match(context.context, /window seats/);
  assert.equal((await lukasa.memories.retrieve(ask)).baseline.content, context.baseline.content);
  // The trace is written after the response, so it may be there a moment later.
  const trace = await eventually(() => lukasa.retrieval(context.retrieval_id));
  assert.equal(trace.id, context.retrieval_id);
  assert.ok((await lukasa.domains.detect("Book a flight to Porto")).data);
});

test("export and import", async () => {
  const [from, to] = [real(uniqueUser()), real(uniqueUser())];
  await from.memories.save("Plays the cello");
  const archive = await from.export();
  assert.equal(archive.type, "application/zip");
  const taken = await to.imports.create(archive, { source: "a-test" });
  assert.ok(taken.import_id);
  assert.deepEqual(
    (await to.memories.list().all()).map((memory) => memory.content),
    ["Plays the cello"],
  );
  await to.imports.undo(taken.import_id);
  assert.equal((await to.memories.list().all()).length, 0);
});

test("session is appended to, closed, listed and searched", async () => {
  const lukasa = real(uniqueUser());
  const appended = await lukasa.sessions.append("a chat/1", { role: "user", content: "Hello" });
  assert.equal(appended.first, 1);
  assert.equal((await lukasa.sessions.get("a chat/1")).turns, 1);
  assert.equal((await lukasa.sessions.close("a chat/1")).session.state, "idle");
  await lukasa.sessions.beacon({ session_id: "a chat/1" });
  assert.equal((await lukasa.sessions.list().all()).length, 1);
  assert.equal((await lukasa.sessions.search("Hello")).data.length, 1);
});
