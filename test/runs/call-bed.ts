/** Calls of runs on the real Redis, without a service: a test takes the jobs itself, responds for the app, and lets the process die before any command. */
import { setImmediate } from 'node:timers/promises';
import type { Job } from 'bullmq';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { baseParts } from '../../src/composition/base.ts';
import { Container } from '../../src/composition/container.ts';
import { INGESTION } from '../../src/composition/ingestion.ts';
import { RUN_SERVICES } from '../../src/composition/runs.ts';
import { readConfig } from '../../src/config.ts';
import type { CallContext } from '../../src/functions/call-request.ts';
import type { Outcome } from '../../src/functions/interpret-response.ts';
import { JOB_RETENTION, RUNS, type RunJob, readCallJob, type StoredCallJob } from '../../src/jobs/queues/queues.ts';
import { call } from '../../src/jobs/runs/calls/call-job.ts';
import { isJobOutcome } from '../../src/jobs/runs/calls/service-errors.ts';
import { reconciliation } from '../../src/jobs/runs/scheduling/reconcile.ts';
import { wake } from '../../src/jobs/runs/steps/wake-job.ts';
import { createLog } from '../../src/log.ts';
import { NOOP_RECORDER } from '../../src/metrics/recorder.ts';
import type { AppFunction } from '../../src/model/apps/app.ts';
import type { Envelope } from '../../src/model/events/event.ts';
import { RUN_PAUSED } from '../../src/model/events/lifecycle.ts';
import { newId } from '../../src/model/ids.ts';
import type { Op } from '../../src/model/runs/operation.ts';
import type { HistoryEntry, Run } from '../../src/model/runs/run.ts';
import type { JobEnd, JobTaker, WaitingJob } from '../../src/store/redis/job-lists.ts';
import type { Loaded } from '../../src/store/runs/loaded-run.ts';
import { createStore } from '../../src/store/store.ts';
import { JobEnds, jobOf } from '../../src/workers/job-ends.ts';
import { WatchedWorker } from '../../src/workers/watched-worker.ts';
import { envelope } from '../support/own-store.ts';
import { deleteKeys, findKeys, freshPrefix, redisUrl } from '../support/redis.ts';

const ENV = 'production';
const TOKEN = 'token-of-the-test';
const RETRIES = 1;
const functionOf = (id: string, triggers: AppFunction['triggers'] = []) =>
  ({
    ...{ id, app: 'shop', name: id, url: 'http://localhost', triggers, cancel: [], archived: false },
    config: {},
    retries: RETRIES,
  }) as unknown as AppFunction;
const FUNCTION = functionOf('shop-pay');
/** A function that another may invoke. */
export const INVOKED = functionOf('shop-bill');
/** Its runs pause after their only attempt. */
export const PAUSING = { ...functionOf('shop-renew'), retries: 0, onExhausted: 'pause' } as AppFunction;
/** Its limits concern only the starts of its runs. */
export const LIMITED = {
  ...functionOf('shop-pack'),
  config: { concurrency: { fn: [{ limit: 100 }] }, throttle: { limit: 100, period: '1s' } },
} as AppFunction;
/** It listens to pauses. */
const LISTENING = functionOf('shop-tell', [{ event: RUN_PAUSED }]);
/** It ticks each second. */
export const TICKING = functionOf('shop-remind', [{ cron: '* * * * * *' }]);
const LIVES = Number.POSITIVE_INFINITY;

/** Responds to a call as an app would. */
export type App = (call: CallContext, checkpoint: Checkpoint) => Outcome | Promise<Outcome>;
/** Stores finished steps while the call is in flight. */
export type Checkpoint = (ops: Op[]) => Promise<void>;

export interface RunOptions {
  fn?: AppFunction;
  /** Whether its first call starts as it is created. */
  startsAtOnce?: boolean;
  resumes?: boolean;
  /** Name of an event that is sent once the run waits for one: also when the process has just died. */
  answer?: string;
}

/** What has become of a run. */
export interface Ended {
  run: Run;
  history: HistoryEntry[];
  /** Commands that its calls sent before the process died, or in all. */
  commands: number;
  jobsLeft: number;
  /** Number of events, by their IDs, that tell of a pause of the run. */
  pausesTold: number;
  /** Names of events that have runs and are in no list. */
  unlisted: string[];
}

/** The connection of a process that may die: from then on it sends nothing and gets no response. */
class MortalRedis extends Redis {
  commandsLeft = LIVES;
  sent = 0;
  readonly #death = Promise.withResolvers<'died'>();
  readonly death = this.#death.promise;

  override sendCommand(...args: Parameters<Redis['sendCommand']>): unknown {
    if (this.commandsLeft === 0) {
      this.#death.resolve('died');
      return new Promise(() => {});
    }
    this.commandsLeft--;
    this.sent++;
    return super.sendCommand(...args);
  }
}

/** The parts of one process that handle jobs of runs. */
async function startProcess(prefix: string) {
  const config = readConfig({ MODE: 'dev', KEY_PREFIX: prefix, REDIS_URL: redisUrl(), RETRY_SCALE: '0' });
  const redis = new MortalRedis(redisUrl(), { maxRetriesPerRequest: null });
  const store = createStore(redis as never, config);
  await store.partitions.read();
  const core = {
    ...{ kind: 'worker' as const, config, log: createLog('silent', 'test'), recorder: NOOP_RECORDER },
    ...{ tracing: undefined, metrics: undefined, metricsServer: undefined, runCounts: undefined },
  };
  const queueOptions = { connection: redis as never, skipVersionCheck: true };
  const deps = new Container({ ...baseParts(core, store), queueOptions, durability: undefined })
    .with(INGESTION)
    .with(RUN_SERVICES).parts;
  return { redis, store, deps };
}

type Process = Awaited<ReturnType<typeof startProcess>>;

/** A round of the reconciler at this time. */
async function reconcileAt(deps: Process['deps'], timeMs: number): Promise<void> {
  const then = Object.create(deps, { clock: { value: () => timeMs }, log: { value: createLog('silent', 'test') } });
  await reconciliation.rounds(then)({ partition: 0, signal: new AbortController().signal });
}

/** Runs jobs of a function, in processes that die when the test says. */
export async function createCallBed() {
  const prefix = freshPrefix();
  const observer = await startProcess(prefix);
  const { store, deps } = observer;
  await store.functions.replaceForApp(ENV, 'shop', [FUNCTION, INVOKED, PAUSING, LIMITED, LISTENING, TICKING], 1_000);
  const queuePrefix = deps.queues.prefixOf(0);
  const connection = new Redis(redisUrl(), { maxRetriesPerRequest: null });
  const worker = new WatchedWorker<RunJob>(RUNS, null, {
    ...{ connection: connection as never, prefix: queuePrefix, skipVersionCheck: true },
    ...JOB_RETENTION[RUNS],
    settings: { backoffStrategy: () => 0 },
  });
  const jobEnds = new JobEnds(worker, store.jobLists);
  const queue = deps.queues.partition(0).runs;

  /** Creates a run whose first call is scheduled, or has started. */
  async function start({ id: functionId, app, retries }: AppFunction, startsAtOnce: boolean) {
    const event = envelope({ name: 'order/paid' });
    const stored = await store.events.storeNew([event]);
    const { internalId: eventId, requestId, receivedAt: queuedAt } = event;
    const created = { id: newId(), env: ENV, functionId, eventId, requestId, queuedAt };
    const { id: runId, ...ref } = created;
    const call = { ref: { runId, ...ref }, finishedSteps: 0, retries };
    const owner = { env: ENV, branch: false, app };
    const job = startsAtOnce
      ? { ...((await deps.scheduler.waitingCall(call)) as WaitingJob), owner, event }
      : undefined;
    let first: { job: Job<RunJob>; started: Loaded } | undefined;
    const taker: JobTaker<Loaded> = {
      begin: () => ({ token: TOKEN, lockMs: 30_000, jobs: 1, nowMs: queuedAt, starting: new Map([[runId, owner]]) }),
      take(_taking, [taken], started) {
        const { name, data, options: opts } = taken as WaitingJob;
        const job = worker.takenJob(jobOf(runId, { name, data, opts }, queuedAt), runId, TOKEN) as Job<RunJob>;
        expect(started.has(runId), 'its call has started').to.equal(true);
        first = { job, started: started.get(runId) as Loaded };
      },
    };
    await store.runs.create([{ ...created, reconcileAt: queuedAt + 60_000, job }], () => taker);
    await store.events.markIngested(stored, queuedAt);
    if (!job) await deps.scheduler.enqueueCalls([call]);
    return { id: runId, queuedAt, first };
  }

  async function nextJob(): Promise<Job<RunJob> | undefined> {
    for (const delayed of await queue.getDelayed()) await delayed.promote();
    return worker.getNextJob(TOKEN, { block: false });
  }

  async function unlistedEvents(): Promise<string[]> {
    const ids: string[] = [];
    for (const key of await findKeys(store.redis, prefix, /:event-runs:/)) {
      const slice = key.slice(key.lastIndexOf(':') + 1);
      ids.push(...(await store.redis.hkeys(key)).map((rest) => slice + rest));
    }
    const events = await store.events.readMany(ENV, ids);
    const listed = await Promise.all(
      events.map(({ name, internal_id }) => store.events.isIngested(ENV, name, internal_id)),
    );
    return events.flatMap(({ name }, i) => (listed[i] ? [] : [name]));
  }

  async function pausesTold(runId: string): Promise<number> {
    const jobs = await deps.queues.partition(0).ingest.getJobs();
    const accepted = jobs.flatMap(({ data }) => (data as unknown as { events: Envelope[] }).events);
    const isTold = ({ name, payload }: Envelope) => name === RUN_PAUSED && JSON.parse(payload).data.run_id === runId;
    return new Set(accepted.filter(isTold).map(({ internalId }) => internalId)).size;
  }

  /** The lock of a job whose worker has died expires, and another worker takes the job, after those that wait. */
  async function takeOver({ id = '' }: Job): Promise<void> {
    const key = (name: string) => `${queuePrefix}:${RUNS}:${name}`;
    await connection
      .multi()
      .del(key(`${id}:lock`))
      .lrem(key('active'), 1, id)
      .lpush(key('wait'), id)
      .exec();
  }

  return {
    /** Works on a run until it has no jobs, and reconciles it at these times.
     *  @param diesAfter commands of its calls and reconciliations, in all, after which a new process dies; the one that all runs share takes over
     *  @param resumes of PAUSING: once it is paused, it is resumed */
    async run(
      app: App,
      diesAfter = LIVES,
      reconciledAfterMs: readonly number[] = [],
      { fn = FUNCTION, startsAtOnce = false, resumes = false, answer }: RunOptions = {},
    ): Promise<Ended> {
      const { id, queuedAt, first } = await start(fn, startsAtOnce);
      let process = await startProcess(prefix);
      let commandsLeft = diesAfter;
      let commands = 0;
      let toSend = answer;
      const answerIfWaiting = async () => {
        const { pending } = await store.steps.progress(ENV, id);
        if (toSend === undefined || pending.size === 0) return;
        const stored = await store.events.storeNew([envelope({ name: toSend })]);
        toSend = undefined;
        await store.events.markIngested(stored, Date.now());
        await deps.waitMatcher.matchEvents(stored.map(({ event }) => event));
      };
      /** @returns what the work does; 'died': the process did */
      const tried = async <T>(work: (process: Process) => Promise<T>): Promise<T | 'died'> => {
        const before = process.redis.sent;
        process.redis.commandsLeft = commandsLeft;
        const outcome = await Promise.race([work(process), process.redis.death]);
        const sent = process.redis.sent - before;
        commands += sent;
        commandsLeft -= sent;
        if (outcome === 'died') {
          process.redis.disconnect();
          process = observer;
          commandsLeft = LIVES;
          await answerIfWaiting();
        }
        return outcome;
      };
      const workOn = async (job: Job<RunJob>, started?: Loaded) => {
        const end = jobEnds.of(job);
        const begin = () => ({ ...end.begin(), takesNext: false });
        const outcome = await tried((process) => handle(job, process, app, { ...end, begin }, started));
        if (outcome === 'died') await takeOver(job);
        else if (outcome) await job.moveToFailed(outcome, TOKEN, false);
        else await job.moveToCompleted(null, TOKEN, false);
      };
      const workOff = async () => {
        for (let job = await nextJob(); job; job = await nextJob()) await workOn(job);
      };
      if (first) await workOn(first.job, first.started);
      await workOff();
      await answerIfWaiting();
      await workOff();
      while (resumes && (await store.runs.read(ENV, id))?.pause) {
        await tried(({ deps }) => deps.retries.resume(ENV, id, queuedAt));
        await workOff();
      }
      for (const afterMs of reconciledAfterMs) {
        const reconcile = ({ deps }: Process) => reconcileAt(deps, queuedAt + afterMs);
        while ((await tried(reconcile)) === 'died');
        await workOff();
      }
      if (process !== observer) process.redis.disconnect();
      const jobsLeft = await queue.getJobCountByTypes('wait', 'active', 'delayed', 'prioritized');
      const run = (await store.runs.read(ENV, id)) as Run;
      const history = await store.runParts.read(ENV, id, 'history');
      return { run, history, commands, jobsLeft, unlisted: await unlistedEvents(), pausesTold: await pausesTold(id) };
    },

    /** A process works, and dies after so many commands.
     *  @returns the commands that it sent */
    async work(work: (deps: Process['deps']) => Promise<unknown>, diesAfter = LIVES): Promise<number> {
      const { redis, deps } = await startProcess(prefix);
      const before = redis.sent;
      redis.commandsLeft = diesAfter;
      await Promise.race([work(deps), redis.death]);
      redis.disconnect();
      return redis.sent - before;
    },

    unlistedEvents,

    async close(): Promise<void> {
      await worker.close();
      observer.redis.disconnect();
      await deleteKeys(connection as never, prefix);
      connection.disconnect();
      await setImmediate();
    },
  };
}

/** @returns the error that BullMQ is told; undefined: the job is done */
async function handle(
  job: Job<RunJob>,
  { deps }: Process,
  app: App,
  end: JobEnd,
  started?: Loaded,
): Promise<Error | undefined> {
  const { data, attemptsMade, attemptsStarted, opts } = job;
  const before = data.kind === 'call' ? (data.attemptsBefore ?? 0) : 0;
  const attempts = { made: before + attemptsMade, max: before + (opts.attempts ?? 1), executions: attemptsStarted };
  try {
    if (data.kind === 'wake') await wake(data, attempts, deps);
    else
      await call(
        readCallJob(data as StoredCallJob),
        job.timestamp,
        attempts,
        Object.assign(Object.create(deps), appSide(data.runId, deps, app)),
        { jobEnd: end, started },
      );
    return undefined;
  } catch (error) {
    if (isJobOutcome(error)) return error as Error;
    throw error;
  }
}

function appSide(runId: string, { callCheckpoints }: Process['deps'], app: App) {
  const respond = (_: AppFunction, context: CallContext) =>
    app(context, (ops) =>
      callCheckpoints.store(
        runId,
        { env: ENV, finishedSteps: context.finishedSteps, executions: context.executions } as never,
        ops,
      ),
    );
  return {
    functionClient: { call: async (...args: Parameters<typeof respond>) => respond(...args) },
    connectCaller: { finish: async () => {} },
  };
}

export type CallBed = Awaited<ReturnType<typeof createCallBed>>;
