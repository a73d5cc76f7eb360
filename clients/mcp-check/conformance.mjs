// The server scenarios of the official conformance suite. Its other scenarios are for clients.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';

const file = (name) => new URL(name, import.meta.url).pathname;

/** Runs all server scenarios; those in `conformance.yml` are expected to fail. */
export async function checkConformance(url) {
  const suite = file('node_modules/@modelcontextprotocol/conformance/dist/index.js');
  const args = ['server', '--url', `${url}/mcp`, '--suite', 'all', '--expected-failures', file('conformance.yml')];
  const { code, out } = await new Promise((resolve) => {
    execFile(process.execPath, [suite, ...args], { timeout: 120_000 }, (error, stdout, stderr) => {
      resolve({ code: error ? (error.code ?? -1) : 0, out: `${stdout}${stderr}` });
    });
  });
  const summary = out.slice(Math.max(0, out.indexOf('=== SUMMARY')));
  assert.equal(code, 0, summary);
  const passed = [...summary.matchAll(/^✓ (\S+):/gm)].map((found) => found[1]);
  // Without these the suite would have tested nothing.
  for (const scenario of ['server-initialize', 'ping', 'tools-list', 'resources-list', 'prompts-list',
    'completion-complete', 'dns-rebinding-protection', 'server-sse-multiple-streams']) {
    assert.ok(passed.includes(scenario), `${scenario} passes\n${summary}`);
  }
  return `${passed.length} scenarios pass`;
}
