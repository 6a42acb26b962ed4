/** Binds the queues to their handlers. A worker that dies leaves its jobs locked; another worker takes them over when
 *  the locks expire. */
import type { IngestDeps } from '../jobs/ingestion/ingest.ts';
import type { TimerHandlers } from '../jobs/timers/timer-handlers.ts';
import { createIngestWorker } from './ingest-worker.ts';
import { JobRelease } from './job-middleware.ts';
import { ResilientWorker } from './resilient-worker.ts';
import { createRunWorker, type RunHandlers, type RunWorkerDeps } from './run-worker.ts';
import { SharedConcurrency } from './shared-concurrency.ts';
import { createTimerWorker } from './timer-worker.ts';
import { WakeUps } from './wake-ups.ts';
import type { WatchedWorker } from './watched-worker.ts';

/** Time for released jobs to reach Redis. */
const RELEASE_MS = 2_000;

export interface Workers {
  readonly partitions: readonly number[];
  /** Sets its partitions; the process takes no more jobs of other partitions. */
  assign(partitions: readonly number[]): void;
  ready(): Promise<void>;
  /** Stops taking jobs and waits for active ones. Jobs that exceed the grace period are released for other workers. */
  close(): Promise<void>;
}

export interface WorkersDeps extends RunWorkerDeps {
  isCluster: boolean;
  handlers: RunHandlers & { ingest: IngestDeps; timers: TimerHandlers };
}

interface PartitionWorkers {
  ingest: ResilientWorker;
  runs: ResilientWorker;
  timers: ResilientWorker;
}

/** Minimum number of ingest jobs that a worker process of many partitions runs concurrently in each, because its other partitions may
 *  have none. The call limiter bounds the calls of all partitions together. */
const INGEST_CONCURRENCY_MIN = 4;

export function startWorkers(deps: WorkersDeps): Workers {
  const { config, callLimiter, handlers, recorder, log } = deps;
  const jobRelease = new JobRelease();
  const wakeUps = new WakeUps(config.runConcurrency);
  const concurrency = new SharedConcurrency(config.runConcurrency, () => wakeUps.queued);
  const assigned = new Map<number, PartitionWorkers>();
  /** Workers of partitions that another process has taken over; they finish their jobs. */
  const leaving = new Set<ResilientWorker>();
  let isClosing = false;

  const start = (partition: number) => {
    const lasting = <Data>(create: () => WatchedWorker<Data>) => {
      const created = () => {
        const worker = create();
        worker.on('stalled', () => recorder.jobStalled(worker.name));
        return worker;
      };
      return new ResilientWorker(created, deps.isCluster, log);
    };
    assigned.set(partition, {
      ingest: lasting(() => createIngestWorker(partition, { ...deps, handlers: handlers.ingest }, wakeUps)),
      runs: lasting(() => createRunWorker(partition, deps, { wakeUps, jobRelease, concurrency })),
      timers: lasting(() => createTimerWorker(partition, { ...deps, handlers: handlers.timers })),
    });
  };
  const stop = (partition: number) => {
    const workers = assigned.get(partition) as PartitionWorkers;
    assigned.delete(partition);
    deps.jobTakers.delete(partition);
    for (const worker of allOf(workers)) {
      leaving.add(worker);
      const left = () => leaving.delete(worker);
      worker.close().then(left, left);
    }
  };
  const releaseAll = () => {
    handlers.call.functionClient.abandon();
    handlers.request.requestClient.abandon();
    const jobs = jobRelease.releaseAll();
    if (jobs > 0) log.warn({ jobs }, 'active calls are abandoned and their jobs released');
  };
  const running = () => [...[...assigned.values()].flatMap(allOf), ...leaving];
  return {
    get partitions() {
      return [...assigned.keys()];
    },
    assign(partitions) {
      if (isClosing) return;
      const wanted = new Set(partitions);
      for (const partition of assigned.keys()) if (!wanted.has(partition)) stop(partition);
      for (const partition of wanted) if (!assigned.has(partition)) start(partition);
      for (const { ingest } of assigned.values()) {
        ingest.concurrency = shareOf(config.ingestConcurrency, wanted.size);
      }
    },
    ready: async () => void (await Promise.all(running().map((worker) => worker.waitUntilReady()))),
    close() {
      isClosing = true;
      callLimiter.close();
      return closeAll(running(), config.shutdownGraceMs, releaseAll);
    },
  };
}

function allOf({ ingest, runs, timers }: PartitionWorkers): ResilientWorker[] {
  return [ingest, runs, timers];
}

function shareOf(concurrency: number, partitions: number): number {
  return Math.max(Math.min(concurrency, INGEST_CONCURRENCY_MIN), Math.ceil(concurrency / Math.max(1, partitions)));
}

/** Resolves soon after the grace period, even without Redis. */
async function closeAll(
  workers: Pick<ResilientWorker, 'close'>[],
  graceMs: number,
  releaseAll: () => void,
): Promise<void> {
  const timers: NodeJS.Timeout[] = [];
  const timeout = new Promise<void>((resolve) => {
    timers.push(setTimeout(releaseAll, graceMs), setTimeout(resolve, graceMs + RELEASE_MS));
  });
  await Promise.race([timeout, Promise.all(workers.map((worker) => worker.close()))]);
  for (const timer of timers) clearTimeout(timer);
}
