/** Another sender that posts small events at a constant rate, to measure the effect of the attack on other users (noisy neighbor). */
import { setTimeout } from 'node:timers/promises';
import { request } from '../test/support/http.ts';
import { waitedForCpuMs } from '../test/support/waited-for-cpu.ts';

/** The delay that the service asks for when Redis does not respond in time. */
const REPEAT_AFTER_MS = 2_000;
/** Redis is starved when it waits for a CPU for more than this share of a request. */
const WAITED_SHARE = 0.5;

export interface Neighbor {
  /** Runs the work and records the latencies of events sent meanwhile. */
  during<T>(kept: number[], work: () => Promise<T>): Promise<T>;
  /** Failures of all its events. */
  readonly failures: readonly string[];
  stop(): Promise<void>;
}

/** @param processes web processes and Redis: if the machine gave one of them too little CPU time, no attack made Redis slow, and a
 *  rejected event is sent again once, as senders do */
export function startNeighbor(url: string, everyMs: number, processes: readonly number[]): Neighbor {
  let latencies: number[] | undefined;
  const failures: string[] = [];
  let stopped = false;
  const open = new Set<Promise<void>>();

  async function send(isRepeated = false): Promise<void> {
    const startedAt = performance.now();
    const waited = processes.map(waitedForCpuMs);
    const kept = latencies;
    try {
      const { status, body } = await request('POST', url, { body: { name: 'neighbor/ping', data: {} } });
      kept?.push(performance.now() - startedAt);
      const starvedMs = WAITED_SHARE * (performance.now() - startedAt);
      const isStarved = processes.some((pid, i) => waitedForCpuMs(pid) - (waited[i] ?? 0) > starvedMs);
      if (status === 503 && body.code === 'unavailable' && isStarved && !isRepeated) {
        await setTimeout(REPEAT_AFTER_MS);
        return send(true);
      }
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
