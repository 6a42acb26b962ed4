import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface Recorded {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface Reply {
  status?: number;
  headers?: Record<string, string>;
  body?: unknown;
}

export interface FakeService {
  url: string;
  requests: Recorded[];
}

/** Real servers on free ports, closed after each test of the suite. */
export function useServers() {
  const closers: (() => Promise<unknown>)[] = [];
  afterEach(() => Promise.all(closers.splice(0).map((close) => close())));

  async function listen(listener: RequestListener): Promise<string> {
    const server = createServer(listener);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closers.push(async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  /** A fake service: sends these replies in turn and repeats the last one. 'hang up' cuts the connection. */
  async function startService(...replies: (Reply | 'hang up')[]): Promise<FakeService> {
    const requests: Recorded[] = [];
    const url = await listen(async (req, res) => {
      const body = await text(req);
      requests.push({ method: req.method ?? '', url: req.url ?? '', headers: req.headers, body });
      const reply = replies[Math.min(requests.length, replies.length) - 1] ?? {};
      if (reply === 'hang up') {
        req.socket.destroy();
        return;
      }
      const { status = 200, headers = {}, body: responseBody = { ids: ['01A'], status: 200 } } = reply;
      res
        .writeHead(status, headers)
        .end(typeof responseBody === 'string' ? responseBody : JSON.stringify(responseBody));
    });
    return { url, requests };
  }

  /** A URL where nothing listens. */
  async function deadUrl(): Promise<string> {
    const url = await listen(() => {});
    await closers.pop()?.();
    return url;
  }

  return { listen, startService, deadUrl };
}

/** Removes the machine's SERVICE_* variables during each test of the suite, and resets them afterwards. */
export function useCleanEnv() {
  const saved: Record<string, string | undefined> = {};
  const names = () => Object.keys(process.env).filter((name) => name.startsWith('SERVICE_'));
  const forget = () => {
    for (const name of names()) delete process.env[name];
  };
  beforeEach(() => {
    for (const name of names()) saved[name] = process.env[name];
    forget();
  });
  afterEach(() => {
    forget();
    Object.assign(process.env, saved);
  });
}

/** The rejection of the promise. */
export async function rejection(promise: Promise<unknown>): Promise<Error & Record<string, unknown>> {
  return promise.then(
    () => {
      throw new Error('It was expected to be rejected');
    },
    (error) => error,
  );
}
