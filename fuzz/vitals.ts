/** The health of the service's processes during the attack: exits, event loop stalls, memory, and unfinished jobs. */
import { INGEST, RUNS } from '../src/jobs/queues/queues.ts';
import { keyspace } from '../src/store/redis/keyspace/keyspace.ts';
import type { Scrape } from '../test/support/scrape.ts';
import { until } from '../test/support/until.ts';
import type { Targets } from './targets.ts';

/** Maximum CPU time of the main thread without yielding. It is a bucket boundary of the metric. */
export const LOOP_LIMIT_SECONDS = 0.25;
const DELAY = 'tidegate_event_loop_delay_cpu_seconds';
/** A call without a response takes CALL_TIMEOUT_SECONDS, and is retried. */
const IDLE_MS = 30_000;
const JOBS_SHOWN = 5;

type Role = 'web' | 'worker';

export interface Vitals {
  /** The number of event loop stalls so far. */
  stalls: Record<Role, number>;
  residentBytes: Record<Role, number>;
}

export async function readVitals(targets: Targets): Promise<Vitals> {
  const { web, worker } = await targets.scrapes();
  const resident = (scrape: Scrape) => scrape.value('process_resident_memory_bytes') ?? 0;
  return {
    stalls: { web: stallCount(web), worker: stallCount(worker) },
    residentBytes: { web: resident(web), worker: resident(worker) },
  };
}

export function exitedProcess({ service }: Targets): string | undefined {
  const gone = [...service.webs, ...service.workers].find((one) => !one.running());
  return gone && `${gone.role} exited:\n${gone.output().slice(-4_000)}`;
}

/** Resolves when no job is waiting or active, or a process exited. @throws Error after a timeout */
export async function untilIdle(targets: Targets): Promise<void> {
  const { redis, prefix } = targets.service;
  const { queues } = keyspace({ prefix }).partition(0);
  const lists = [INGEST, RUNS].flatMap((queue) => ['wait', 'active'].map((state) => `${queues}:${queue}:${state}`));
  let left: string[] = [];
  const isIdle = async () => {
    if (exitedProcess(targets)) return true;
    const jobs = await Promise.all(lists.map((list) => redis.lrange(list, 0, JOBS_SHOWN - 1)));
    left = lists.flatMap((list, at) => (jobs[at] ?? []).map((job) => `${list} ${job}`));
    return left.length === 0;
  };
  await until(isIdle, { timeoutMs: IDLE_MS, describe: () => `the worker has no jobs left: ${left.join(', ')}` });
}

function stallCount(scrape: Scrape): number {
  const all = scrape.value(`${DELAY}_count`) ?? 0;
  return all - (scrape.value(`${DELAY}_bucket`, { le: String(LOOP_LIMIT_SECONDS) }) ?? 0);
}
