/** Accepts events: from a valid request to a job in Redis. Requests that arrive together share one round trip (group
 *  commit): while one commit is in flight, the next group collects. A sender gets its answer once Redis has its events,
 *  or has failed to take them. */
import { ServiceError } from '../../errors.ts';
import type { MetricsRecorder } from '../../metrics/recorder.ts';
import { type Envelope, type Event, type Source, toEnvelope } from '../../model/events/event.ts';
import { newId, type Seed, seededId } from '../../model/ids.ts';
import type { Claim, Claimed, Deduplication } from '../../store/events/deduplication.ts';
import { translateAway, unavailable } from '../../store/redis/connection.ts';
import type { Durability, OnDisk } from '../../store/redis/durability.ts';
import { INGEST, type IngestJob, type IngestQueue } from '../queues/queues.ts';
import { whenGathered } from './group-gathering.ts';

/** Most events of one ingest job. */
const JOB_MAX_EVENTS = 500;
/** Most bytes of payloads of one ingest job, roughly; a single larger event makes a job of its own. */
const JOB_MAX_BYTES = 1_048_576;
/** Commits in flight at once. One would leave Redis idle while its answer travels; more would make smaller groups. */
const COMMITS_IN_FLIGHT = 2;
/** Unanswered events above which further requests are rejected. */
const UNANSWERED_MAX = 50_000;

/** The provenance of the events of one request. */
export interface AcceptRequest {
  env: string;
  source: Source;
  requestId: string;
  /** Unix milliseconds. */
  receivedAt: number;
  seed?: Seed | undefined;
  /** The span of the request, when it is recorded. */
  trace?: string;
}

interface Draft {
  event: Event;
  internalId: string;
  repeat?: boolean;
  index: number;
  request: AcceptRequest;
}

interface PendingRequest {
  drafts: Draft[];
  resolve: (ids: string[]) => void;
  reject: (error: unknown) => void;
}

export interface AcceptorDeps {
  deduplication: Deduplication;
  queue: IngestQueue;
  recorder: MetricsRecorder;
  /** What an answer waits for beside Redis's own; undefined: nothing. */
  durability: Durability | undefined;
}

export class Acceptor {
  readonly #deps: AcceptorDeps;
  #pending: PendingRequest[] = [];
  /** Includes the events of commits in flight. */
  #unanswered = 0;
  #inFlight = 0;
  #scheduled = false;

  constructor(deps: AcceptorDeps) {
    this.#deps = deps;
  }

  /** Events whose request has no answer yet. */
  get unansweredEvents(): number {
    return this.#unanswered;
  }

  /** Accepts valid events, all or none.
   *  @returns their internal IDs in the same order
   *  @throws ServiceError unavailable when Redis did not take them, overloaded when too many are unanswered */
  async accept(events: readonly Event[], request: AcceptRequest): Promise<string[]> {
    if (events.length === 0) return [];
    if (this.#unanswered > UNANSWERED_MAX) throw new ServiceError('overloaded', { retryAfterSeconds: 1 });
    return this.#enqueue(events.map((event, index) => ({ event, index, request, internalId: idFor(request, index) })));
  }

  /** Accepts an event under a given ID: accepting it again changes nothing.
   *  @returns that ID, or the ID of an earlier event with the same deduplication ID */
  async acceptWithId(event: Event, internalId: string, request: AcceptRequest): Promise<string> {
    const [id] = await this.#enqueue([{ event, internalId, index: 0, request }]);
    return id as string;
  }

  /** For an event that is stored without `accept`: resolves once what `write` wrote is as durable as accepted events
   *  are.
   *  @throws ServiceError unavailable when it is not */
  async writeDurably<T>(write: () => Promise<T>): Promise<T> {
    const onDisk = await this.#deps.durability?.begin();
    const written = await write();
    if (onDisk) await onDisk();
    return written;
  }

  #enqueue(drafts: Draft[]): Promise<string[]> {
    return new Promise((resolve, reject) => {
      this.#pending.push({ drafts, resolve, reject });
      this.#unanswered += drafts.length;
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
    whenGathered(() => this.#pending.length, JOB_MAX_EVENTS, commit);
  }

  async #commit(): Promise<void> {
    const { recorder } = this.#deps;
    const group = this.#takeGroup();
    const drafts = group.flatMap(({ drafts }) => drafts);
    const startedAt = performance.now();
    try {
      const onDisk = await this.#writeInFlight(drafts);
      // Other commits are written meanwhile.
      if (onDisk) await onDisk();
      recorder.eventsCommitted(drafts, performance.now() - startedAt);
      for (const { drafts, resolve } of group) resolve(drafts.map(({ internalId }) => internalId));
    } catch (error) {
      recorder.commitFailed();
      const answer = translateAway(error);
      for (const { reject } of group) reject(answer);
    } finally {
      this.#unanswered -= drafts.length;
    }
  }

  async #writeInFlight(drafts: Draft[]): Promise<OnDisk | undefined> {
    const { durability } = this.#deps;
    this.#inFlight++;
    try {
      const onDisk = durability && (await durability.begin());
      await this.#write(drafts);
      return onDisk;
    } finally {
      this.#inFlight--;
      this.#schedule();
    }
  }

  /** Whole requests, up to the events of one job; a larger request is a group of its own. */
  #takeGroup(): PendingRequest[] {
    let events = 0;
    let end = 0;
    while (end < this.#pending.length) {
      const next = (this.#pending[end] as PendingRequest).drafts.length;
      if (end > 0 && events + next > JOB_MAX_EVENTS) break;
      events += next;
      end++;
    }
    return this.#pending.splice(0, end);
  }

  async #write(drafts: Draft[]): Promise<void> {
    const { deduplication, queue } = this.#deps;
    // BullMQ would wait for a connection that was never there; a sender gets its error at once.
    if (!deduplication.connected) throw unavailable('Redis is not connected');
    await this.#claim(drafts);
    const jobs = toJobs(
      drafts.map(({ event, internalId, repeat, index, request }) => ({
        ...toEnvelope(event, { ...request, internalId, index }),
        ...(repeat && { repeat }),
        ...(request.trace && { trace: request.trace }),
      })),
    );
    if (jobs.length === 1) await queue.add(INGEST, jobs[0] as IngestJob);
    else await queue.addBulk(jobs.map((data) => ({ name: INGEST, data })));
    this.#confirm(drafts);
  }

  /** Gives each event with a deduplication ID the internal ID of the first event that carried it. */
  async #claim(drafts: Draft[]): Promise<void> {
    const identified = drafts.filter(({ event }) => event.id !== undefined);
    if (identified.length === 0) return;
    const claimed = await this.#deps.deduplication.claim(identified.map(claimOf));
    const seen = new Set<string>();
    identified.forEach((draft, i) => {
      const { internalId, repeat } = claimed[i] as Claimed;
      // Of two in this group, which is enqueued as a whole, the second is the repeat.
      Object.assign(draft, { internalId, repeat: repeat || seen.has(internalId) });
      seen.add(internalId);
    });
  }

  /** Sent before the senders get their answers; nothing waits for it. */
  #confirm(drafts: Draft[]): void {
    const first = drafts.filter(({ event, repeat }) => event.id !== undefined && !repeat);
    if (first.length > 0) this.#deps.deduplication.confirm(first.map(claimOf)).catch(() => {});
  }
}

function claimOf({ event, internalId, request }: Draft): Claim {
  return { env: request.env, id: event.id as string, internalId };
}

function idFor({ seed, receivedAt }: AcceptRequest, index: number): string {
  return seed ? seededId(seed, index + 1) : newId(receivedAt);
}

/** Each job holds events of one environment: an environment whose events stall workers delays no other. */
function toJobs(envelopes: Envelope[]): IngestJob[] {
  return [...Map.groupBy(envelopes, ({ env }) => env).values()].flatMap(toJobsOfEnvironment);
}

function toJobsOfEnvironment(envelopes: Envelope[]): IngestJob[] {
  const jobs: IngestJob[] = [];
  let bytes = 0;
  for (const envelope of envelopes) {
    const last = jobs.at(-1);
    bytes += envelope.payload.length;
    if (last && last.events.length < JOB_MAX_EVENTS && bytes <= JOB_MAX_BYTES) {
      last.events.push(envelope);
    } else {
      jobs.push({ events: [envelope] });
      bytes = envelope.payload.length;
    }
  }
  return jobs;
}
