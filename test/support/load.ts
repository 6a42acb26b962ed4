/** Senders that open a connection for each event. */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { until } from './until.ts';

export const EVENT: string = JSON.stringify({ name: 'load/x', data: {} });

/** @returns the status code, or why the connection failed */
export async function sendOnNewConnection(port: number, path: string): Promise<number | string> {
  const headers = { 'content-type': 'application/json' };
  const sent = request({ agent: false, host: '127.0.0.1', port, path, method: 'POST', headers }).end(EVENT);
  try {
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    await once(response.resume(), 'end');
    return response.statusCode as number;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Sends events, each on a new connection, until it is stopped. */
export class Load {
  succeeded = 0;
  readonly failures: (number | string)[] = [];
  #isOver = false;
  readonly #senders: Promise<void>[];

  constructor(port: number, path: string, senders = 8) {
    this.#senders = Array.from({ length: senders }, async () => {
      while (!this.#isOver) {
        const result = await sendOnNewConnection(port, path);
        if (result === 200) this.succeeded++;
        else this.failures.push(result);
      }
    });
  }

  async goOn(): Promise<void> {
    const enough = this.succeeded + 100;
    await until(() => this.succeeded > enough, { describe: 'requests succeed' });
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#senders);
  }
}
