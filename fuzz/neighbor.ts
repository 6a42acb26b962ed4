/** Another sender, who sends small events at a steady pace all the while: what the attacks cost those who do nothing wrong. */
import { setTimeout } from 'node:timers/promises';
import { request } from '../test/support/http.ts';

export interface Neighbor {
  /** Does the work, and keeps how long the events took that were sent meanwhile. */
  during<T>(kept: number[], work: () => Promise<T>): Promise<T>;
  /** Of all that it has sent. */
  readonly failures: readonly string[];
  stop(): Promise<void>;
}

const EVERY_MS = 50;

export function startNeighbor(url: string): Neighbor {
  let latencies: number[] | undefined;
  const failures: string[] = [];
  let stopped = false;
  const open = new Set<Promise<void>>();

  async function send(): Promise<void> {
    const startedAt = performance.now();
    const kept = latencies;
    try {
      const { status, body } = await request('POST', url, { body: { name: 'neighbor/ping', data: {} } });
      kept?.push(performance.now() - startedAt);
      // A limit that an attack has set is no fault of the service.
      if (status !== 200 && status !== 413) failures.push(`${status} ${JSON.stringify(body)}`);
    } catch (error) {
      failures.push((error as Error).message);
    }
  }

  async function work(): Promise<void> {
    // Whether or not earlier ones have been answered, as real senders do.
    while (!stopped) {
      const sent = send().finally(() => open.delete(sent));
      open.add(sent);
      await setTimeout(EVERY_MS);
    }
  }

  const working = work();
  return {
    failures,
    async during(kept, work) {
      latencies = kept;
      try {
        return await work();
      } finally {
        latencies = undefined;
      }
    },
    async stop() {
      stopped = true;
      await working;
      await Promise.all(open);
    },
  };
}
