// Every client lists the tools, calls each of them, reads the resources and gets the prompt. A failed line
// fails the whole check.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';

import { newer, older } from './clients.mjs';
import { checkConformance } from './conformance.mjs';
import { checkOAuth, signIn } from './oauth.mjs';
import { makeKey, serve, servePublic, stop } from './servers.mjs';

const run = promisify(execFile);
const lukasa = process.env.LUKASA;
const mark = randomBytes(4).toString('hex');
const tenant = `mcp-check-${mark}`;
const TOOLS = [
  'save_memory', 'update_memory', 'forget_memory', 'confirm_memory', 'link_memories',
  'list_memories', 'recall_memories', 'propose_memory', 'search', 'fetch',
];

let failed = 0;
async function check(name, work) {
  const began = performance.now();
  try {
    const note = await work();
    console.log(`ok      ${name}${note ? `: ${note}` : ''} (${Math.round(performance.now() - began)} ms)`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED  ${name}\n        ${String(error?.stack ?? error).replaceAll('\n', '\n        ')}`);
  }
}

/** Calls a tool. The clients themselves validate the result against its schema. */
async function call(client, name, args) {
  const result = await client.callTool({ name, arguments: args });
  assert.ok(!result.isError, `${name}: ${result.content?.[0]?.text}`);
  assert.ok(result.structuredContent, `${name} has structured content`);
  return { ...result.structuredContent, text: result.content[0].text };
}

/** Lists and calls everything, as an assistant would in one chat. */
async function checkEverything(client) {
  const called = new Set();
  const ask = async (name, args) => {
    called.add(name);
    return call(client, name, args);
  };
  const { tools } = await client.listTools();
  assert.deepEqual(tools.map((tool) => tool.name), TOOLS, 'every tool, always in this order');
  for (const tool of tools) {
    for (const hint of ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint']) {
      assert.equal(typeof tool.annotations?.[hint], 'boolean', `${tool.name} ${hint}`);
    }
    assert.ok(tool.outputSchema && tool.inputSchema, tool.name);
  }
  const bytes = Buffer.byteLength(JSON.stringify({ tools }));
  assert.ok(bytes < 6 * 1024, `the tools take ${bytes} bytes`);

  const tea = await ask('save_memory', { content: 'Likes green tea', category: 'style' });
  assert.equal(tea.event.type, 'memory.saved');
  assert.match(tea.event.undo.href, /^\/api\/operations\/op_\w+\/undo$/);
  const again = await ask('save_memory', { content: 'Likes green tea', category: 'style' });
  assert.equal(again.event.type, 'memory.unchanged');
  const train = await ask('save_memory', {
    content: 'Takes the night train',
    detail: 'Berth by the window',
    domain: 'travel',
  });
  const updated = await ask('update_memory', { id: tea.memory.id, content: 'Likes black tea' });
  assert.equal(updated.memory.content, 'Likes black tea');
  called.add('confirm_memory');
  const confirmed = await client.callTool({ name: 'confirm_memory', arguments: { id: 'black tea' } });
  const refusal = confirmed.content[0].text;
  assert.ok(confirmed.isError && /Only the user/.test(refusal), 'a model confirms nothing without words of the user');
  const linked = await ask('link_memories', { from_id: tea.memory.id, to_id: train.memory.id });
  assert.equal(linked.event.type, 'memory.linked');
  const listed = await ask('list_memories', {});
  assert.deepEqual(listed.memories.map((memory) => memory.content), ['Takes the night train', 'Likes black tea']);
  const recalled = await ask('recall_memories', { query: 'How do they travel by night?' });
  assert.equal(recalled.memories[0].detail, 'Berth by the window');
  const proposed = await ask('propose_memory', { content: 'May like jasmine tea' });
  assert.equal(proposed.memory.status, 'proposed');
  const found = await ask('search', { query: 'train' });
  assert.equal(found.results[0].id, train.memory.id);
  assert.deepEqual(JSON.parse(found.text).results, found.results, 'as text too');
  const fetched = await ask('fetch', { id: found.results[0].id });
  assert.match(fetched.text, /Berth by the window/);
  const forgotten = await ask('forget_memory', { id: train.memory.id });
  assert.equal(forgotten.event.type, 'memory.forgotten');
  assert.deepEqual([...called].sort(), [...TOOLS].sort(), 'every tool was called');

  const renamed = await client.callTool({ name: 'save_preference', arguments: { text: 'Reads at night' } });
  assert.ok(!renamed.isError, 'a tool name of another memory server is accepted');
  const missing = await client.callTool({ name: 'forget_memory', arguments: { id: 'no such thing' } });
  assert.ok(missing.isError && /list_memories/.test(missing.content[0].text), 'the error names the next step');

  const { resources } = await client.listResources();
  assert.deepEqual(resources.slice(0, 2).map((resource) => resource.uri), ['lukasa://baseline', 'lukasa://profile']);
  const block = await client.readResource({ uri: 'lukasa://baseline' });
  assert.match(block.contents[0].text, /black tea/);
  for (const { uri } of resources) await client.readResource({ uri });
  const { prompts } = await client.listPrompts();
  assert.deepEqual(prompts.map((prompt) => prompt.name), ['context', 'learn']);
  const learn = await client.getPrompt({ name: 'learn' });
  assert.match(learn.messages[0].content.text, /save_memory/);
  const context = await client.getPrompt({ name: 'context', arguments: { message: 'What do I drink?' } });
  assert.match(context.messages[0].content.text, /black tea/);
  return bytes;
}

/** A proposal and a domain that is off, answered by the user through elicitation. */
async function checkElicitation(client, questions, answer) {
  answer('accept');
  const agreed = await call(client, 'propose_memory', { content: `Reads at night ${mark}` });
  assert.equal(agreed.memory.status, 'active', 'acceptance makes it active');
  assert.match(questions.at(-1), /Remember this\? Reads at night/);
  answer('decline');
  const declined = await call(client, 'propose_memory', { content: `Sings ${mark}` });
  assert.equal(declined.event.type, 'memory.rejected');
  answer('cancel');
  const left = await call(client, 'propose_memory', { content: `Dreams ${mark}` });
  assert.equal(left.memory.status, 'proposed', 'it stays a proposal');
  answer('decline');
  const health = { content: `Has asthma ${mark}`, domain: 'health' };
  const shut = await client.callTool({ name: 'save_memory', arguments: health });
  assert.ok(shut.isError && shut.structuredContent.error.code === 'opt_in_needed');
  assert.match(questions.at(-1), /^Remember health information\?/);
  answer('accept');
  const saved = await call(client, 'save_memory', health);
  assert.equal(saved.memory.domain, 'health');
  return `${questions.length} questions`;
}

const keys = await serve('keys');
const local = await serve('off');
const key = makeKey(tenant, ['read', 'write', 'propose']);
const reader = makeKey(tenant, ['read']);
let bytes = 0;

for (const [what, connect] of [['newer', newer], ['older', older]]) {
  for (const version of connect.versions) {
    for (const transport of ['http', 'stdio']) {
      const user = `${what}-${version}-${transport}-${mark}`;
      await check(`${what} client, ${version}, ${transport}: every tool`, async () => {
        const { client, spoke } = await connect({ transport, url: keys, key, user, version });
        bytes = await checkEverything(client);
        await client.close();
        return `spoke ${spoke}`;
      });
      if (version === 'auto') continue;
      await check(`${what} client, ${version}, ${transport}: elicitation`, async () => {
        const { client, questions, answer } = await connect({
          transport, url: local, user: `asked-${user}`, version, elicits: true,
        });
        const note = await checkElicitation(client, questions, answer);
        await client.close();
        return note;
      });
    }
  }
}

for (const version of ['2025-06-18', '2025-03-26']) {
  await check(`plain requests, ${version}`, async () => {
    const headers = {
      authorization: `Bearer ${key}`, 'x-lukasa-user': `plain-${version}-${mark}`,
      'content-type': 'application/json', accept: 'application/json, text/event-stream',
    };
    const post = async (body, more = {}) => {
      const answer = await fetch(`${keys}/mcp`, {
        method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify({ jsonrpc: '2.0', ...body }),
      });
      return answer.status === 202 ? null : answer.json();
    };
    const params = { protocolVersion: version, capabilities: {}, clientInfo: { name: 'plain', version: '1' } };
    const opened = await post({ id: 1, method: 'initialize', params });
    assert.equal(opened.result.protocolVersion, version);
    const versionHeader = { 'mcp-protocol-version': version };
    await post({ method: 'notifications/initialized' }, versionHeader);
    const { result } = await post({ id: 2, method: 'tools/list' }, versionHeader);
    assert.deepEqual(result.tools.map((tool) => tool.name), TOOLS);
    for (const name of TOOLS) {
      const args = { content: 'Likes tea', id: 'tea', from_id: 'tea', to_id: 'x', query: 'tea' };
      const answer = await post({ id: 3, method: 'tools/call', params: { name, arguments: args } }, versionHeader);
      assert.ok(answer.result?.content?.[0]?.text, `${name} answers`);
    }
  });
}

await check('read-only key lists and calls only reading tools', async () => {
  const user = `reader-${mark}`;
  const { client } = await newer({ transport: 'http', url: keys, key: reader, user, version: '2026-07-28' });
  const { tools } = await client.listTools();
  assert.deepEqual(tools.map((tool) => tool.name), ['list_memories', 'recall_memories', 'search', 'fetch']);
  const refused = await client.callTool({ name: 'save_memory', arguments: { content: 'No' } });
  assert.equal(refused.structuredContent.error.code, 'forbidden');
  await client.close();
});

await check('request without a key gets 401 with resource metadata', async () => {
  const answer = await fetch(`${keys}/mcp`, { method: 'POST', body: '{}' });
  assert.equal(answer.status, 401);
  const [, where] = /resource_metadata="([^"]+)"/.exec(answer.headers.get('www-authenticate'));
  const metadata = await (await fetch(where)).json();
  assert.equal(metadata.resource, `${keys}/mcp`);
});

await check('official conformance suite, server scenarios', () => checkConformance(local));

const open = await servePublic();
for (const kind of ['newer', 'older']) {
  await check(`${kind} client connects by URL with OAuth`, async () => {
    const operator = makeKey(tenant, ['read', 'write', 'propose', 'admin']);
    const browser = await signIn(open, operator, `oauth-${kind}-${mark}`);
    return checkOAuth(kind, { url: open, browser });
  });
}

await check('bridge without a server reports it', async () => {
  const line = `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })}\n`;
  const bridge = run(lukasa, ['mcp', '--no-start', '--url', 'http://127.0.0.1:1']);
  bridge.child.stdin.end(line);
  const ended = await bridge.catch((error) => error);
  assert.equal(ended.code, 1);
  assert.match(JSON.parse(ended.stdout).error.message, /lukasa serve/);
  assert.match(ended.stderr, /lukasa serve/);
});

const inspector = ['--no-warnings', new URL('node_modules/.bin/mcp-inspector', import.meta.url).pathname, '--cli'];
for (const [transport, target] of [
  ['http', [
    `${keys}/mcp`, '--transport', 'http', '--header', `Authorization: Bearer ${key}`,
    '--header', `X-Lukasa-User: inspector-${mark}`,
  ]],
  ['stdio', [
    lukasa, 'mcp', '-e', `LUKASA_URL=${keys}`, '-e', `LUKASA_KEY=${key}`,
    '-e', `LUKASA_USER=inspector-${mark}`,
  ]],
]) {
  await check(`inspector CLI, ${transport}`, async () => {
    const ask = async (...args) => JSON.parse((await run(process.execPath, [...inspector, ...target, ...args])).stdout);
    const { tools } = await ask('--method', 'tools/list');
    assert.deepEqual(tools.map((tool) => tool.name), TOOLS);
    const saved = await ask(
      '--method', 'tools/call', '--tool-name', 'save_memory', '--tool-arg', 'content=Likes inspectors',
    );
    assert.equal(saved.structuredContent.memory.content, 'Likes inspectors');
  });
}

stop();
console.log(`\ntools/list: ${bytes} bytes of at most ${6 * 1024}`);
console.log(failed ? `${failed} failed` : 'everything passed');
process.exit(failed ? 1 : 0);
