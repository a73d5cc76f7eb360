// Starts a real Lukasa, and opens its pages as a browser does: with cookies, and without following redirects.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';

const running = [];

export async function freePort() {
  const probe = createServer();
  await new Promise((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const { port } = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

/** A server with these settings, and its log. */
export async function serve(port, settings) {
  const base = `http://127.0.0.1:${port}`;
  const args = ['serve', '--migrate', '--auth', 'keys', '--embedder', 'off', '--workers', '0'];
  const child = spawn(process.env.LUKASA, [...args, '--listen', `127.0.0.1:${port}`], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, NO_COLOR: '1', LUKASA_PUBLIC_URL: base, LUKASA_REFUSED_RATE: '0', ...settings },
  });
  running.push(child);
  const log = [];
  const started = new Promise((resolve, reject) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      log.push(line);
      if (/address=/.test(line)) resolve();
    });
    child.on('exit', () => reject(new Error(`the server ended:\n${log.join('\n')}`)));
  });
  await started;
  return { base, log };
}

export function stop() {
  for (const child of running) {
    child.removeAllListeners('exit');
    child.kill();
  }
}

/** A browser: it keeps cookies by host and port. */
export class Browser {
  #jar = new Map();

  cookies(url) {
    const found = this.#jar.get(new URL(url).host) ?? new Map();
    return [...found].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  async open(url, headers = {}, more = {}) {
    const cookie = this.cookies(url);
    const sent = { redirect: 'manual', headers: { ...(cookie && { cookie }), ...headers }, ...more };
    const answer = await fetch(url, sent);
    const jar = this.#jar.get(new URL(url).host) ?? new Map();
    for (const line of answer.headers.getSetCookie()) {
      const [pair, ...attributes] = line.split(';').map((part) => part.trim());
      const [name, value] = [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)];
      const ends = attributes.some((part) => /^max-age=0$|^expires=thu, 01 jan 1970/i.test(part));
      if (ends || value === '') jar.delete(name);
      else jar.set(name, value);
    }
    this.#jar.set(new URL(url).host, jar);
    return answer;
  }

  /** Follows redirects until a page is not one, or its address begins with `until`. */
  async follow(url, until) {
    let address = url;
    for (let step = 0; step < 20; step += 1) {
      if (until && address.startsWith(until)) return { address };
      const answer = await this.open(address);
      const next = answer.headers.get('location');
      if (!next) return { address, answer };
      address = new URL(next, address).href;
    }
    throw new Error(`too many redirects: ${address}`);
  }

  /** A request of the console's own page. */
  api(base, path, init = {}) {
    const cookie = this.cookies(base);
    return fetch(base + path, { ...init, headers: { cookie, 'sec-fetch-site': 'same-origin', ...init.headers } });
  }
}

export function assertRefused(answer, text) {
  assert.equal(answer.status, 403, text);
  const names = answer.headers.getSetCookie().map((line) => line.split('=')[0]);
  assert.ok(!names.includes('__Host-lukasa'), `${text}: no sign-in`);
}
