// The official clients connect by URL alone: discovery, registration, PKCE, consent, tokens and refresh. The user is
// a scripted browser that is signed in to the console.

import assert from 'node:assert/strict';

import { Client as Newer, StreamableHTTPClientTransport as NewerHttp } from '@modelcontextprotocol/client';
import { Client as Older } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OlderHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const CALLBACK = 'http://127.0.0.1:43210/callback';
const info = { name: 'lukasa-mcp-check', version: '1.0.0' };

/** What an assistant stores, and the address that it opens in the browser. */
function memoryProvider(name) {
  const saved = {};
  return {
    saved,
    redirectUrl: CALLBACK,
    clientMetadata: { client_name: name, redirect_uris: [CALLBACK], token_endpoint_auth_method: 'none' },
    state: () => 'state of the check',
    clientInformation: () => saved.client,
    saveClientInformation: (client) => { saved.client = client; },
    tokens: () => saved.tokens,
    saveTokens: (tokens) => { saved.tokens = tokens; },
    codeVerifier: () => saved.verifier,
    saveCodeVerifier: (verifier) => { saved.verifier = verifier; },
    redirectToAuthorization: (url) => { saved.opened = url; },
    discoveryState: () => saved.discovery,
    saveDiscoveryState: (state) => { saved.discovery = state; },
  };
}

/** A browser that is signed in, as it sends requests from the server's own pages. */
export async function signIn(url, key, user) {
  const answer = await fetch(`${url}/api/sign-in`, {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ key, user }),
  });
  assert.equal(answer.status, 201, await answer.text());
  const cookie = answer.headers.get('set-cookie').split(';')[0];
  return (path, options = {}) => fetch(new URL(path, url), {
    ...options,
    redirect: 'manual',
    headers: { cookie, 'sec-fetch-site': 'same-origin', origin: url, ...options.headers },
  });
}

const unescape = (text) => text.replaceAll('&#39;', "'").replaceAll('&quot;', '"').replaceAll('&amp;', '&');

/** Follows the address that an assistant opened, and allows what the page asks. Returns the answer's parameters. */
async function allow(browser, opened) {
  const first = await (await fetch(opened, { redirect: 'manual' })).text();
  const next = unescape(/content="0;url=([^"]+)"/.exec(first)[1]);
  const page = await (await browser(next)).text();
  assert.match(page, /a program on this computer \(127\.0\.0\.1:43210\)/);
  const field = (name) => unescape(new RegExp(`name="${name}" value="([^"]*)"`).exec(page)[1]);
  const body = new URLSearchParams({ request: field('request'), token: field('token'), decision: 'allow' });
  const answer = await browser('/oauth/consent', { method: 'POST', body });
  assert.equal(answer.status, 303, await answer.text());
  const address = new URL(answer.headers.get('location'));
  assert.equal(`${address.origin}${address.pathname}`, CALLBACK);
  return address.searchParams;
}

const KINDS = {
  newer: {
    client: () => new Newer(info, { versionNegotiation: { mode: 'auto' } }),
    transport: (url, authProvider) => new NewerHttp(new URL(`${url}/mcp`), { authProvider }),
    finish: (transport, params) => transport.finishAuth(params),
  },
  older: {
    client: () => new Older(info),
    transport: (url, authProvider) => new OlderHttp(new URL(`${url}/mcp`), { authProvider }),
    finish: (transport, params) => transport.finishAuth(params.get('code')),
  },
};

/** One assistant from its first request to a refreshed token. */
export async function checkOAuth(kind, { url, browser }) {
  const { client, transport, finish } = KINDS[kind];
  const provider = memoryProvider(`The ${kind} client`);
  const first = transport(url, provider);
  await assert.rejects(client().connect(first), 'without a token it is unauthorized');
  const opened = new URL(provider.saved.opened);
  assert.equal(opened.searchParams.get('resource'), `${url}/mcp`);
  assert.equal(opened.searchParams.get('code_challenge_method'), 'S256');
  const params = await allow(browser, opened);
  assert.equal(params.get('state'), 'state of the check');
  assert.equal(params.get('iss'), url);
  await finish(first, params);

  const connected = client();
  await connected.connect(transport(url, provider));
  const saved = await connected.callTool({ name: 'save_memory', arguments: { content: `Likes the ${kind} client` } });
  assert.equal(saved.structuredContent.event.type, 'memory.saved');
  // An access token that is no longer accepted is replaced by the client itself.
  const { access_token: before, refresh_token: used } = provider.saved.tokens;
  provider.saved.tokens = { ...provider.saved.tokens, access_token: `${before}x` };
  const listed = await connected.callTool({ name: 'list_memories', arguments: {} });
  assert.match(listed.content[0].text, new RegExp(`Likes the ${kind} client`));
  assert.notEqual(provider.saved.tokens.refresh_token, used, 'the refresh token was rotated');
  await connected.close();

  // What is ended in the console is over for the assistant.
  const { data } = await (await browser('/api/sign-ins')).json();
  const connector = data.find((one) => one.kind === 'connector' && one.name === `The ${kind} client`);
  assert.ok(connector, 'the connector is listed');
  assert.equal((await browser(`/api/sign-ins/${connector.id}`, { method: 'DELETE' })).status, 200);
  await assert.rejects(client().connect(transport(url, provider)), 'a disconnected assistant is unauthorized');
  return connector.permissions.join(' ');
}
