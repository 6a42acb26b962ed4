/** Stored events, found and counted: newest first, by name, source, time and ID. */
import { isFrom, ORIGIN_MAX, sourceOf } from '../model/event.ts';
import type { Events, FoundEvent } from './events.ts';
import type { Keyspace } from './keyspace.ts';
import { type Redis, replies } from './redis.ts';
import { isOlder, newest, type Position, type Span } from './timeline.ts';

export interface EventQuery {
  env: string;
  name?: string | undefined;
  /** A source, or what those of a kind begin with: `webhook`. */
  source?: string | undefined;
  /** Of receipt. */
  span: Span;
  limit: number;
}

export interface EventPage {
  events: FoundEvent[];
  /** Where the next page begins; undefined: nothing follows. */
  next: Position | undefined;
}

export interface HistogramQuery {
  env: string;
  name?: string | undefined;
  /** Unix milliseconds: from inclusive, to exclusive. */
  from: number;
  to: number;
  buckets: number;
}

/** No index knows where events came from: their records are asked. So many at a time, and for one page so often at most. */
const READING = 500;
const MAX_READINGS = 20;

export class EventLists {
  readonly #redis: Redis;
  readonly #keys: Keyspace;
  readonly #events: Events;
  readonly #retentionMs: number;

  constructor(redis: Redis, keys: Keyspace, events: Events, retentionMs: number) {
    this.#redis = redis;
    this.#keys = keys;
    this.#events = events;
    this.#retentionMs = retentionMs;
  }

  /** By time of receipt and then by ID; a page is stable while events arrive. With a source a page may be short and yet have a next. */
  async list({ env, name, source, span, limit }: EventQuery, nowMs: number): Promise<EventPage> {
    const index = this.#keys.eventIndex(env, name);
    const kept = { ...span, after: Math.max(span.after ?? 0, nowMs - this.#retentionMs) };
    const { found, next } = await (source === undefined
      ? this.#newest(index, kept, limit)
      : this.#newestFrom(source, env, index, kept, limit));
    return { events: await this.#events.readMany(env, idsOf(found)), next };
  }

  /** The events with that ID, be it the internal one or the sender's: of the latter, the newest. */
  async ofId(id: string, { env, name, source, span }: EventQuery): Promise<EventPage> {
    const named = await this.#redis.get(this.#keys.eventOfId(env, id));
    const ids = [...new Set(named === null ? [id] : [id, named])];
    const { after = 0, before = Number.POSITIVE_INFINITY, cursor } = span;
    const events = (await this.#events.readMany(env, ids)).filter((event) => {
      const at = event.received_at;
      const isNext = !cursor || isOlder({ at, id: event.internal_id }, cursor);
      return (
        isNext && at >= after && at < before && (name ?? event.name) === event.name && isAsked(event.source, source)
      );
    });
    return { events, next: undefined };
  }

  /** How many came in each of so many spans of equal length. */
  async histogram({
    env,
    name,
    from,
    to,
    buckets,
  }: HistogramQuery): Promise<{ from: number; to: number; count: number }[]> {
    const count = Math.min(buckets, to - from);
    const edge = (i: number) => from + Math.round(((to - from) * i) / count);
    const spans = Array.from({ length: count }, (_, i) => ({ from: edge(i), to: edge(i + 1) }));
    const counting = this.#redis.pipeline();
    for (const span of spans) counting.zcount(this.#keys.eventIndex(env, name), span.from, `(${span.to}`);
    const counts = replies<number>(await counting.exec());
    return spans.map((span, i) => ({ ...span, count: counts[i] as number }));
  }

  /** The names of the events that are stored, that of the newest first. */
  async names(env: string, limit: number, nowMs: number): Promise<{ name: string; count: number; lastAt: number }[]> {
    const oldest = nowMs - this.#retentionMs;
    const names = await newest(this.#redis, [this.#keys.eventNames(env)], { after: oldest }, limit);
    if (names.length === 0) return [];
    const counting = this.#redis.pipeline();
    for (const { id } of names) counting.zcount(this.#keys.eventIndex(env, id), oldest, '+inf');
    const counts = replies<number>(await counting.exec());
    return names.map(({ id, at }, i) => ({ name: id, count: counts[i] as number, lastAt: at }));
  }

  async #newest(index: string, span: Span, limit: number): Promise<{ found: Position[]; next: Position | undefined }> {
    const found = await newest(this.#redis, [index], span, limit);
    return { found, next: found.length === limit ? found.at(-1) : undefined };
  }

  async #newestFrom(source: string, env: string, index: string, span: Span, limit: number) {
    const found: Position[] = [];
    let cursor = span.cursor;
    for (let reading = 0; reading < MAX_READINGS; reading++) {
      const read = await newest(this.#redis, [index], { ...span, cursor }, READING);
      const sources = await this.#sourcesOf(env, idsOf(read));
      found.push(...read.filter((_, i) => isAsked(sources[i], source)));
      const isEnd = read.length < READING;
      if (found.length > limit || (found.length === limit && !isEnd)) {
        const page = found.slice(0, limit);
        return { found: page, next: page.at(-1) };
      }
      if (isEnd) return { found, next: undefined };
      cursor = read.at(-1);
    }
    return { found, next: cursor };
  }

  async #sourcesOf(env: string, ids: readonly string[]): Promise<string[]> {
    if (ids.length === 0) return [];
    const reading = this.#redis.pipeline();
    for (const id of ids) reading.getrange(this.#keys.event(env, id), -ORIGIN_MAX, -1);
    return replies<string>(await reading.exec()).map((record) => sourceOf({ record }));
  }
}

function idsOf(positions: readonly Position[]): string[] {
  return positions.map(({ id }) => id);
}

function isAsked(source: string | undefined, wanted: string | undefined): boolean {
  return wanted === undefined || (source !== undefined && isFrom(source, wanted));
}
