// The official clients: of the newer protocol, and of the older one that most assistants still use.

import { Client as Newer, StreamableHTTPClientTransport as NewerHttp } from '@modelcontextprotocol/client';
import { StdioClientTransport as NewerStdio } from '@modelcontextprotocol/client/stdio';
import { Client as Older } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as OlderStdio } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as OlderHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const info = { name: 'lukasa-mcp-check', version: '1.0.0' };

function transportOf(Http, Stdio, { transport, url, key, user }) {
  if (transport === 'http') {
    const headers = { 'X-Lukasa-User': user, ...(key && { Authorization: `Bearer ${key}` }) };
    return new Http(new URL(`${url}/mcp`), { requestInit: { headers } });
  }
  const env = { PATH: process.env.PATH, LUKASA_URL: url, LUKASA_USER: user, ...(key && { LUKASA_KEY: key }) };
  return new Stdio({ command: process.env.LUKASA, args: ['mcp'], env, stderr: 'inherit' });
}

/** A scripted user who gives the same answer to every question, and records the questions. */
function scriptedUser() {
  const questions = [];
  let action = 'accept';
  const handle = ({ params }) => {
    questions.push(params.message);
    return action === 'accept' ? { action, content: {} } : { action };
  };
  return { questions, handle, answer: (next) => { action = next; } };
}

export async function newer(options) {
  const mode = options.version === 'auto' ? 'auto' : { pin: options.version };
  const capabilities = options.elicits ? { elicitation: { form: {} } } : {};
  const client = new Newer(info, { capabilities, versionNegotiation: { mode } });
  const { questions, handle, answer } = scriptedUser();
  if (options.elicits) client.setRequestHandler('elicitation/create', handle);
  await client.connect(transportOf(NewerHttp, NewerStdio, options));
  return { client, questions, answer, spoke: client.getNegotiatedProtocolVersion?.() ?? options.version };
}
newer.versions = ['2026-07-28', 'auto'];

export async function older(options) {
  const capabilities = options.elicits ? { elicitation: {} } : {};
  const client = new Older(info, { capabilities });
  const { questions, handle, answer } = scriptedUser();
  if (options.elicits) client.setRequestHandler(ElicitRequestSchema, handle);
  const transport = transportOf(OlderHttp, OlderStdio, options);
  let spoke;
  const set = transport.setProtocolVersion?.bind(transport);
  transport.setProtocolVersion = (version) => { spoke = version; set?.(version); };
  await client.connect(transport);
  return { client, questions, answer, spoke: spoke ?? options.version };
}
older.versions = ['2025-11-25'];
