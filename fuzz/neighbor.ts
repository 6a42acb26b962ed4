/** Another sender that posts small events at a constant rate, to measure the effect of the attack on other users (noisy neighbor). */
import { setTimeout } from 'node:timers/promises';
import { request } from '../test/support/http.ts';

export interface Neighbor {
  /** Runs the work and records the latencies of events sent meanwhile. */
  during<T>(kept: number[], work: () => Promise<T>): Promise<T>;
  /** Failures of all its events. */
  readonly failures: readonly string[];
  stop(): Promise<void>;
}

export function startNeighbor(url: string, everyMs: number): Neighbor {
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
      // An attack may have lowered the size limit.
      if (status !== 200 && status !== 413) failures.push(`${status} ${JSON.stringify(body)}`);
    } catch (error) {
      failures.push((error as Error).message);
    }
  }

  async function work(): Promise<void> {
    // Open loop, as real senders do.
    while (!stopped) {
      const sent = send().finally(() => open.delete(sent));
      open.add(sent);
      await setTimeout(everyMs);
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
