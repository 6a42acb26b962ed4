/** What the service's processes say of themselves while they are attacked: whether they live, how long their event loops stood still,
 *  what they hold, and whether they are done with what they were sent. */
import { INGEST, RUNS } from '../src/jobs/queues/queues.ts';
import { keyspace } from '../src/store/redis/keyspace.ts';
import type { Scrape } from '../test/support/scrape.ts';
import { until } from '../test/support/until.ts';
import type { Targets } from './targets.ts';

/** Of the main thread's CPU: no request may cost more of it at once. A bucket of the metric ends there. */
export const LOOP_LIMIT_SECONDS = 0.25;
const DELAY = 'tidegate_event_loop_delay_cpu_seconds';
/** What waits for other processes: a call of an app that does not answer takes as long as CALL_TIMEOUT_SECONDS, and again. */
const IDLE_MS = 30_000;

type Role = 'web' | 'worker';

export interface Vitals {
  /** How often the event loop has stood still for too long, so far. */
  stalls: Record<Role, number>;
  residentBytes: Record<Role, number>;
}

export async function readVitals(targets: Targets): Promise<Vitals> {
  const { web, worker } = await targets.scrapes();
  const resident = (scrape: Scrape) => scrape.value('process_resident_memory_bytes') ?? 0;
  return {
    stalls: { web: over(web), worker: over(worker) },
    residentBytes: { web: resident(web), worker: resident(worker) },
  };
}

export function exitedProcess({ service }: Targets): string | undefined {
  const gone = [...service.webs, ...service.workers].find((one) => !one.running());
  return gone && `${gone.role} has ended:\n${gone.output().slice(-4_000)}`;
}

/** Resolves when no job waits or is at work, or a process has ended. @throws when that does not come */
export async function untilIdle(targets: Targets): Promise<void> {
  const { redis, prefix } = targets.service;
  const { queues } = keyspace(prefix);
  const lists = [INGEST, RUNS].flatMap((queue) => ['wait', 'active'].map((state) => `${queues}:${queue}:${state}`));
  const isIdle = async () => {
    if (exitedProcess(targets)) return true;
    const lengths = await Promise.all(lists.map((list) => redis.llen(list)));
    return lengths.every((length) => length === 0);
  };
  await until(isIdle, { timeoutMs: IDLE_MS, describe: 'the worker is done with all that it was sent' });
}

function over(scrape: Scrape): number {
  const all = scrape.value(`${DELAY}_count`) ?? 0;
  return all - (scrape.value(`${DELAY}_bucket`, { le: String(LOOP_LIMIT_SECONDS) }) ?? 0);
}
