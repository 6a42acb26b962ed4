/** Ingest jobs of events with deduplication IDs. One script checks the claims and adds the job, so that the job and the claims are in the
 *  same place: a replaced primary may have answered the claims before it returns, while its successor gets the job. */
import { Job, type RedisQueueBackend } from 'bullmq';
import { addStandardJob } from 'bullmq/dist/cjs/scripts/addStandardJob-9.js';
import { type Claimed, ENQUEUED } from '../../store/events/deduplication.ts';
import type { Redis } from '../../store/redis/connection/connection.ts';
import { readScript } from '../../store/redis/connection/script-source.ts';
import type { Keyspace, PartitionKeyspace } from '../../store/redis/keyspace/keyspace.ts';
import type { PartitionQueues } from './partition-queues.ts';
import { INGEST, type IngestJob } from './queues.ts';

const COMMAND = 'addClaimedJob';
/** Number of BullMQ's arguments after its keys. */
const BULLMQ_ARGS = 3;

export interface ClaimedEvent extends Claimed {
  env: string;
  id: string;
}

type Argument = string | number | Buffer;
/** Runs BullMQ's script with these arguments. */
interface ScriptRunner {
  runCommand(name: string, args: Argument[]): Promise<unknown>;
}

export class ClaimedJobs {
  readonly #redis: Redis & { [COMMAND]?: (...args: Argument[]) => Promise<unknown> };
  readonly #keys: Keyspace;
  readonly #queues: PartitionQueues;

  constructor(redis: Redis, keys: Keyspace, queues: PartitionQueues) {
    redis.defineCommand(COMMAND, { lua: script() });
    this.#redis = redis;
    this.#keys = keys;
    this.#queues = queues;
  }

  /** @param events events of the job with deduplication IDs, as claimed in this partition
   *  @returns false if a claim has changed, and the job was not added */
  async add(partition: number, data: IngestJob, events: readonly ClaimedEvent[]): Promise<boolean> {
    const { ingest: queue } = this.#queues.partition(partition);
    const checking: ScriptRunner = {
      runCommand: (_name, args) => this.#addIfClaimed(args, this.#keys.partition(partition), events),
    };
    const job = new Job(queue, INGEST, data, queue.jobsOpts);
    const backend = queue.getBackend() as unknown as RedisQueueBackend;
    return (await backend.addJobToTransaction(checking as never, job.asJSON(), undefined as never)) !== null;
  }

  #addIfClaimed(args: readonly Argument[], keys: PartitionKeyspace, events: readonly ClaimedEvent[]): Promise<unknown> {
    const claims = events.map(({ env, id }) => keys.deduplication(env, id));
    const allKeys = [...args.slice(0, addStandardJob.keys), ...claims];
    const expected = events.flatMap(({ internalId, repeat }) => [internalId, repeat ? 1 : 0]);
    const add = this.#redis[COMMAND] as (...args: Argument[]) => Promise<unknown>;
    return add.call(this.#redis, allKeys.length, ...allKeys, ...args.slice(addStandardJob.keys), ...expected);
  }
}

function script(): string {
  const constants = `local BULLMQ_KEYS, BULLMQ_ARGS, ENQUEUED = ${addStandardJob.keys}, ${BULLMQ_ARGS}, '${ENQUEUED}'\n`;
  return constants + readScript('events/lua/check-claims.lua') + addStandardJob.content;
}
