/** Sample data: a nurse who moves to Lisbon, with two chats that the server learns from. */
import type { Lukasa } from "lukasa-client";

export interface Life {
  /** The turn number of the answer that used memories, in the chat "dinner". */
  answer: number;
  fish: string;
}

/** Makes the server learn from a chat, and waits until it has. */
export async function learn(lukasa: Lukasa, session: string): Promise<void> {
  await lukasa.sessions.learn(session);
  for (let tries = 0; tries < 80; tries++) {
    const [pass] = await lukasa.learning.passes({ session_id: session });
    if (pass?.applied_at) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`nothing was learned from ${session}`);
}

export async function live(lukasa: Lukasa): Promise<Life> {
  const fish = await eat(lukasa);
  await tax(lukasa);
  await weekend(lukasa);
  return { answer: await dinner(lukasa), fish };
}

/** Saves a food preference and a food rule; returns the id of the preference. */
export async function eat(lukasa: Lukasa): Promise<string> {
  const fish = await lukasa.memories.save({
    content: "User eats fish twice a week",
    kind: "preference",
  });
  await lukasa.memories.save({
    content: "Never suggest dishes with peanuts",
    force: "hard",
    domain: "food",
    key: "diet.peanuts",
    value: "never",
  });
  return fish.memory?.id ?? "";
}

export async function tax(lukasa: Lukasa): Promise<void> {
  await lukasa.sessions.append("tax", [
    {
      role: "user",
      content:
        "Hi! Quick question about paperwork. Since March we moved into a flat in Lisbon, and I work nights as a nurse at a clinic there. Where do I file?",
      at: "2026-03-12T19:04:00Z",
    },
    {
      role: "assistant",
      content:
        "Probably yes: once you live there for more than 183 days of the year, Portugal counts as your tax residence. For the months before the move you still file at home.",
      at: "2026-03-12T19:05:00Z",
    },
    {
      role: "user",
      content:
        "Good to know. By the way, I am vegetarian now, so no more fish recipes please.\nAnd I was diagnosed with type 2 diabetes last week.",
      at: "2026-03-12T19:09:00Z",
    },
  ]);
  await lukasa.sessions.edit("tax", { title: "Tax question" });
  await learn(lukasa, "tax");
}

export async function weekend(lukasa: Lukasa): Promise<void> {
  await lukasa.sessions.append("weekend", [
    {
      role: "user",
      content:
        "Can you plan my weekend? I fly to Porto every other Friday, and my sister Ana is getting married in May, so there is a lot to talk about.",
      at: "2026-04-02T08:30:00Z",
    },
    {
      role: "assistant",
      content: "Happily. Shall I keep Saturday morning free for the dress fitting?",
      at: "2026-04-02T08:31:00Z",
    },
    {
      role: "user",
      content: "Yes. I might take up rowing, who knows, and I like my answers short.",
      at: "2026-04-02T08:33:00Z",
    },
  ]);
  await lukasa.sessions.edit("weekend", { title: "A weekend in Porto" });
  await learn(lukasa, "weekend");
}

/** Appends an answer that cites one memory and was given more than it used; returns its turn number. */
export async function dinner(lukasa: Lukasa): Promise<number> {
  const context = await lukasa.memories.retrieve({
    query: "What should I cook on Friday before I fly to Porto?",
    session_id: "dinner",
  });
  const lives = (await lukasa.memories.list({}).all()).find((one) =>
    one.content.includes("Lisbon"),
  );
  const appended = await lukasa.sessions.append("dinner", [
    { role: "user", content: "What should I cook on Friday before I fly to Porto?" },
    {
      role: "assistant",
      content:
        "Something quick: the market in Lisbon has good chickpeas, so a warm chickpea salad, ready in twenty minutes.",
      used: lives ? [lives.id] : [],
      retrieval_id: context.retrieval_id,
    },
  ]);
  await lukasa.sessions.edit("dinner", { title: "Dinner on Friday" });
  return appended.first + 1;
}

/** Saves a memory and reports that using it turned out wrong. */
export async function refuted(lukasa: Lukasa, content: string): Promise<void> {
  const saved = await lukasa.memories.save(content);
  await lukasa.memories.reportUsage({ memory_id: saved.memory?.id ?? "", type: "contradicted" });
}
