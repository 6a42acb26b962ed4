/** Accepts events: from a valid request to a job in Redis (group-commit.ts). A sender gets its response once Redis has stored its events,
 *  or has failed to. An event with a deduplication ID goes to the partition of that ID, and a seeded event to the partition of its seed.
 *  All others are spread over the partitions in turn. A partition that rejects events is skipped for a moment. */

import { ServiceError } from '../../errors.ts';
import type { Event } from '../../model/events/event.ts';
import { newId, seededId } from '../../model/ids.ts';
import type { PartitionLayout } from '../../model/partitions/layout.ts';
import type { PartitionedIds } from '../../model/partitions/partitioned-ids.ts';
import { Composed } from '../../model/values/composed.ts';
import type { Partitions } from '../../store/redis/keyspace/partitions.ts';
import { GroupCommit, type GroupCommitDeps } from './group-commit.ts';
import { type AcceptRequest, claimOf, type PendingEvent } from './pending-event.ts';

/** Maximum number of unanswered events; further requests are rejected. */
const UNANSWERED_MAX = 50_000;
/** Commits go to the same partition for this long, or up to this many events: a worker that finds jobs together needs fewer round trips
 *  for each. */
const PARTITION_MS = 100;
const PARTITION_EVENTS = 200;
/** How long a partition that rejected a commit is skipped. */
const SKIPPED_MS = 1_000;

export interface AcceptorDeps extends GroupCommitDeps {
  partitions: Partitions;
}

export class Acceptor extends Composed<AcceptorDeps> {
  /** One per partition. */
  readonly #commits: GroupCommit[] = [];
  readonly #roundRobin = new GroupCommit(this.deps, {
    choose: (pendingEvents) => this.#assignIds(pendingEvents),
    isFixed: false,
    settled: (partition, error) => this.#settled(partition, error),
  });
  /** Includes events of commits in flight. */
  #unanswered = 0;
  #currentPartition = 0;
  #partitionUntil = 0;
  /** Events committed in this turn. */
  #committedHere = 0;
  /** The time at which the last commit to a partition failed (performance.now()), by partition. */
  readonly #failedAt: number[] = [];

  /** Events of requests that have no response yet. */
  get unansweredEvents(): number {
    return this.#unanswered;
  }

  /** Accepts valid events, all or none.
   *  @returns their internal IDs in the same order
   *  @throws ServiceError unavailable when Redis rejects them, overloaded when too many are unanswered */
  async accept(events: readonly Event[], request: AcceptRequest): Promise<string[]> {
    if (events.length === 0) return [];
    if (this.#unanswered > UNANSWERED_MAX) throw new ServiceError('overloaded', { retryAfterSeconds: 1 });
    const { layout, ids } = this.deps.partitions;
    return this.#commit(
      events.map((event, index) => ({ event, index, request, internalId: idFor(layout, ids, event, request, index) })),
      layout,
    );
  }

  /** Accepts an event under a given ID. Idempotent.
   *  @param index of the event in its request
   *  @returns that ID, or the ID of an earlier event with the same deduplication ID */
  async acceptWithId(event: Event, internalId: string, request: AcceptRequest, index = 0): Promise<string> {
    const [id] = await this.#commit([{ event, internalId, index, request }], this.deps.partitions.layout);
    return id as string;
  }

  /** Accepts events under given IDs, all or none. Idempotent.
   *  @returns for each that ID, or the ID of an earlier event with the same deduplication ID */
  async acceptWithIds(
    events: readonly { event: Event; internalId: string }[],
    request: AcceptRequest,
  ): Promise<string[]> {
    if (this.#unanswered > UNANSWERED_MAX) throw new ServiceError('overloaded', { retryAfterSeconds: 1 });
    return this.#commit(
      events.map((event, index) => ({ ...event, index, request })),
      this.deps.partitions.layout,
    );
  }

  /** Writes events that are stored without `accept`. Resolves once the writes of `write` are as durable as accepted events.
   *  @throws ServiceError unavailable when they are not */
  async writeDurably<T>(write: () => Promise<T>): Promise<T> {
    const { durability } = this.deps;
    return durability ? durability.during(write, 'all') : write();
  }

  /** Resolves once a replica has the writes of `write`, because the writes that follow may be in another partition.
   *  @throws ServiceError unavailable when it does not */
  async writeReplicated<T>(write: () => Promise<T>): Promise<T> {
    const { durability } = this.deps;
    return durability?.isReplicated ? durability.during(write, 'partitions') : write();
  }

  /** Runs `work` once the surrounding writes are durable (Durability). */
  async afterwards(work: () => Promise<unknown>): Promise<void> {
    const { durability } = this.deps;
    await (durability ? durability.afterwards(work) : work());
  }

  async #commit(pendingEvents: PendingEvent[], layout: PartitionLayout): Promise<string[]> {
    this.#unanswered += pendingEvents.length;
    try {
      if (layout.count === 1) return await this.#commitsTo(0).add(pendingEvents);
      await this.#claimRemotely(pendingEvents, layout);
      const free = pendingEvents.filter(({ internalId }) => internalId === '');
      const identified = pendingEvents.filter(({ internalId }) => internalId !== '');
      const byPartition = Map.groupBy(identified, ({ internalId }) => layout.partitionOf(internalId));
      await Promise.all([...byPartition].map(([partition, some]) => this.#commitsTo(partition).add(some)));
      // These events come last, because a repeated request would double events without a deduplication ID.
      if (free.length > 0) await this.#roundRobin.add(free);
      return pendingEvents.map(({ internalId }) => internalId);
    } finally {
      this.#unanswered -= pendingEvents.length;
    }
  }

  #commitsTo(partition: number): GroupCommit {
    this.#commits[partition] ??= new GroupCommit(this.deps, {
      choose: () => partition,
      isFixed: true,
      settled: (_, error) => this.#settled(partition, error),
    });
    return this.#commits[partition];
  }

  /** An earlier event with the same deduplication ID may be in another partition: after a change of the layout, or because it already had
   *  its internal ID. Its claim is kept, and the event goes to the partition of the ID in it. */
  async #claimRemotely(pendingEvents: readonly PendingEvent[], layout: PartitionLayout): Promise<void> {
    const now = Date.now();
    const identified = pendingEvents.flatMap((pending) => {
      const { event, request } = pending;
      if (event.id === undefined) return [];
      return [{ pending, partitions: layout.claimHomesOf(homeText(request.env, event.id), now) }];
    });
    const rounds = identified.reduce((most, { partitions }) => Math.max(most, partitions.length), 0);
    for (let round = 0; round < rounds; round++) {
      const remote = identified.flatMap(({ pending, partitions }) => {
        const partition = partitions[round];
        // In the last round the commit claims the ID itself, unless the event belongs to another partition.
        const isCommitted = round === partitions.length - 1 && partition === layout.partitionOf(pending.internalId);
        return partition === undefined || isCommitted ? [] : [{ pending, claim: { ...claimOf(pending), partition } }];
      });
      if (remote.length === 0) continue;
      const claims = remote.map(({ claim }) => claim);
      const claimed = await this.writeReplicated(() => this.deps.deduplication.claimIn(claims));
      for (const [i, { pending }] of remote.entries()) pending.internalId = claimed[i] as string;
    }
  }

  /** Gives the events of a commit IDs in the next partition. */
  #assignIds(pendingEvents: readonly PendingEvent[]): number {
    const now = Date.now();
    const earliest = pendingEvents.reduce((least, { request }) => Math.min(least, request.receivedAt), now);
    const { layout, ids } = this.deps.partitions;
    const count = layout.countAt(earliest);
    if (
      now >= this.#partitionUntil ||
      this.#committedHere >= PARTITION_EVENTS ||
      this.#isSkipped(this.#currentPartition)
    ) {
      this.#committedHere = 0;
      this.#currentPartition = this.#next(count);
      this.#partitionUntil = now + PARTITION_MS;
    }
    // Requests from just before a change of the layout stay within the earlier partitions.
    const partition = this.#currentPartition % count;
    this.#committedHere += pendingEvents.length;
    for (const pending of pendingEvents)
      pending.internalId = ids.inPartition(newId(pending.request.receivedAt), partition);
    return partition;
  }

  #next(count: number): number {
    for (let step = 1; step < count; step++) {
      const partition = (this.#currentPartition + step) % count;
      if (!this.#isSkipped(partition)) return partition;
    }
    return (this.#currentPartition + 1) % count;
  }

  #isSkipped(partition: number): boolean {
    const failedAt = this.#failedAt[partition];
    return failedAt !== undefined && performance.now() - failedAt < SKIPPED_MS;
  }

  #settled(partition: number, error: unknown): void {
    if (error !== undefined) this.#failedAt[partition] = performance.now();
    else if (this.#failedAt[partition] !== undefined) delete this.#failedAt[partition];
  }
}

/** @returns '' if any partition may take the event */
function idFor(
  layout: PartitionLayout,
  ids: PartitionedIds,
  event: Event,
  { env, seed, receivedAt }: AcceptRequest,
  index: number,
): string {
  if (seed) return seededId(seed, index + 1);
  if (layout.count === 1) return newId(receivedAt);
  return event.id === undefined
    ? ''
    : ids.inPartition(newId(receivedAt), layout.homeOf(homeText(env, event.id), receivedAt));
}

function homeText(env: string, id: string): string {
  return `${env}/${id}`;
}
