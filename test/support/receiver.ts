/** A receiver of the requests of a destination: it records them, and responds as a test says. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { until } from './until.ts';

export interface Received {
  path: string;
  method: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

export interface ReceiverResponse {
  status?: number;
  headers?: Record<string, string>;
  body?: string | Buffer;
}

type Respond = (received: Received, number: number) => ReceiverResponse | undefined | Promise<ReceiverResponse>;

export class Receiver {
  readonly #server: Server;
  readonly #received: Received[] = [];
  readonly #responses = new Map<string, Respond>();

  static async start(): Promise<Receiver> {
    const receiver = new Receiver();
    receiver.#server.listen(0, '127.0.0.1');
    await once(receiver.#server, 'listening');
    return receiver;
  }

  constructor() {
    this.#server = createServer(async (request, response) => {
      const { url: path = '', method = '', headers } = request;
      const received = { path, method, headers, body: await buffer(request) };
      this.#received.push(received);
      const given = await this.#responses.get(path)?.(received, this.at(path).length - 1);
      // undefined: it never responds.
      if (this.#responses.has(path) && given === undefined) return;
      const { status = 200, headers: own, body = 'ok' } = given ?? {};
      response.writeHead(status, own).end(body);
    });
  }

  url(path: string): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}${path}`;
  }

  /** Default: 200. `respond` gets the number of earlier requests of the path. */
  on(path: string, respond: Respond): void {
    this.#responses.set(path, respond);
  }

  at(path: string): Received[] {
    return this.#received.filter((item) => item.path === path);
  }

  async got(path: string, count = 1): Promise<Received[]> {
    return until(() => this.at(path).length >= count && this.at(path), { describe: `${count} requests at ${path}` });
  }

  async stop(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }
}
