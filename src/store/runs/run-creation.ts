/** The arguments and replies of the scripts that create runs, and the jobs that a worker of this process takes with them. */
import { QUEUE_KEYS, queueKey, RUNS } from '../keys/bullmq.ts';
import { type JobTaker, type Taking, toArguments } from '../redis/job-lists.ts';
import type { PartitionKeyspace } from '../redis/keyspace/keyspace.ts';
import { memberOf } from './active-runs.ts';
import { type Loaded, startOf } from './loaded-run.ts';
import { type NewRun, portionsOf, rowOf } from './run-writing.ts';

/** Keys and arguments of lib/create-runs.lua. */
export interface Creation {
  keys: string[];
  args: (string | number)[];
}

/** Job IDs and run IDs. */
export type CreateReply = [taken?: string[], started?: string[]];

/** Creates runs in a partition.
 *  @param taker the worker that may take some of the jobs
 *  @param send sends the scripts; resolves to undefined if nothing was created
 *  @returns by run ID, the state that each started first call finds; undefined: nothing was created */
export async function createInPartition(
  keys: PartitionKeyspace,
  runs: readonly NewRun[],
  retentionMs: number,
  taker: JobTaker<Loaded> | undefined,
  send: (creations: readonly Creation[]) => Promise<CreateReply[] | undefined>,
): Promise<ReadonlyMap<string, Loaded> | undefined> {
  const jobs = runs.flatMap(({ job }) => job ?? []);
  const taking = jobs.length > 0 ? taker?.begin(jobs) : undefined;
  let taken = new Set<string>();
  const started = new Map<string, Loaded>();
  try {
    const all = await send(creationsOf(keys, runs, retentionMs, taking));
    if (!all) return undefined;
    taken = new Set(all.flatMap(([ids]) => ids ?? []));
    const startedIds = new Set(all.flatMap(([, ids]) => ids ?? []));
    if (taking) {
      for (const run of runs) if (startedIds.delete(run.id)) started.set(run.id, startOf(run, taking.nowMs));
    }
  } finally {
    if (taking)
      taker?.take(
        taking,
        // `runs` may have a run twice: if two requests with the same event ID have each enqueued the event, both are ingested together.
        jobs.filter(({ id }) => taken.delete(id)),
        started,
      );
  }
  return started;
}

function creationsOf(
  keys: PartitionKeyspace,
  runs: readonly NewRun[],
  retentionMs: number,
  taking: Taking | undefined,
): Creation[] {
  let isFirst = true;
  return [...portionsOf(runs)].map((some) => {
    const [{ env, queuedAt }] = some;
    const toAdd = some.flatMap(({ job }) => (job ? toArguments(job) : []));
    const takes = isFirst && taking ? [taking.token, taking.lockMs, taking.jobs] : ['', '', ''];
    if (toAdd.length > 0) isFirst = false;
    return {
      keys: [
        keys.activeRuns,
        keys.activeRunsIn(env),
        keys.offloadedRuns(env),
        queueKey(keys.queues, RUNS, QUEUE_KEYS.waiting),
        keys.heldFunctions(env),
      ],
      args: [
        queuedAt,
        retentionMs,
        memberOf(env, ''),
        keys.run(env, ''),
        keys.eventRuns(env, ''),
        keys.overflowEventRuns(env, ''),
        keys.runIndex(env, 'active', ''),
        JSON.stringify(some.map((run) => rowOf(run, taking?.starting.has(run.id) ? taking.nowMs : undefined))),
        ...(toAdd.length > 0 ? [...takes, ...toAdd] : []),
      ],
    };
  });
}
