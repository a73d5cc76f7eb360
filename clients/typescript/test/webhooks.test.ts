// Webhooks from creation to removal, with a receiver that checks the signatures.
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { test } from "node:test";
import { LukasaError } from "lukasa-client";
import { eventually, real, scripted, uniqueUser } from "./servers.ts";

interface Delivery {
  headers: IncomingHttpHeaders;
  body: string;
}

/** Whether the signature is valid by Standard Webhooks. */
function isSigned({ headers, body }: Delivery, secret: string): boolean {
  const key = Buffer.from(secret.replace("whsec_", ""), "base64");
  const text = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`;
  const signature = `v1,${createHmac("sha256", key).update(text).digest("base64")}`;
  return String(headers["webhook-signature"]).split(" ").includes(signature);
}

test("webhook is tested, delivered to, listed, replayed and removed", async () => {
  const received: Delivery[] = [];
  const receiver = await scripted((request, response) => {
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      received.push({ headers: request.headers, body });
      response.writeHead(204).end();
    });
  });
  const user = uniqueUser();
  const lukasa = real(user);
  const { id, secret } = await lukasa.webhooks.create({
    url: `${receiver}/lukasa`,
    verbs: ["save"],
  });
  assert.match(secret, /^whsec_/);
  const listed = (await lukasa.webhooks.list()).find((one) => one.id === id);
  assert.deepEqual(listed?.verbs, ["save"]);
  assert.ok(listed && !("secret" in listed), "its secret is shown once");

  assert.deepEqual(await lukasa.webhooks.test(id), { delivered: true, status: 204, error: null });
  const saved = await lukasa.memories.save("Keeps bees on the roof");
  const operation = saved.event.operation_id ?? assert.fail("nothing was written");
  const deliveriesOf = () => received.filter(({ headers }) => headers["webhook-id"] === operation);
  const one = await eventually(async () => deliveriesOf()[0] ?? assert.fail("not delivered yet"));
  assert.ok(isSigned(one, secret));
  assert.ok(!isSigned({ ...one, body: `${one.body} ` }, secret), "a changed body is detected");
  assert.ok(!one.body.includes("bees"), "ids and verbs, never text");

  const arrived = await eventually(async () => {
    const deliveries = await lukasa.webhooks.deliveries(id, { state: "delivered", limit: 10 });
    return (
      deliveries.find((delivery) => delivery.id === operation) ?? assert.fail("not recorded yet")
    );
  });
  assert.deepEqual([arrived.user, arrived.verb, arrived.status], [user, "save", 204]);
  assert.deepEqual(await lukasa.webhooks.deliveries(id, { state: "dead" }), []);
  await lukasa.webhooks.replay(id, { delivery: operation });
  await eventually(async () => assert.equal(deliveriesOf().length, 2));

  assert.equal((await lukasa.webhooks.edit(id, { enabled: false })).enabled, false);
  await lukasa.webhooks.delete(id);
  assert.ok(!(await lukasa.webhooks.list()).some((one) => one.id === id));
  await assert.rejects(
    lukasa.webhooks.test(id),
    (error: unknown) => error instanceof LukasaError && error.code === "webhook_not_found",
  );
});
