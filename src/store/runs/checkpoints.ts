/** Checkpoints: steps that finish while a call, or an endpoint's request, is in flight. The run then continues with its owner, recorded
 *  in the run's field `checkpoint` (run-record.ts). */
import { MAX_STATE_BYTES, MAX_STEPS } from '../../model/runs/memo.ts';
import type { HistoryEntry, Run } from '../../model/runs/run.ts';
import { Grouped } from '../redis/grouped.ts';
import type { PartitionKeyspace } from '../redis/keyspace/keyspace.ts';
import { Repository } from '../redis/repository.ts';
import { memberOf } from './active-runs.ts';
import { encodeHistoryEntry } from './history-entries.ts';
import { readError } from './run-record.ts';

/** The owner while an endpoint's own request executes the run. */
export const ENDPOINT = 'endpoint';

export interface FinishedStep {
  id: string;
  /** JSON text. */
  memo: string;
  /** undefined if it is already in the history. */
  entry?: HistoryEntry | undefined;
}

/** Who may store steps and continue the run. */
export interface Owner {
  /** The number of finished steps that the call was made for, or another name. */
  name: string;
  /** The job of a call, and its number of executions: an earlier execution no longer owns the run. */
  job?: { key: string; executions: number };
  /** Time of the next reconciliation, Unix milliseconds. */
  reconcileAt: number;
}

export type CheckpointOutcome =
  | { outcome: 'stored'; stackLength: number; run: StoredRun }
  | { outcome: 'steps' | 'bytes' | 'stale' | 'ended' | 'gone' };

/** The data of a run that live updates need. */
type StoredRun = Pick<Run, 'env' | 'id' | 'functionId' | 'eventId' | 'queuedAt' | 'startedAt' | 'replayId' | 'error'>;

/** The steps of one run, as store-memos.lua takes them. */
interface StepsToStore {
  keys: [run: string, job: string];
  args: (string | number)[];
  /** Approximate characters. */
  length: number;
}

type StoreReply = [
  outcome: CheckpointOutcome['outcome'],
  stackLength: number,
  functionId: string,
  eventId: string,
  queuedAt: string,
  startedAt: string | null,
  replayId: string | null,
  error: string | null,
];

export class Checkpoints extends Repository {
  /** Groups the checkpoints of calls that arrive together. */
  readonly #grouped = new Map<PartitionKeyspace, Grouped<StepsToStore, StoreReply>>();

  /** Stores the results of all steps, or of none. An earlier memo of a step is kept.
   *  @param owner undefined: the steps came with the response to a call
   *  @param race the results are in race mode: the run continues although other steps are pending */
  async store(
    env: string,
    runId: string,
    steps: readonly FinishedStep[],
    owner?: Owner,
    race = false,
  ): Promise<CheckpointOutcome> {
    const keys = this.keys.of(runId);
    const run = keys.run(env, runId);
    const { name = '', job, reconcileAt = '' } = owner ?? {};
    const args = [steps.length, name, job?.executions ?? '', memberOf(env, runId), reconcileAt, +race];
    let length = 0;
    for (const { id, memo, entry } of steps) {
      const text = entry ? encodeHistoryEntry(entry) : '';
      args.push(id, memo, text);
      length += memo.length + text.length;
    }
    const request: StepsToStore = { keys: [run, job?.key ?? run], args, length };
    const [reply] = owner ? [await this.#groupedIn(keys).add(request)] : await this.#send(keys, [request]);
    return toOutcome(env, runId, reply as StoreReply);
  }

  #groupedIn(keys: PartitionKeyspace): Grouped<StepsToStore, StoreReply> {
    const known = this.#grouped.get(keys);
    if (known) return known;
    const grouped = new Grouped<StepsToStore, StoreReply>((requests) => this.#send(keys, requests));
    this.#grouped.set(keys, grouped);
    return grouped;
  }

  /** @param requests runs of one partition */
  async #send({ activeRuns }: PartitionKeyspace, requests: readonly StepsToStore[]): Promise<StoreReply[]> {
    const keys = [activeRuns, ...requests.flatMap((request) => request.keys)];
    const args = requests.flatMap((request) => request.args);
    return (await this.redis.storeMemos(keys.length, ...keys, MAX_STEPS, MAX_STATE_BYTES, ...args)) as StoreReply[];
  }

  /** Ends the ownership, so that another call can continue the run. Repeating it has no further effect, but returns undefined.
   *  @returns the number of finished steps; undefined if the owner has stored none since it began, or no longer owns the run */
  async handOver(env: string, runId: string, owner: string): Promise<number | undefined> {
    const length = (await this.redis.handOver(this.keys.of(runId).run(env, runId), owner)) as number | null;
    return length ?? undefined;
  }
}

function toOutcome(env: string, id: string, reply: StoreReply): CheckpointOutcome {
  const [outcome, stackLength, functionId, eventId, queuedAt, startedAt, replayId, error] = reply;
  if (outcome !== 'stored') return { outcome };
  const run: StoredRun = { env, id, functionId, eventId, queuedAt: Number(queuedAt) };
  if (startedAt) run.startedAt = Number(startedAt);
  if (replayId) run.replayId = replayId;
  if (error !== null) run.error = readError(error);
  return { outcome, stackLength, run };
}
