// Users of a real provider sign in, with their roles; every hostile answer is refused. A failed line fails the check.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHmac, createPublicKey, KeyObject, randomBytes, sign as cryptoSign } from 'node:crypto';
import { base64url, exportJWK, exportSPKI } from 'jose';

import { CLIENT, hostileProvider, realProvider } from './providers.mjs';
import { assertRefused, Browser, freePort, serve, stop } from './servers.mjs';

const tenant = `oidc-check-${randomBytes(4).toString('hex')}`;
let failed = 0;
async function check(name, work) {
  try {
    await work();
    console.log(`ok      ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED  ${name}\n        ${String(error?.stack ?? error).replaceAll('\n', '\n        ')}`);
  }
}

const settings = (issuer, more) => ({
  LUKASA_OIDC_ISSUER: issuer, LUKASA_OIDC_CLIENT_ID: CLIENT.id, LUKASA_OIDC_CLIENT_SECRET: CLIENT.secret,
  LUKASA_OIDC_TENANT: tenant, LUKASA_OIDC_NAME: 'Example ID', LUKASA_OIDC_ALLOWED_VALUES: '*', ...more,
});
/** The name of a user by the subject of a provider: subjects of two issuers name two users. */
const named = (issuer, subject) => `${issuer.replace(/^https?:\/\//, '')}|${subject}`;
const roles = {
  LUKASA_OIDC_ROLE_CLAIM: 'groups', LUKASA_OIDC_ADMIN_VALUES: 'memory-admins', LUKASA_OIDC_ALLOWED_VALUES: 'staff',
};

/** Goes to the provider and back; returns the address of the answer without opening it. */
async function toCallback(browser, base, to = '/memory') {
  const from = { 'sec-fetch-site': 'same-origin' };
  const began = await browser.open(`${base}/oidc/begin?to=${encodeURIComponent(to)}`, from);
  assert.equal(began.status, 303, 'the browser is sent to the provider');
  const { address } = await browser.follow(began.headers.get('location'), `${base}/oidc/callback`);
  return address;
}

async function signIn(base, to) {
  const browser = new Browser();
  const answer = await browser.open(await toCallback(browser, base, to), { 'sec-fetch-site': 'cross-site' });
  return { browser, answer };
}

async function whoAmI(browser, base) {
  const answer = await browser.api(base, '/api/sign-in');
  assert.equal(answer.status, 200);
  return answer.json();
}

const ports = await Promise.all([1, 2, 3, 4, 5].map(freePort));
const [bySub, byEmail] = ports.slice(0, 2).map((port) => `http://127.0.0.1:${port}/oidc/callback`);
const real = await realProvider(ports[2], [bySub, byEmail]);
const hostile = await hostileProvider(ports[3]);
try {
  const { base } = await serve(ports[0], settings(real.issuer, roles));
  const mail = await serve(ports[1], settings(real.issuer, { LUKASA_OIDC_USER_CLAIM: 'email' }));
  const bad = await serve(ports[4], settings(hostile.issuer, roles));

  await check('a server asks the provider nothing before a sign-in', async () => assert.equal(real.calls.count, 0));
  await check('the sign-in page knows the provider', async () => {
    const methods = await (await fetch(`${base}/api/sign-in/methods`)).json();
    assert.deepEqual(methods, { providers: [{ name: 'Example ID', href: '/oidc/begin' }] });
  });

  let ada;
  await check('an administrator by role signs in, and the page leads to the console', async () => {
    real.calls.user = 'ada';
    const { browser, answer } = await signIn(base, '/review');
    assert.equal(answer.status, 200);
    assert.match(await answer.text(), /url=\/review"/);
    const set = answer.headers.getSetCookie().find((line) => line.startsWith('__Host-lukasa='));
    assert.match(set, /Secure; HttpOnly; SameSite=Strict/);
    const me = await whoAmI(browser, base);
    assert.deepEqual([me.user, me.human, me.admin], [named(real.issuer, 'ada'), true, true]);
    ada = browser;
  });
  let bob;
  await check('a user whose own claims name the role is no administrator', async () => {
    real.calls.user = 'bob';
    const { browser } = await signIn(base);
    const me = await whoAmI(browser, base);
    assert.deepEqual([me.user, me.admin], [named(real.issuer, 'bob'), false]);
    assert.equal((await browser.api(base, '/api/audit')).status, 403);
    bob = browser;
  });
  await check('a user without an allowed role is refused', async () => {
    real.calls.user = 'guest';
    assertRefused((await signIn(base)).answer, 'guest');
  });
  await check('a sign-in is listed, and ended by an administrator', async () => {
    const user = encodeURIComponent(named(real.issuer, 'bob'));
    const { data } = await (await ada.api(base, `/api/sign-ins?user=${user}`)).json();
    assert.deepEqual(data.map((one) => one.kind), ['sign_in']);
    const ended = await ada.api(base, `/api/sign-ins/${data[0].id}`, {
      method: 'DELETE', headers: { 'content-type': 'application/json' }, body: '{}',
    });
    assert.equal(ended.status, 200);
    assert.equal((await bob.api(base, '/api/sign-in')).status, 401);
  });
  await check('the audit log has the sign-ins and the refusal', async () => {
    const { data } = await (await ada.api(base, '/api/audit?event=sign_in')).json();
    const recorded = data.map((one) => [one.result, one.actor_kind, one.detail.split(',').includes('admin')]);
    const expected = [['refused', 'provider', false], ['done', 'provider', false], ['done', 'provider', true]];
    assert.deepEqual(recorded, expected);
    assert.equal(data[0].detail, 'not_allowed');
    const out = execFileSync(process.env.LUKASA, ['audit', 'verify', '--tenant', tenant, '--json']);
    assert.equal(JSON.parse(out).ok, true);
  });
  await check('a verified address names the user', async () => {
    real.calls.user = 'bob';
    const { browser } = await signIn(mail.base);
    assert.equal((await whoAmI(browser, mail.base)).user, 'bob@example.org');
  });
  await check("another user's address that is not verified is refused", async () => {
    real.calls.user = 'eve';
    assertRefused((await signIn(mail.base)).answer, 'eve');
  });

  await check('an answer is accepted once', async () => {
    real.calls.user = 'ada';
    const browser = new Browser();
    const address = await toCallback(browser, base);
    const cookie = browser.cookies(base);
    assert.equal((await browser.open(address)).status, 200);
    assertRefused(await fetch(address, { headers: { cookie }, redirect: 'manual' }), 'state and cookie again');
    const fresh = new Browser();
    const other = new URL(await toCallback(fresh, base));
    other.searchParams.set('code', new URL(address).searchParams.get('code'));
    assertRefused(await fresh.open(other.href), 'used code in a new request');
  });
  await check('an answer is accepted only in the browser that asked', async () => {
    const victim = new Browser();
    const address = await toCallback(new Browser(), base);
    assertRefused(await victim.open(address), 'without a cookie');
    await toCallback(victim, base);
    assertRefused(await victim.open(address), 'with the cookie of another request');
    const browser = new Browser();
    const own = await toCallback(browser, base);
    const cookie = browser.cookies(base).replace(/\.[A-Za-z0-9_-]+\./, `.${base64url.encode('/review')}.`);
    assert.notEqual(cookie, browser.cookies(base));
    assertRefused(await fetch(own, { headers: { cookie }, redirect: 'manual' }), 'changed cookie');
    assert.equal((await browser.open(own)).status, 200, 'a refused response leaves the sign-in pending');
    for (const change of [['state', 'x'], ['state', null], ['code', null], ['error', 'access_denied']]) {
      const tab = new Browser();
      const changed = new URL(await toCallback(tab, base));
      if (change[1] === null) changed.searchParams.delete(change[0]);
      else changed.searchParams.set(...change);
      assertRefused(await tab.open(changed.href), String(change));
    }
  });
  await check('another site begins no sign-in, and no other host is opened after one', async () => {
    for (const site of ['cross-site', 'same-site']) {
      const answer = await fetch(`${base}/oidc/begin`, { redirect: 'manual', headers: { 'sec-fetch-site': site } });
      assert.equal(answer.status, 403, site);
    }
    for (const to of ['https://evil.example', '//evil.example', '/\\evil.example', 'javascript:alert(1)']) {
      const page = await (await signIn(base, to)).answer.text();
      assert.match(page, /url=\/memory"/);
      assert.ok(!page.includes('evil') && !page.includes('javascript'), to);
    }
  });

  /** Signs out of the console, and returns the address of the provider that ends its session. */
  const toSignOut = async (browser) => {
    const sent = { method: 'DELETE', headers: { 'content-type': 'application/json' }, body: '{}' };
    assert.equal((await browser.api(base, '/api/sign-in', sent)).status, 204);
    assert.equal((await browser.api(base, '/api/sign-in')).status, 401);
    const evil = 'post_logout_redirect_uri=https%3A%2F%2Fevil.example&to=%2F%2Fevil.example&state=x';
    const own = { 'sec-fetch-site': 'same-origin' };
    const began = await browser.open(`${base}/oidc/sign-out?${evil}`, own);
    assert.equal(began.status, 303, 'the browser is sent to the provider');
    const address = new URL(began.headers.get('location'));
    assert.equal(`${address.origin}${address.pathname}`, `${real.issuer}/session/end`);
    const { state, ...sentOn } = Object.fromEntries(address.searchParams);
    assert.deepEqual(sentOn, { client_id: CLIENT.id, post_logout_redirect_uri: `${base}/oidc/signed-out` });
    assert.ok(state.length >= 43, 'a state of its own');
    return address;
  };
  /** Confirms the sign-out on the provider's page; returns the address that it leads back to. */
  const confirmSignOut = async (browser, address) => {
    const page = await browser.open(address.href);
    assert.equal(page.status, 200);
    const [, action, xsrf] = /action="([^"]+)".*name="xsrf" value="([^"]+)"/s.exec(await page.text());
    const body = new URLSearchParams({ xsrf, logout: 'yes' });
    const confirmed = await browser.open(action, {}, { method: 'POST', body });
    return confirmed.headers.get('location');
  };
  await check('a sign-out ends the session at the provider too, and returns here', async () => {
    real.calls.user = 'bob';
    const { browser } = await signIn(base);
    const before = real.calls.logins;
    assert.equal((await browser.open(await toCallback(browser, base))).status, 200);
    assert.equal(real.calls.logins, before, 'the session at the provider is still there');
    const back = await confirmSignOut(browser, await toSignOut(browser));
    assert.ok(back.startsWith(`${base}/oidc/signed-out?state=`), back);
    const answer = await browser.open(back, { 'sec-fetch-site': 'cross-site' });
    assert.equal(answer.status, 200);
    assert.match(await answer.text(), /signed out at the identity provider/);
    assert.equal((await browser.open(await toCallback(browser, base))).status, 200);
    assert.equal(real.calls.logins, before + 1, 'the provider asks again who it is');
  });
  await check('a sign-out leads to no other host, and ends only in the browser that began it', async () => {
    const { browser } = await signIn(base);
    const address = await toSignOut(browser);
    const elsewhere = new URL(address);
    elsewhere.searchParams.set('post_logout_redirect_uri', 'https://evil.example/');
    assert.equal((await browser.open(elsewhere.href)).status, 400, 'the provider knows our address only');
    const back = `${base}/oidc/signed-out?state=`;
    const state = address.searchParams.get('state');
    assertRefused(await new Browser().open(back + state), 'another browser');
    for (const wrong of ['', 'x', `${state}x`, `${state}&state=${state}`]) {
      assertRefused(await browser.open(back + wrong), `state ${wrong}`);
    }
    assert.equal((await browser.open(back + state)).status, 200);
    assertRefused(await browser.open(back + state), 'used again');
    for (const site of ['cross-site', 'same-site']) {
      assert.equal((await browser.open(`${base}/oidc/sign-out`, { 'sec-fetch-site': site })).status, 403, site);
    }
  });

  const { plan, claims, sign, unsigned, jwk, pair, other, now } = hostile;
  const accepted = async () => {
    const { browser, answer } = await signIn(bad.base);
    assert.equal(answer.status, 200);
    assert.equal((await whoAmI(browser, bad.base)).user, named(hostile.issuer, 'ada'));
  };
  await check('the other provider is accepted while it is honest', async () => {
    plan.token = () => sign(claims());
    await accepted();
  });
  const spki = await exportSPKI(pair.publicKey);
  const der = createPublicKey(spki).export({ type: 'spki', format: 'der' });
  const withSecret = (secret) => {
    const text = unsigned({ alg: 'HS256', kid: 'k1' }, claims()).slice(0, -1);
    return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
  };
  const embedded = { ...(await exportJWK(other.publicKey)), kid: 'k9' };
  const tokens = {
    'another issuer': () => sign(claims({ iss: 'https://evil.example' })),
    'the issuer with a slash': () => sign(claims({ iss: `${hostile.issuer}/` })),
    'no issuer': () => sign(claims({ iss: undefined })),
    'another audience': () => sign(claims({ aud: 'other' })),
    'several audiences without a party': () => sign(claims({ aud: [CLIENT.id, 'other'] })),
    'another party': () => sign(claims({ azp: 'other' })),
    'another nonce': () => sign(claims({ nonce: 'x' })),
    'no nonce': () => sign(claims({ nonce: undefined })),
    'an expired token': () => sign(claims({ iat: now() - 400, exp: now() - 120 })),
    'a token without an end': () => sign(claims({ exp: undefined })),
    'a token from the future': () => sign(claims({ iat: now() + 3600, exp: now() + 7200 })),
    'an old token that is still valid': () => sign(claims({ iat: now() - 3600, exp: now() + 3600 })),
    'no signature (none)': () => unsigned({ alg: 'none' }, claims()),
    'no signature (None)': () => unsigned({ alg: 'None', kid: 'k1' }, claims()),
    'an empty signature': () => unsigned({ alg: 'RS256', kid: 'k1' }, claims()),
    'HS256 with the public key as PEM': () => withSecret(spki),
    'HS256 with the public key as DER': () => withSecret(der),
    'HS256 with the modulus': () => withSecret(base64url.decode(jwk.n)),
    'HS256 with the client secret': () => withSecret(CLIENT.secret),
    'another key under the same id': () => sign(claims(), { key: other.privateKey }),
    'an unknown key': () => sign(claims(), { key: other.privateKey, kid: 'k2' }),
    'a key inside the token': () => sign(claims(), { key: other.privateKey, kid: 'k9', jwk: embedded }),
    'another algorithm of the same key': () => {
      const text = unsigned({ alg: 'RS512', kid: 'k1' }, claims()).slice(0, -1);
      const key = KeyObject.from(pair.privateKey);
      return `${text}.${cryptoSign('sha512', Buffer.from(text), key).toString('base64url')}`;
    },
    'changed claims': async () => {
      const [head, , signature] = (await sign(claims())).split('.');
      return `${head}.${base64url.encode(JSON.stringify(claims({ sub: 'root' })))}.${signature}`;
    },
    'no allowed role': () => sign(claims({ groups: ['guests'] })),
    'a role in another claim': () => sign(claims({ groups: undefined, role: 'staff', nickname: 'staff' })),
    'a subject with a line break': () => sign(claims({ sub: 'a\nb' })),
    'no subject': () => sign(claims({ sub: undefined })),
    'no token': () => undefined,
    'a token that is too large': () => sign(claims({ more: 'x'.repeat(300_000) })),
  };
  for (const [name, token] of Object.entries(tokens)) {
    await check(`refused: ${name}`, async () => {
      plan.token = token;
      assertRefused((await signIn(bad.base)).answer, name);
    });
  }
  await check('a sign-in is switched to another user without a longer life', async () => {
    const switched = await ada.api(base, '/api/sign-in', {
      method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ user: 'carol' }),
    });
    assert.equal(switched.status, 201);
    const age = /__Host-lukasa=[^;]+;.*Max-Age=(\d+)/.exec(switched.headers.getSetCookie().join('\n'))[1];
    assert.ok(Number(age) <= 12 * 60 * 60, `${age} s`);
  });
  await check('refused: an answer that names another issuer', async () => {
    Object.assign(plan, { token: () => sign(claims()), iss: 'https://evil.example' });
    assertRefused((await signIn(bad.base)).answer, 'iss');
    plan.iss = undefined;
    await accepted();
  });
  const faults = {
    'metadata of another issuer': { issuer: 'https://evil.example' },
    'keys without TLS elsewhere': { jwks_uri: 'http://keys.example/keys' },
    'a token endpoint with a password': { token_endpoint: 'https://a:b@evil.example/token' },
  };
  for (const [name, metadata] of Object.entries(faults)) {
    await check(`refused: ${name}`, async () => {
      const port = await freePort();
      plan.metadata = metadata;
      const server = await serve(port, settings(hostile.issuer, {}));
      const answer = await fetch(`${server.base}/oidc/begin`, { redirect: 'manual' });
      plan.metadata = {};
      assertRefused(answer, name);
    });
  }
  const ends = {
    'no address that ends a session': [{}, 404],
    'one without TLS elsewhere': [{ end_session_endpoint: 'http://evil.example/end' }, 502],
    'one with a password': [{ end_session_endpoint: 'https://a:b@evil.example/end' }, 502],
    'one that is a script': [{ end_session_endpoint: 'javascript:alert(1)' }, 502],
  };
  for (const [name, [metadata, status]] of Object.entries(ends)) {
    await check(`no sign-out at a provider with ${name}`, async () => {
      plan.metadata = metadata;
      const server = await serve(await freePort(), settings(hostile.issuer, {}));
      const answer = await fetch(`${server.base}/oidc/sign-out`, { redirect: 'manual' });
      plan.metadata = {};
      assert.equal(answer.status, status);
      assert.equal(answer.headers.get('location'), null);
    });
  }
  await check('the log has the reasons and no secret', async () => {
    const text = bad.log.join('\n');
    const reasons = ['issuer', 'audience', 'nonce', 'expired', 'algorithm', 'signature', 'unknown_key', 'not_allowed'];
    for (const reason of reasons) {
      assert.match(text, new RegExp(`reason="${reason}"`), reason);
    }
    assert.ok(!text.includes(CLIENT.secret) && !text.includes('ada@'));
  });
} finally {
  stop();
  real.close();
  hostile.close();
}
console.log(failed ? `${failed} failed` : 'all passed');
process.exit(failed ? 1 : 0);
