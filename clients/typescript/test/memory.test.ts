// The whole face against the real server.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Quipu, QuipuError, type Written } from "@quipu/client";
import { eventually, real, somebody } from "./servers.ts";

const idOf = (written: Written) => written.memory?.id ?? assert.fail("there is no memory");
const failsWith = (code: string) => (error: unknown) =>
  error instanceof QuipuError && error.code === code;

/** A person's own door: what only a human may do takes their token. */
function person(user: string): Quipu {
  const admin = real(user);
  const key = async () => (await admin.keys.mintToken({ user })).secret;
  return new Quipu({ key });
}

test("saved, changed, corrected, undone", async () => {
  const quipu = real(somebody());
  const saved = await quipu.memories.save({ content: "Retires at 50", tags: ["goal"] });
  assert.equal(saved.event.type, "memory.saved");
  const id = idOf(saved);
  const changed = await quipu.memories.update(id, "Retires at 55");
  assert.equal((await quipu.memories.get(id)).content, "Retires at 55");
  assert.equal((await quipu.memories.history(id)).length > 1, true);

  const undone = await quipu.operations.undo(changed);
  assert.equal(undone.memory?.content, "Retires at 50");
  assert.equal((await quipu.memories.get(id)).content, "Retires at 50");
  await assert.rejects(quipu.operations.undo(changed.event), failsWith("already_undone"));

  const operations = await quipu.operations.list({ memory_id: id }).all();
  assert.deepEqual(
    operations.map((operation) => operation.verb),
    ["undo", "change", "save"],
  );
  const last = operations[0]?.id ?? "";
  assert.equal((await quipu.operations.get(last)).undoes, changed.event.operation_id);
});

test("pages follow each other, though somebody writes in between", async () => {
  const quipu = real(somebody());
  const said = Array.from({ length: 23 }, (_, n) => `Fact number ${n}`);
  for (const content of said) await quipu.memories.save(content);
  const seen: string[] = [];
  const list = quipu.memories.list({ limit: 5 });
  for await (const memory of list) {
    if (seen.length === 7) await quipu.memories.save("Said in between");
    seen.push(memory.content);
  }
  assert.deepEqual(seen, said.toReversed());
  const sizes: number[] = [];
  for await (const page of quipu.memories.list({ limit: 10 }).pages()) sizes.push(page.data.length);
  assert.deepEqual(sizes, [10, 10, 4]);
  const first = await list.page();
  const second = await list.page(first.next_cursor ?? "");
  assert.equal(first.data.length + second.data.length, 10);
  assert.equal((await quipu.memories.list({ limit: 7 }).all()).length, 24);
});

test("who was quicker is told from the ETag", async () => {
  const quipu = real(somebody());
  const id = idOf(await quipu.memories.save("Drinks tea"));
  const read = await quipu.memories.get(id);
  await quipu.memories.update(id, "Drinks coffee", { ifMatch: read });
  const late = quipu.memories.update(id, "Drinks water", { ifMatch: read });
  await assert.rejects(late, failsWith("version_mismatch"));
  assert.equal((await quipu.memories.get(id)).content, "Drinks coffee");
});

test("errors say what to do", async () => {
  const quipu = real(somebody());
  await quipu.memories.save("Likes tea in the morning");
  await quipu.memories.save("Likes tea in the evening");
  const error = await quipu.memories.forget("Likes tea").catch((error: unknown) => error);
  assert.ok(error instanceof QuipuError);
  assert.equal(error.code, "ambiguous_target");
  assert.equal(error.status, 409);
  assert.equal(error.candidates.length, 2);
  assert.match(error.requestId ?? "", /./);
  assert.match(error.message, /candidates/);
  await assert.rejects(quipu.memories.get("mem_01hx3v9d0kf7rtm4q5wz8yb2ca"), {
    code: "memory_not_found",
  });
  const wrong = new Quipu({ key: "qp_live_wrong", user: "alice" });
  await assert.rejects(wrong.state(), { code: "unauthenticated" });
  const invalid = await quipu.memories.save({ content: "x", importance: 7 }).catch((e) => e);
  assert.equal(invalid.code, "invalid_request");
  assert.ok(invalid.errors.length > 0);
});

test("another person sees nothing", async () => {
  const alice = real(`alice-${somebody()} é李`);
  const bob = alice.for(somebody());
  const id = idOf(await alice.memories.save("Has a secret"));
  await bob.memories.save("Has a dog");
  await assert.rejects(bob.memories.get(id), failsWith("memory_not_found"));
  assert.equal((await bob.memories.list().all()).length, 1);
  assert.equal((await alice.memories.list().all()).length, 1);
});

test("a proposal is answered by its person alone", async () => {
  const user = somebody();
  const [quipu, human] = [real(user), person(user)];
  const proposed = await quipu.memories.propose("Allergic to peanuts");
  const id = idOf(proposed);
  const [waiting] = await quipu.memories.proposals().all();
  assert.equal(waiting?.id, id);
  await assert.rejects(
    quipu.memories.confirm(id, { sha256: waiting?.sha256 }),
    failsWith("human_needed"),
  );
  const items = await human.review.list();
  const item = items.find(({ memory }) => memory.id === id) ?? assert.fail("it is not in review");
  await human.review.answer(item.yes);
  assert.equal((await quipu.memories.get(id)).status, "active");
});

test("what is said is found, and given as a context", async () => {
  const quipu = real(somebody());
  await quipu.memories.save({ content: "Prefers window seats", domain: "travel" });
  await quipu.memories.save({ content: "Flies with a cat", domain: "travel" });
  const found = await quipu.memories.search("window seats");
  assert.equal(found.memories[0]?.memory.content, "Prefers window seats");
  assert.deepEqual(found.memories[0]?.why.matched, ["window", "seats"]);
  const ask = { query: "Book a flight to Porto", session_id: "chat-1", budget: 700 };
  const context = await quipu.memories.retrieve(ask);
  assert.match(context.context, /window seats/);
  assert.equal((await quipu.memories.retrieve(ask)).baseline.content, context.baseline.content);
  // It is noted behind the answer, so it may be there a moment later.
  const trace = await eventually(() => quipu.retrieval(context.retrieval_id));
  assert.equal(trace.id, context.retrieval_id);
  assert.ok((await quipu.domains.detect("Book a flight to Porto")).data);
});

test("everything comes out, and comes in again", async () => {
  const [from, to] = [real(somebody()), real(somebody())];
  await from.memories.save("Plays the cello");
  const archive = await from.export();
  assert.equal(archive.type, "application/zip");
  const taken = await to.imports.take(archive, { source: "a-test" });
  assert.ok(taken.import_id);
  assert.deepEqual(
    (await to.memories.list().all()).map((memory) => memory.content),
    ["Plays the cello"],
  );
  await to.imports.undo(taken.import_id);
  assert.equal((await to.memories.list().all()).length, 0);
});

test("a session from its first word to its end", async () => {
  const quipu = real(somebody());
  const appended = await quipu.sessions.append("a chat/1", { role: "user", content: "Hello" });
  assert.equal(appended.first, 1);
  assert.equal((await quipu.sessions.get("a chat/1")).turns, 1);
  assert.equal((await quipu.sessions.close("a chat/1")).session.state, "idle");
  await quipu.sessions.beacon({ session_id: "a chat/1" });
  assert.equal((await quipu.sessions.list().all()).length, 1);
  assert.equal((await quipu.sessions.search("Hello")).data.length, 1);
});
