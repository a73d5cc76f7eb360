// Starts real servers on free ports: one that requires keys, one in local mode.

import { execFileSync, spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';

const lukasa = process.env.LUKASA;
const running = [];

export async function serve(auth, more = []) {
  const child = spawn(
    lukasa,
    [
      'serve', '--migrate', '--auth', auth, '--embedder', 'off', '--workers', '0',
      ...(more.length ? more : ['--listen', '127.0.0.1:0']),
    ],
    { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, NO_COLOR: '1' } },
  );
  running.push(child);
  const log = [];
  for await (const line of createInterface({ input: child.stderr })) {
    log.push(line);
    const found = /address=(\S+)/.exec(line);
    if (found) {
      // Discard further output, so that the server never blocks on a full pipe.
      child.stderr.resume();
      return `http://${found[1]}`;
    }
  }
  throw new Error(`the server did not start:\n${log.join('\n')}`);
}

/** A server that assistants can connect to by URL: it has to know its own address. */
export async function servePublic() {
  const probe = createServer();
  await new Promise((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const { port } = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  const address = `127.0.0.1:${port}`;
  return serve('keys', ['--listen', address, '--public-url', `http://${address}`]);
}

export function makeKey(tenant, permissions) {
  const args = ['key', 'create', '--tenant', tenant, '--name', 'mcp check', '--json'];
  const made = execFileSync(lukasa, [...args, ...permissions.flatMap((p) => ['--may', p])]);
  return JSON.parse(made).secret;
}

export function stop() {
  for (const child of running) child.kill();
}
