/** A keep-alive connection that posts prebuilt requests, one at a time. It does as little as possible, because it shares the machine
 *  with the service: a general HTTP client would use as much CPU time as the service itself. */
import { once } from 'node:events';
import { createConnection, type Socket } from 'node:net';

const HEAD_END = '\r\n\r\n';

export class Connection {
  readonly #socket: Socket;
  #answer: { resolve(): void; reject(error: Error): void } | undefined;
  #text = '';

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true).setEncoding('latin1');
    socket.on('data', (text: string) => this.#read(text));
    socket.on('error', (error) => this.#answer?.reject(error));
    socket.on('close', () => this.#answer?.reject(new Error('the service closed the connection')));
  }

  static async open(host: string, port: number): Promise<Connection> {
    const socket = createConnection({ host, port });
    await once(socket, 'connect');
    return new Connection(socket);
  }

  /** Resolves when a 2xx response is complete. @throws Error on any other response, and on a closed connection */
  post(request: Buffer): Promise<void> {
    if (this.#socket.destroyed) return Promise.reject(new Error('the connection is closed'));
    return new Promise((resolve, reject) => {
      this.#answer = { resolve, reject };
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#answer = undefined;
    this.#socket.destroy();
  }

  #read(text: string): void {
    this.#text += text;
    const headEnd = this.#text.indexOf(HEAD_END);
    if (headEnd === -1) return;
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(this.#text.slice(0, headEnd))?.[1]);
    if (this.#text.length < headEnd + HEAD_END.length + length) return;
    // Every response of the services has a content-length.
    const isGood = this.#text.startsWith('HTTP/1.1 2') && length >= 0;
    this.#settle(isGood ? undefined : new Error(`got ${this.#text.slice(0, 300)}`));
  }

  #settle(error: Error | undefined): void {
    const answer = this.#answer;
    this.#answer = undefined;
    this.#text = '';
    if (error) answer?.reject(error);
    else answer?.resolve();
  }
}

export interface PostRequest {
  url: string;
  body: string;
  headers?: Record<string, string>;
}

/** The bytes of a request with a JSON body. */
export function requestOf({ url, body, headers = {} }: PostRequest): Buffer {
  const { host, pathname, search } = new URL(url);
  const all = {
    host,
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`POST ${pathname}${search} HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
}
