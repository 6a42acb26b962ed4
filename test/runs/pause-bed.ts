/** Runs of a function that is paused and resumed, on the real Redis, without a service: a test carries out each step of the processes itself, and one of
 *  them may die after any command. */
import { type Job, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { Admission, type AdmittedCallToSchedule } from '../../src/jobs/flow-control/admission.ts';
import { FunctionTables } from '../../src/jobs/functions/function-tables.ts';
import { PartitionQueues, type QueueSet } from '../../src/jobs/queues/partition-queues.ts';
import { createRunQueue, RUNS, type RunJob } from '../../src/jobs/queues/queues.ts';
import { admissionChecks } from '../../src/jobs/runs/admission/admission-checks.ts';
import { AdmittedCalls } from '../../src/jobs/runs/admission/admitted-calls.ts';
import { FunctionPaused } from '../../src/jobs/runs/calls/service-errors.ts';
import { QueuedRunJobs } from '../../src/jobs/runs/scheduling/queued-run-jobs.ts';
import { RunScheduler } from '../../src/jobs/runs/scheduling/run-scheduler.ts';
import type { AppFunction } from '../../src/model/apps/app.ts';
import { homesOf } from '../../src/model/flow-control/limits.ts';
import { newId } from '../../src/model/ids.ts';
import { withPermits } from '../../src/workers/call-permits.ts';
import { makeChecksDue } from '../support/due-checks.ts';
import { type OwnStore, openStore } from '../support/own-store.ts';
import { redisUrl } from '../support/redis.ts';

export const ENV = 'production';
const TOKEN = 'token-of-the-test';

type Start = (calls: readonly AdmittedCallToSchedule[]) => Promise<void>;

/** Parts of one process. It knows the functions as they are when it is created, for a second. */
function createProcess(store: OwnStore) {
  const { redis, keys, admissions, heldFunctions, runs, events, functions: stored, environmentKinds } = store;
  const queues = new PartitionQueues(
    keys,
    ({ prefix }) =>
      ({ runs: createRunQueue({ connection: redis as never, prefix, skipVersionCheck: true }) }) as QueueSet,
  );
  const functions = new FunctionTables({ functions: stored, versions: store.appVersions });
  const admission = new Admission({
    ...{ admissions, runs, events, functions, environmentKinds, queues, flowKeys: {} as never },
    capacity: () => 10,
    recorder: { startThrottled: () => undefined },
    clock: Date.now,
  });
  const queuedRunJobs = new QueuedRunJobs({ queues });
  const scheduler = new RunScheduler({
    ...{ jobLists: store.jobLists, queuedRunJobs, environmentKinds, admission },
    ...{ activeRuns: store.activeRuns, reconcileAfterMs: 120_000 },
  });
  const admittedCalls = new AdmittedCalls({
    ...{ admission, functions, heldFunctions, runs, scheduler, queuedRunJobs },
    ...{ clock: Date.now, trustMs: 30_000 },
  });
  return { queues, functions, admission, scheduler, queuedRunJobs, admittedCalls };
}

export type PauseBed = Awaited<ReturnType<typeof createPauseBed>>;

export async function createPauseBed() {
  const store = await openStore();
  const { queues } = createProcess(store);
  const prefixes = store.keys.all().map(({ number }) => queues.prefixOf(number));
  const connection = new Redis(redisUrl(), { maxRetriesPerRequest: null });
  const workers = prefixes.map(
    (prefix) => new Worker<RunJob>(RUNS, null, { connection: connection as never, prefix, skipVersionCheck: true }),
  );
  const allJobs = async (state: 'delayed' | 'wait') => {
    const read = state === 'delayed' ? 'zcard' : 'llen';
    const counts = await Promise.all(prefixes.map((prefix) => store.redis[read](`${prefix}:${RUNS}:${state}`)));
    return counts.reduce((sum, count) => sum + count, 0);
  };

  return {
    store,
    process: () => createProcess(store),
    delayedJobs: () => allJobs('delayed'),

    /** @param config as the function is registered */
    async register(id: string, config: object = {}): Promise<void> {
      const fn = { id, app: id, name: id, url: 'http://localhost', triggers: [], cancel: [], config, retries: 3 };
      await store.functions.replaceForApp(ENV, id, [{ ...fn, archived: false } as unknown as AppFunction], 1_000);
    },

    /** As the route does. */
    async pause(id: string, queuedRuns: 'hold' | 'cancel' = 'hold'): Promise<void> {
      await store.functions.pause(ENV, id, Date.now(), queuedRuns);
      await store.heldFunctions.follow(ENV, id, await store.functions.read(ENV, id));
    },

    /** @param dies whether the process dies before it has told the scripts */
    async resume(id: string, dies = false): Promise<void> {
      await store.functions.resume(ENV, id);
      if (!dies) await store.heldFunctions.follow(ENV, id, await store.functions.read(ENV, id));
    },

    /** @returns the IDs of runs that are created now, whose calls are scheduled */
    async start(functionId: string, count: number): Promise<string[]> {
      const queuedAt = Date.now();
      const runs = Array.from({ length: count }, () => {
        const [id, eventId] = [newId(), newId()];
        return { id, env: ENV, functionId, eventId, requestId: eventId, queuedAt, reconcileAt: queuedAt + 1e6 };
      });
      await store.runs.create(runs);
      const refs = runs.map(({ id: runId, ...run }) => ({ ...run, runId }));
      await createProcess(store).scheduler.enqueueCalls(refs.map((ref) => ({ ref, finishedSteps: 0, retries: 3 })));
      return runs.map(({ id }) => id);
    },

    /** A worker takes the jobs that are there, and no others.
     *  @returns the runs that it called */
    async work(
      handle: (job: Job<RunJob>) => Promise<void> = async () => undefined,
      { admittedCalls } = createProcess(store),
    ): Promise<string[]> {
      const called: string[] = [];
      const handler = withPermits(
        admittedCalls,
        async (job) => {
          const { env, runId, eventId } = job.data;
          const loaded = await store.runs.load({ env, runId, eventId, finishedSteps: 0 }, 0, Date.now(), 1e15);
          if (loaded.state === 'held') throw new FunctionPaused(loaded.run);
          called.push(runId);
          await handle(job);
        },
        { debug: () => undefined } as never,
      );
      for (const worker of workers) {
        for (let left = await allJobs('wait'); left > 0; left--) {
          const job = await worker.getNextJob(TOKEN, { block: false });
          if (!job) break;
          const ended = await handler(job).then(
            () => true,
            () => false,
          );
          if (ended) await job.moveToCompleted(undefined, TOKEN, false);
        }
      }
      return called;
    },

    /** What a worker does some time after the function was resumed.
     *  @param start gives calls their jobs; default: as the worker does */
    async adapt(id: string, start?: Start): Promise<void> {
      await adapt(store, id, start);
    },

    /** The same, by a worker that dies after so many commands. @returns whether it was done before */
    async adaptAndDie(id: string, commands: number): Promise<boolean> {
      const dying = await openStore(store.prefix);
      dieAfter(dying.redis, commands);
      const died = adapt(dying, id).then(
        () => false,
        () => true,
      );
      const isDone = !(await died);
      dying.redis.disconnect();
      return isDone;
    },

    /** Checks the admissions of all calls, as a worker does some time later. */
    async check(): Promise<void> {
      const round = admissionChecks.rounds({ ...store, ...createProcess(store), clock: Date.now });
      for (const keys of store.keys.all()) {
        const partition = keys.number;
        await makeChecksDue(store.redis, keys);
        await round({ partition, signal: new AbortController().signal } as never);
      }
    },

    /** Calls that wait in backlogs. */
    async waiting(): Promise<number> {
      const counts = await Promise.all(store.keys.all().map(({ waitingCalls }) => store.redis.hvals(waitingCalls)));
      return counts.flat().reduce((sum, count) => sum + Number(count), 0);
    },

    async close(): Promise<void> {
      await Promise.all(workers.map((worker) => worker.close()));
      connection.disconnect();
      await store.close();
    },
  };
}

async function adapt(store: OwnStore, functionId: string, start?: Start): Promise<void> {
  const { admission, scheduler } = createProcess(store);
  const partitions = new Set(homesOf(ENV, functionId).map((home) => store.keys.homeOf(home).number));
  for (const partition of partitions) {
    const starting = start ?? ((calls) => scheduler.start(calls));
    await admission.adapt(partition, { env: ENV, functionId, isKnown: true }, starting);
  }
}

/** From then on Redis hears nothing of the process. A pipeline is written as a whole. */
function dieAfter(redis: OwnStore['redis'], commands: number): void {
  const send = redis.sendCommand.bind(redis);
  let left = commands;
  let pipeline: unknown;
  redis.sendCommand = (command, stream) => {
    const isOfPipeline = stream !== undefined && stream === pipeline;
    if (isOfPipeline || left-- > 0) {
      pipeline = stream;
      return send(command, stream);
    }
    command.reject(new Error('the process is dead'));
    return command.promise;
  };
}
