/** Group commits: requests that arrive together share one round trip to one partition. While one commit is in flight, the next group
 *  collects. */
import type { MetricsRecorder } from '../../metrics/recorder.ts';
import { type Envelope, toEnvelope } from '../../model/events/event.ts';
import type { Claimed, Deduplication } from '../../store/events/deduplication.ts';
import { toServiceError, unavailable } from '../../store/redis/connection/connection.ts';
import type { Durability, OnDisk } from '../../store/redis/durability/durable-write.ts';
import type { ClaimedEvent, ClaimedJobs } from '../queues/claimed-jobs.ts';
import type { PartitionQueues } from '../queues/partition-queues.ts';
import { INGEST, type IngestJob } from '../queues/queues.ts';
import { whenQuiet } from './commit-timing.ts';
import { claimOf, type PendingEvent } from './pending-event.ts';

/** Maximum number of events per ingest job. */
const JOB_MAX_EVENTS = 500;
/** Approximate maximum of payload bytes per ingest job; a single larger event makes a job by itself. */
const JOB_MAX_BYTES = 1_048_576;
/** Maximum number of commits in flight. One commit would leave Redis idle while its reply travels; more commits would make smaller groups. */
const COMMITS_IN_FLIGHT = 2;
/** Attempts to claim the IDs of a commit before it fails. */
const CLAIMS_MAX = 3;
/** A commit that takes longer no longer counts as in flight if the next one goes to another partition. */
const SLOW_MS = 200;

interface PendingRequest {
  pendingEvents: PendingEvent[];
  resolve: (ids: string[]) => void;
  reject: (error: unknown) => void;
}

export interface GroupCommitDeps {
  deduplication: Deduplication;
  claimedJobs: ClaimedJobs;
  queues: PartitionQueues;
  recorder: MetricsRecorder;
  /** Guarantee (disk, replica) that senders wait for; undefined: only Redis's reply. */
  durability: Durability | undefined;
}

/** Chooses the partition of each commit: always the same one, or each in turn. */
export interface PartitionChooser {
  /** @param events events of one commit; an event without an ID gets one */
  choose(pendingEvents: readonly PendingEvent[]): number;
  isFixed: boolean;
  /** Called after each commit, with its error if it failed. */
  settled(partition: number, error: unknown): void;
}

export class GroupCommit {
  readonly #deps: GroupCommitDeps;
  readonly #partitionChooser: PartitionChooser;
  #pending: PendingRequest[] = [];
  #inFlight = 0;
  #scheduled = false;

  constructor(deps: GroupCommitDeps, partitionChooser: PartitionChooser) {
    this.#deps = deps;
    this.#partitionChooser = partitionChooser;
  }

  /** Commits all events or none.
   *  @returns their internal IDs in the same order
   *  @throws ServiceError unavailable when Redis rejects them */
  add(pendingEvents: PendingEvent[]): Promise<string[]> {
    return new Promise((resolve, reject) => {
      this.#pending.push({ pendingEvents, resolve, reject });
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#scheduled || this.#inFlight >= COMMITS_IN_FLIGHT || this.#pending.length === 0) return;
    this.#scheduled = true;
    const commit = () => {
      this.#scheduled = false;
      void this.#commit();
    };
    whenQuiet(() => this.#pending.length, JOB_MAX_EVENTS, commit);
  }

  async #commit(): Promise<void> {
    const { recorder } = this.#deps;
    const group = this.#takeGroup();
    const pendingEvents = group.flatMap(({ pendingEvents }) => pendingEvents);
    const partition = this.#partitionChooser.choose(pendingEvents);
    const startedAt = performance.now();
    try {
      const onDisk = await this.#writeInFlight(partition, pendingEvents);
      // Other commits proceed meanwhile.
      if (onDisk) await onDisk();
      recorder.eventsCommitted(pendingEvents, performance.now() - startedAt);
      this.#partitionChooser.settled(partition, undefined);
      for (const { pendingEvents, resolve } of group) resolve(pendingEvents.map(({ internalId }) => internalId));
    } catch (error) {
      recorder.commitFailed();
      this.#partitionChooser.settled(partition, error);
      const translated = toServiceError(error);
      for (const { reject } of group) reject(translated);
    }
  }

  async #writeInFlight(partition: number, pendingEvents: PendingEvent[]): Promise<OnDisk | undefined> {
    const { durability } = this.#deps;
    this.#inFlight++;
    let isCounted = true;
    const leave = () => {
      if (!isCounted) return;
      isCounted = false;
      this.#inFlight--;
      this.#schedule();
    };
    const timer = this.#partitionChooser.isFixed ? undefined : setTimeout(leave, SLOW_MS);
    try {
      const onDisk = durability && (await durability.begin(partition));
      await this.#write(partition, pendingEvents);
      return onDisk;
    } finally {
      clearTimeout(timer);
      leave();
    }
  }

  /** Takes whole requests, up to the maximum of a job; a larger request is a group by itself. */
  #takeGroup(): PendingRequest[] {
    let events = 0;
    let end = 0;
    while (end < this.#pending.length) {
      const next = (this.#pending[end] as PendingRequest).pendingEvents.length;
      if (end > 0 && events + next > JOB_MAX_EVENTS) break;
      events += next;
      end++;
    }
    return this.#pending.splice(0, end);
  }

  async #write(partition: number, pendingEvents: PendingEvent[]): Promise<void> {
    const { deduplication } = this.#deps;
    // BullMQ would wait for a connection that was never established; a sender gets its error immediately.
    if (!deduplication.connected) throw unavailable('Redis is not connected');
    let open = pendingEvents;
    for (let turn = 0; open.length > 0; turn++) {
      if (turn === CLAIMS_MAX) throw unavailable('claims of IDs are lost while they are made');
      await this.#claim(open);
      open = await this.#enqueue(partition, open);
    }
  }

  /** @returns events that were not enqueued, because a replaced primary had answered their claims */
  async #enqueue(partition: number, pendingEvents: readonly PendingEvent[]): Promise<PendingEvent[]> {
    const { claimedJobs, queues } = this.#deps;
    const jobs = toJobs(pendingEvents);
    if (pendingEvents.every(({ event }) => event.id === undefined)) {
      const { ingest: queue } = queues.partition(partition);
      const [first] = jobs;
      if (first && jobs.length === 1) await queue.add(INGEST, dataOf(first));
      else await queue.addBulk(jobs.map((job) => ({ name: INGEST, data: dataOf(job) })));
      return [];
    }
    const added = await Promise.all(jobs.map((job) => claimedJobs.add(partition, dataOf(job), claimedBy(job))));
    return jobs.flatMap((job, i) => (added[i] ? [] : job.map(({ pending }) => pending)));
  }

  /** Gives each event with a deduplication ID the internal ID of the first event that carried it. */
  async #claim(pendingEvents: PendingEvent[]): Promise<void> {
    const identified = pendingEvents.filter(({ event }) => event.id !== undefined);
    if (identified.length === 0) return;
    const claimed = await this.#deps.deduplication.claim(identified.map(claimOf));
    const seen = new Set<string>();
    identified.forEach((pending, i) => {
      const { internalId, repeat } = claimed[i] as Claimed;
      // The group is enqueued as a whole, so the second of two equal events is the repeat.
      Object.assign(pending, { internalId, repeat: repeat || seen.has(internalId) });
      seen.add(internalId);
    });
  }
}

/** An event as it is enqueued. */
interface Enqueued {
  pending: PendingEvent;
  envelope: Envelope;
}

/** Each job holds events of one environment, so that an environment whose events stall workers does not delay others. */
function toJobs(pendingEvents: readonly PendingEvent[]): Enqueued[][] {
  const byEnvironment = Map.groupBy(pendingEvents, ({ request }) => request.env);
  return [...byEnvironment.values()].flatMap((some) => toJobsOfEnvironment(some.map(toEnqueued)));
}

function toEnqueued(pending: PendingEvent): Enqueued {
  const { event, internalId, repeat, index, request } = pending;
  return {
    pending,
    envelope: {
      ...toEnvelope(event, { ...request, internalId, index }),
      ...(repeat && { repeat }),
      ...(request.trace && { trace: request.trace }),
    },
  };
}

function toJobsOfEnvironment(all: readonly Enqueued[]): Enqueued[][] {
  const jobs: Enqueued[][] = [];
  let bytes = 0;
  for (const enqueued of all) {
    const last = jobs.at(-1);
    const { length } = enqueued.envelope.payload;
    bytes += length;
    if (last && last.length < JOB_MAX_EVENTS && bytes <= JOB_MAX_BYTES) {
      last.push(enqueued);
    } else {
      jobs.push([enqueued]);
      bytes = length;
    }
  }
  return jobs;
}

function dataOf(job: readonly Enqueued[]): IngestJob {
  return { events: job.map(({ envelope }) => envelope) };
}

/** Lists each ID once: a second event of the job with it is a repeat of the first. */
function claimedBy(job: readonly Enqueued[]): ClaimedEvent[] {
  const byId = new Map<string, ClaimedEvent>();
  for (const { pending } of job) {
    if (pending.event.id === undefined || byId.has(pending.event.id)) continue;
    byId.set(pending.event.id, { ...claimOf(pending), repeat: pending.repeat === true });
  }
  return [...byId.values()];
}
