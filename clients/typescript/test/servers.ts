// Servers for tests: scripted ones, a proxy that loses responses, and clients of the real one.
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { after } from "node:test";
import { Lukasa, type Settings } from "lukasa-client";

/** A client of the real server, which `run-tests` has started, with an admin key. */
export function real(user: string, settings: Settings = {}): Lukasa {
  for (const name of ["LUKASA_URL", "LUKASA_KEY"]) {
    if (!process.env[name]) throw new Error(`${name} is not set; start the tests with ./run-tests`);
  }
  return new Lukasa({ user, ...settings });
}

/** A user id that no other test uses. */
export function uniqueUser(): string {
  return `user-${crypto.randomUUID()}`;
}

/** Retries until it succeeds, for data that the server writes after its response. */
export async function eventually<T>(ask: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await ask();
    } catch (error) {
      if (tries === 50) throw error;
      await new Promise((done) => setTimeout(done, 100));
    }
  }
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** A scripted server, until the tests of the file are over. */
export async function scripted(handler: Handler): Promise<string> {
  const server = createServer(handler);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export interface Fault {
  /** How many responses to lose: the request is processed, but its caller gets no response. */
  lose: number;
  /** A header to remove, as a fault that a test must detect. */
  strip?: string;
  /** Number of requests. */
  seen?: number;
}

/** A proxy in front of the real server that loses the first responses to writes. */
export function lossy(fault: Fault): Promise<string> {
  fault.seen = 0;
  return scripted((incoming, outgoing) => {
    fault.seen = (fault.seen ?? 0) + 1;
    const headers = { ...incoming.headers };
    if (fault.strip) delete headers[fault.strip];
    const target = new URL(incoming.url ?? "/", process.env.LUKASA_URL);
    const onward = request(target, { method: incoming.method, headers }, (answer) => {
      const lose = incoming.method !== "GET" && fault.lose > 0;
      if (!lose) {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
        return;
      }
      fault.lose -= 1;
      // Read the response to its end, so that the write is complete, and drop it.
      answer.resume().on("end", () => incoming.socket.destroy());
    });
    incoming.pipe(onward);
  });
}

export function answer(response: ServerResponse, status: number, body: unknown, headers = {}) {
  const type = status < 400 ? "application/json" : "application/problem+json";
  response.writeHead(status, { "content-type": type, "lukasa-request-id": "req_1", ...headers });
  response.end(JSON.stringify(body));
}
