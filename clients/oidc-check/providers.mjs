// A real provider (npm oidc-provider), and one that answers whatever a test wants.

import { createServer } from 'node:http';
import { exportJWK, generateKeyPair, SignJWT, base64url } from 'jose';
import Provider from 'oidc-provider';

export const CLIENT = { id: 'lukasa', secret: 'a secret with/odd+characters&=' };

/** Users of the real provider. `nickname` and `role` are what users set themselves. */
export const USERS = {
  ada: { groups: ['staff', 'memory-admins'], email: 'ada@example.org', email_verified: true },
  bob: {
    groups: ['staff'],
    email: 'bob@example.org',
    email_verified: true,
    nickname: 'memory-admins',
    role: 'memory-admins',
  },
  eve: { groups: ['staff'], email: 'ada@example.org', email_verified: false },
  guest: { groups: ['guests'], email: 'guest@example.org', email_verified: true },
};

export async function realProvider(port, redirectUris) {
  const issuer = `http://127.0.0.1:${port}`;
  const provider = new Provider(issuer, {
    clients: [{
      client_id: CLIENT.id, client_secret: CLIENT.secret, redirect_uris: redirectUris,
      post_logout_redirect_uris: redirectUris.map((uri) => uri.replace(/callback$/, 'signed-out')),
    }],
    claims: { openid: ['sub', 'groups', 'nickname', 'role'], email: ['email', 'email_verified'] },
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    cookies: { keys: ['a key for cookies'] },
    features: { devInteractions: { enabled: false } },
    findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ sub, ...USERS[sub] }) }),
    interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
  });
  provider.on('server_error', (_, error) => console.error(error));
  const calls = { user: 'ada', count: 0, logins: 0 };
  const handle = provider.callback();
  const server = createServer(async (request, response) => {
    calls.count += 1;
    if (!request.url.startsWith('/interaction/')) return handle(request, response);
    const { prompt, params, grantId, session } = await provider.interactionDetails(request, response);
    if (prompt.name === 'login') {
      calls.logins += 1;
      return provider.interactionFinished(request, response, { login: { accountId: calls.user } });
    }
    const grant = grantId
      ? await provider.Grant.find(grantId)
      : new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
    grant.addOIDCScope(params.scope);
    const result = { consent: { grantId: await grant.save() } };
    return provider.interactionFinished(request, response, result, { mergeWithLastSubmission: true });
  });
  await new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
  return { issuer, calls, close: () => server.close() };
}

/** A provider whose metadata and tokens a test can change. */
export async function hostileProvider(port) {
  const issuer = `http://127.0.0.1:${port}`;
  const pair = await generateKeyPair('RS256', { extractable: true });
  const other = await generateKeyPair('RS256', { extractable: true });
  const jwk = { ...(await exportJWK(pair.publicKey)), kid: 'k1', alg: 'RS256', use: 'sig' };
  const now = () => Math.floor(Date.now() / 1000);
  const plan = { token: undefined, metadata: {}, iss: undefined };
  let nonce = '';
  const claims = (changes = {}) => ({
    iss: issuer, aud: CLIENT.id, sub: 'ada', nonce, iat: now(), exp: now() + 300, email: 'ada@example.org',
    email_verified: true, groups: ['staff'], ...changes,
  });
  const sign = (payload, { key = pair.privateKey, alg = 'RS256', kid = 'k1', ...header } = {}) =>
    new SignJWT(payload).setProtectedHeader({ alg, kid, ...header }).sign(key);
  const unsigned = (header, payload, signature = '') =>
    `${base64url.encode(JSON.stringify(header))}.${base64url.encode(JSON.stringify(payload))}.${signature}`;
  const server = createServer(async (request, response) => {
    const url = new URL(request.url, issuer);
    const json = (value) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(value));
    };
    if (url.pathname === '/.well-known/openid-configuration') {
      return json({
        issuer, authorization_endpoint: `${issuer}/auth`, token_endpoint: `${issuer}/token`, jwks_uri: `${issuer}/keys`,
        ...plan.metadata,
      });
    }
    if (url.pathname === '/keys') return json({ keys: [jwk] });
    if (url.pathname === '/auth') {
      nonce = url.searchParams.get('nonce');
      const back = new URL(url.searchParams.get('redirect_uri'));
      back.searchParams.set('code', 'c1');
      back.searchParams.set('state', url.searchParams.get('state'));
      if (plan.iss) back.searchParams.set('iss', plan.iss);
      response.writeHead(303, { location: back.href });
      return response.end();
    }
    if (url.pathname === '/token') {
      return json({ access_token: 'a', token_type: 'Bearer', id_token: await plan.token() });
    }
    response.writeHead(404);
    return response.end();
  });
  await new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
  return { issuer, plan, claims, sign, unsigned, jwk, pair, other, now, close: () => server.close() };
}
