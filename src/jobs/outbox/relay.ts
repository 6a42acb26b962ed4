/** Accepts the events in the outbox of an app's Postgres. A process may die anywhere: before each send, its row stores the ID under which
 *  the event may be accepted, and for 24 hours the deduplication ID makes a second send harmless. After that the relay looks the event up;
 *  if the lookup cannot tell, a person decides. */
import { randomBytes } from 'node:crypto';
import type { ClaimedRow, Ended, OutboxRows } from '../../archive/outbox-rows.ts';
import { ServiceError } from '../../errors.ts';
import type { AcceptedEvents } from '../../history/accepted-events.ts';
import type { Event } from '../../model/events/event.ts';
import { rejectFarFuture, validateEvents } from '../../model/events/sent-event.ts';
import { newId, parseSeed, type Seed, seededId } from '../../model/ids.ts';
import { chunksOf } from '../../model/values/chunks.ts';
import { Composed } from '../../model/values/composed.ts';
import { parseExact } from '../../model/values/json.ts';
import type { Acceptor } from '../acceptance/acceptor.ts';

const ROWS_AT_ONCE = 100;
const LEASE_SECONDS = 30;
/** A pass sends no more after this time, so that its lease lasts until the last response. */
const SEND_MS = 15_000;
/** Maximum size of the events that are in memory and sent together; a larger event is sent alone. */
const PORTION_BYTES = 1_048_576;
/** The deduplication window is 24 hours. */
const WINDOW_SECONDS = 23 * 3_600;
/** Before the end of the retention: a lookup takes its time. */
const MARGIN_SECONDS = 3_600;
const SENDS_MAX = 1_000;
const IDS_AT_ONCE = 1_000;

/** Limits and retention of the environment at the moment. */
export interface OutboxTerms {
  env: string;
  eventMaxBytes: number;
  eventMaxFutureMs: number;
  /** How long an accepted event is found. */
  retentionSeconds: number;
}

export interface OutboxRelayDeps {
  rows: OutboxRows;
  acceptor: Pick<Acceptor, 'acceptWithIds'>;
  acceptedEvents: Pick<AcceptedEvents, 'present'>;
  /** @throws if no event can be accepted now */
  terms: () => Promise<OutboxTerms>;
}

export class OutboxRelay extends Composed<OutboxRelayDeps> {
  /** Whether a relay in the app, alive or dead, may hold leases. */
  #appMayLease = true;

  /** @returns whether there may be more to do now
   *  @throws the reason why rows wait for the next pass */
  async pass(signal: AbortSignal): Promise<boolean> {
    const { rows, terms } = this.deps;
    const now = await terms();
    await this.#takeOver();
    const text = `${Date.now()},${randomBytes(10).toString('base64')}`;
    const claimed = await rows.claim(text, ROWS_AT_ONCE, LEASE_SECONDS);
    const pass = new Pass(claimed, text, now, this.deps);
    try {
      await pass.send(signal);
    } finally {
      await pass.end();
    }
    return claimed.length === ROWS_AT_ONCE;
  }

  /** Takes over from a relay in the app that has died. The leases of other relays end, too; all events that were sent count once. */
  async #takeOver(): Promise<void> {
    const { rows } = this.deps;
    const lives = await rows.hasRelayOfApp();
    if (!lives && this.#appMayLease) await rows.takeOver();
    this.#appMayLease = lives;
  }
}

/** The rows of one claim. */
class Pass {
  readonly #seed: Seed;
  readonly #text: string;
  readonly #terms: OutboxTerms;
  readonly #deps: OutboxRelayDeps;
  readonly #until = performance.now() + SEND_MS;
  /** Rows that are neither acknowledged nor ended, by position. */
  readonly #left: Map<number, ClaimedRow>;
  /** Positions of rows that may have been accepted. */
  readonly #tried = new Set<number>();

  constructor(claimed: readonly ClaimedRow[], text: string, terms: OutboxTerms, deps: OutboxRelayDeps) {
    this.#seed = parseSeed(text) as Seed;
    this.#text = text;
    this.#terms = terms;
    this.#deps = deps;
    this.#left = new Map(claimed.map((row) => [row.position, row]));
  }

  /** @throws the reason why some stay */
  async send(signal: AbortSignal): Promise<void> {
    const undecided = await this.#decideOld();
    const held = new Set([...undecided.rows].map(({ key }) => key).filter((key) => key !== null));
    const ready = [...this.#left.values()].filter((row) => {
      return !undecided.rows.has(row) && !(row.key !== null && held.has(row.key));
    });
    const { eventMaxBytes } = this.#terms;
    await this.#refuse(
      ready
        .filter(({ bytes }) => bytes > eventMaxBytes)
        .map(({ position, bytes }) => ({
          position,
          error: `the event has ${bytes} bytes, and ${eventMaxBytes} at most are accepted`,
        })),
    );
    for (const portion of portionsOf(ready.filter(({ position }) => this.#left.has(position)))) {
      if (signal.aborted || performance.now() > this.#until) return;
      await this.#sendPortion(portion);
    }
    if (undecided.error) throw undecided.error;
  }

  /** Ends the leases of the rows that are left. */
  async end(): Promise<void> {
    const left = [...this.#left.values()];
    await this.#deps.rows.release(left.flatMap(({ position }) => (this.#tried.has(position) ? [position] : [])));
    await this.#deps.rows.unclaim(
      this.#text,
      left.filter(({ position }) => !this.#tried.has(position)),
    );
  }

  async #sendPortion(portion: readonly ClaimedRow[]): Promise<void> {
    const positions = portion.map(({ position }) => position);
    const texts = await this.#deps.rows.texts(positions, this.#terms.eventMaxBytes);
    const now = Date.now();
    const refused: { position: number; error: string }[] = [];
    const sendable: { row: ClaimedRow; event: Event }[] = [];
    for (const row of portion) {
      const text = texts.get(row.position);
      // Somebody has removed it, or made it too large: then a later pass refuses it.
      if (text === undefined) this.#left.delete(row.position);
      else {
        try {
          sendable.push({ row, event: this.#eventOf(text, now) });
        } catch (error) {
          if (!(error instanceof ServiceError)) throw error;
          refused.push({ position: row.position, error: error.message });
        }
      }
    }
    await this.#refuse(refused);
    if (sendable.length === 0) return;
    for (const { row } of sendable) this.#tried.add(row.position);
    await this.#deps.acceptor.acceptWithIds(
      sendable.map(({ row, event }) => ({ event, internalId: seededId(this.#seed, row.number) })),
      { env: this.#terms.env, source: 'outbox', requestId: newId(now), receivedAt: now },
    );
    await this.#acknowledge(sendable.map(({ row }) => row));
  }

  /** @throws ServiceError */
  #eventOf(text: string, nowMs: number): Event {
    const invalid = (detail: string) => new ServiceError('event_invalid', { detail });
    let body: unknown;
    try {
      body = parseExact(text);
    } catch (error) {
      throw invalid((error as Error).message);
    }
    if (Array.isArray(body)) throw invalid('it is an array');
    const [event] = validateEvents(body, text) as [Event];
    rejectFarFuture([event], nowMs, this.#terms.eventMaxFutureMs);
    if (event.id === undefined) throw invalid('it has no id, by which it would count once');
    return event;
  }

  /** Decides about rows that were first sent so long ago that a second send may count twice.
   *  @returns the rows about which nothing is known now, and why */
  async #decideOld(): Promise<{ rows: Set<ClaimedRow>; error?: Error }> {
    const old = [...this.#left.values()].filter(({ sentSecondsAgo }) => sentSecondsAgo > WINDOW_SECONDS);
    if (old.length === 0) return { rows: new Set() };
    try {
      const sends = await this.#deps.rows.sends(
        old.map(({ position }) => position),
        SENDS_MAX + 2,
      );
      const known = old.map((row) => ({ row, ids: idsOf(sends.get(row.position) ?? [], this.#text) }));
      const present = new Set<string>();
      for (const some of chunksOf([...new Set(known.flatMap(({ ids }) => ids ?? []))], IDS_AT_ONCE)) {
        for (const id of await this.#deps.acceptedEvents.present(this.#terms.env, some)) present.add(id);
      }
      await this.#acknowledge(known.flatMap(({ row, ids }) => (ids?.some((id) => present.has(id)) ? [row] : [])));
      const findableSeconds = this.#terms.retentionSeconds - MARGIN_SECONDS;
      const uncertain = known.flatMap(({ row: { position, sentSecondsAgo }, ids }) => {
        if (!this.#left.has(position) || (ids && sentSecondsAgo < findableSeconds)) return [];
        const why = ids
          ? 'it was sent longer ago than events are kept'
          : `it was sent more than ${SENDS_MAX} times, or not by a relay`;
        return [{ position, error: `nobody can tell whether it was accepted: ${why}` }];
      });
      await this.#endAs('uncertain', uncertain);
      return { rows: new Set() };
    } catch (error) {
      return { rows: new Set(old.filter(({ position }) => this.#left.has(position))), error: error as Error };
    }
  }

  async #acknowledge(rows: readonly ClaimedRow[]): Promise<void> {
    const positions = rows.map(({ position }) => position);
    await this.#deps.rows.delete(positions);
    for (const position of positions) this.#left.delete(position);
  }

  #refuse(refused: readonly { position: number; error: string }[]): Promise<void> {
    return this.#endAs('refused', refused);
  }

  async #endAs(state: Ended['state'], rows: readonly { position: number; error: string }[]): Promise<void> {
    await this.#deps.rows.end(rows.map((row) => ({ ...row, state })));
    for (const { position } of rows) this.#left.delete(position);
  }
}

/** The portions keep the order of the rows. */
function portionsOf(rows: readonly ClaimedRow[]): ClaimedRow[][] {
  const portions: ClaimedRow[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const row of rows) {
    bytes += row.bytes;
    if (bytes > PORTION_BYTES) {
      portions.push([]);
      bytes = row.bytes;
    }
    portions.at(-1)?.push(row);
  }
  return portions;
}

/** @param own the seed of this send, which has not been made yet
 *  @returns the IDs under which earlier sends may have been accepted; undefined if they are unknown */
function idsOf(sends: readonly string[], own: string): string[] | undefined {
  const earlier = sends.filter((send) => !send.startsWith(`${own},`));
  if (earlier.length > SENDS_MAX) return undefined;
  const ids = earlier.map((send) => {
    const comma = send.lastIndexOf(',');
    const [seed, number] = [parseSeed(send.slice(0, comma)), Number(send.slice(comma + 1))];
    return seed && Number.isSafeInteger(number) && number > 0 ? seededId(seed, number) : undefined;
  });
  return ids.includes(undefined) ? undefined : (ids as string[]);
}
