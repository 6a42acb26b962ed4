/** Accepting events: the way from a valid request to a job in Redis. Requests that come together share one round trip (group
 *  commit): while one commit is on its way the next gathers. A caller is answered when Redis has its events, or told that it
 *  has not. */
import { ServiceError } from '../../errors.ts';
import type { MetricsRecorder } from '../../metrics/recorder.ts';
import { type Envelope, type Event, type Source, toEnvelope } from '../../model/events/event.ts';
import { newId, type Seed, seededId } from '../../model/ids.ts';
import type { Claim, Claimed, Deduplication } from '../../store/events/deduplication.ts';
import { translateAway, unavailable } from '../../store/redis/connection.ts';
import type { Durability, OnDisk } from '../../store/redis/durability.ts';
import { INGEST, type IngestJob, type IngestQueue } from '../queues/queues.ts';

/** Most events of one ingest job. */
const JOB_MAX_EVENTS = 500;
/** Most bytes of payloads of one ingest job, roughly; a single larger event makes a job of its own. */
const JOB_MAX_BYTES = 1_048_576;
/** Commits on their way at once. One would leave Redis idle while its answer travels; more would make smaller groups. */
const COMMITS_IN_FLIGHT = 2;
/** Events that wait for their answer before further requests are turned away. */
const MAX_WAITING = 50_000;

/** Where the events of one request came from. */
export interface AcceptRequest {
  env: string;
  source: Source;
  requestId: string;
  /** Unix milliseconds. */
  receivedAt: number;
  seed?: Seed | undefined;
  /** The span that they are sent in, where that is recorded. */
  trace?: string;
}

interface Draft {
  event: Event;
  internalId: string;
  repeat?: boolean;
  index: number;
  arrival: AcceptRequest;
}

interface Waiting {
  drafts: Draft[];
  resolve: (ids: string[]) => void;
  reject: (error: unknown) => void;
}

export class Acceptor {
  readonly #dedup: Deduplication;
  readonly #queue: IngestQueue;
  readonly #meter: MetricsRecorder;
  readonly #durability: Durability | undefined;
  #waiting: Waiting[] = [];
  /** Also those of commits on their way. */
  #unanswered = 0;
  #inFlight = 0;
  #scheduled = false;

  /** @param durability what an answer waits for beside Redis's own; undefined: nothing */
  constructor(dedup: Deduplication, queue: IngestQueue, meter: MetricsRecorder, durability?: Durability) {
    this.#dedup = dedup;
    this.#queue = queue;
    this.#meter = meter;
    this.#durability = durability;
  }

  /** Events that have been taken and not been answered. */
  get unansweredEvents(): number {
    return this.#unanswered;
  }

  /** Accepts valid events, all or none, and answers with their internal IDs in the same order.
   *  @throws ServiceError unavailable when Redis did not take them, overloaded when too many wait */
  async accept(events: readonly Event[], arrival: AcceptRequest): Promise<string[]> {
    if (events.length === 0) return [];
    if (this.#unanswered > MAX_WAITING) throw new ServiceError('overloaded', { retryAfterSeconds: 1 });
    return this.#join(events.map((event, index) => ({ event, index, arrival, internalId: idFor(arrival, index) })));
  }

  /** Accepts an event under an ID by which doing so again changes nothing.
   *  @returns the ID that it carries: that one, or the one of an earlier event with the same deduplication ID */
  async acceptOwn(event: Event, internalId: string, arrival: AcceptRequest): Promise<string> {
    const [carried] = await this.#join([{ event, internalId, index: 0, arrival }]);
    return carried as string;
  }

  /** For an event that is taken in on another way than through here: resolves when what was written for it is as safe as accepted events are.
   *  @throws ServiceError unavailable when it is not */
  async safely<T>(write: () => Promise<T>): Promise<T> {
    const onDisk = this.#durability && (await this.#durability.begin());
    const written = await write();
    if (onDisk) await onDisk();
    return written;
  }

  #join(drafts: Draft[]): Promise<string[]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ drafts, resolve, reject });
      this.#unanswered += drafts.length;
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#scheduled || this.#inFlight >= COMMITS_IN_FLIGHT || this.#waiting.length === 0) return;
    this.#scheduled = true;
    // After the requests that this turn of the event loop has read.
    setImmediate(() => {
      this.#scheduled = false;
      void this.#commit();
    });
  }

  async #commit(): Promise<void> {
    const group = this.#takeGroup();
    const drafts = group.flatMap(({ drafts }) => drafts);
    const startedAt = performance.now();
    try {
      const onDisk = await this.#writeInTurn(drafts);
      // Until it is, other commits are written.
      if (onDisk) await onDisk();
      this.#meter.eventsCommitted(drafts, performance.now() - startedAt);
      for (const { drafts, resolve } of group) resolve(drafts.map(({ internalId }) => internalId));
    } catch (error) {
      this.#meter.commitFailed();
      const answer = translateAway(error);
      for (const { reject } of group) reject(answer);
    } finally {
      this.#unanswered -= drafts.length;
    }
  }

  async #writeInTurn(drafts: Draft[]): Promise<OnDisk | undefined> {
    this.#inFlight++;
    try {
      const onDisk = this.#durability && (await this.#durability.begin());
      await this.#write(drafts);
      return onDisk;
    } finally {
      this.#inFlight--;
      this.#schedule();
    }
  }

  /** Whole requests, up to a job's worth of events; a larger request goes alone. */
  #takeGroup(): Waiting[] {
    let events = 0;
    let end = 0;
    while (end < this.#waiting.length) {
      const next = (this.#waiting[end] as Waiting).drafts.length;
      if (end > 0 && events + next > JOB_MAX_EVENTS) break;
      events += next;
      end++;
    }
    return this.#waiting.splice(0, end);
  }

  async #write(drafts: Draft[]): Promise<void> {
    // BullMQ would wait for a connection that was never there; a sender is told at once.
    if (!this.#dedup.connected) throw unavailable('Redis is not connected');
    await this.#claim(drafts);
    const jobs = inJobs(
      drafts.map(({ event, internalId, repeat, index, arrival }) => ({
        ...toEnvelope(event, { ...arrival, internalId, index }),
        ...(repeat && { repeat }),
        ...(arrival.trace && { trace: arrival.trace }),
      })),
    );
    if (jobs.length === 1) await this.#queue.add(INGEST, jobs[0] as IngestJob);
    else await this.#queue.addBulk(jobs.map((data) => ({ name: INGEST, data })));
    this.#confirm(drafts);
  }

  /** Gives each event with a deduplication ID the internal ID of the first that carried it. */
  async #claim(drafts: Draft[]): Promise<void> {
    const identified = drafts.filter(({ event }) => event.id !== undefined);
    if (identified.length === 0) return;
    const claimed = await this.#dedup.claim(identified.map(claimOf));
    const seen = new Set<string>();
    identified.forEach((draft, i) => {
      const { internalId, repeat } = claimed[i] as Claimed;
      // Of two in this very group, which is enqueued whole, the second is the repeat.
      Object.assign(draft, { internalId, repeat: repeat || seen.has(internalId) });
      seen.add(internalId);
    });
  }

  /** On its way before the senders are answered, and not waited for. */
  #confirm(drafts: Draft[]): void {
    const first = drafts.filter(({ event, repeat }) => event.id !== undefined && !repeat);
    if (first.length > 0) this.#dedup.confirm(first.map(claimOf)).catch(() => {});
  }
}

function claimOf({ event, internalId, arrival }: Draft): Claim {
  return { env: arrival.env, id: event.id as string, internalId };
}

function idFor({ seed, receivedAt }: AcceptRequest, index: number): string {
  return seed ? seededId(seed, index + 1) : newId(receivedAt);
}

/** Each job holds events of one environment: what one does to its worker is none of another's business. */
function inJobs(envelopes: Envelope[]): IngestJob[] {
  return [...Map.groupBy(envelopes, ({ env }) => env).values()].flatMap(inJobsOfOne);
}

function inJobsOfOne(envelopes: Envelope[]): IngestJob[] {
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
