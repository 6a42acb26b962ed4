/** Word between processes of what has just happened, for whoever watches. It is a hint and may be lost: what is true, the store says.
 *
 *  What happens in a moment goes out as one message of a kind, at most four in a second, and names at most 100 things; the
 *  message's size is thereby bounded however much happens. */
import type { RunStatus } from '../../model/runs/run.ts';
import type { Redis } from '../redis/connection.ts';
import type { Keyspace } from '../redis/keyspace.ts';
import type { LogOutcome } from '../webhooks/webhook-log.ts';

/** Of one thing, by its `id`; later news of it take the place of earlier ones. Times are Unix milliseconds. */
export interface LiveUpdateOf {
  events: { id: string; name: string; receivedAt: number; source: string };
  runs: { id: string; functionId: string; eventId: string; status: RunStatus };
  'webhook-requests': { id: string; webhookId: string; outcome: LogOutcome };
  'held-events': { id: string };
}

export type LiveUpdateKind = keyof LiveUpdateOf;

/** What happened since the last message of the kind. `items`: the last of it, oldest first; of one thing, only how it is now. */
export interface LiveUpdate<Kind extends LiveUpdateKind = LiveUpdateKind> {
  kind: Kind;
  count: number;
  items: LiveUpdateOf[Kind][];
}

const MAX_ITEMS = 100;
/** Between two messages of a kind. */
const PACE_MS = 250;
/** What comes right after the first of a quiet time goes with it. */
const GATHER_MS = 10;

/** Gathers news and hands them on in messages, soon and yet not too often. */
export class LiveUpdateBuffer {
  readonly #gathered = new Map<LiveUpdateKind, { count: number; items: Map<string, LiveUpdateOf[LiveUpdateKind]> }>();
  readonly #send: (news: LiveUpdate[]) => void;
  #timer: NodeJS.Timeout | undefined;
  #sentAt = 0;

  constructor(send: (news: LiveUpdate[]) => void) {
    this.#send = send;
  }

  add<Kind extends LiveUpdateKind>(kind: Kind, item: LiveUpdateOf[Kind]): void {
    this.#addTo(kind, 1, [item]);
  }

  /** What another has gathered. */
  addAll(all: readonly LiveUpdate[]): void {
    for (const { kind, count, items } of all) this.#addTo(kind, count, items);
  }

  #addTo(kind: LiveUpdateKind, count: number, added: readonly LiveUpdateOf[LiveUpdateKind][]): void {
    const ofKind = this.#gathered.get(kind) ?? { count: 0, items: new Map() };
    this.#gathered.set(kind, ofKind);
    ofKind.count += count;
    for (const item of added) {
      ofKind.items.delete(item.id);
      ofKind.items.set(item.id, item);
      if (ofKind.items.size > MAX_ITEMS) ofKind.items.delete(ofKind.items.keys().next().value as string);
    }
    this.#timer ??= setTimeout(() => this.flush(), this.#waitMs()).unref();
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#gathered.size === 0) return;
    this.#sentAt = performance.now();
    const news = [...this.#gathered].map(([kind, { count, items }]) => ({ kind, count, items: [...items.values()] }));
    this.#gathered.clear();
    this.#send(news as LiveUpdate[]);
  }

  #waitMs(): number {
    return Math.max(GATHER_MS, this.#sentAt + PACE_MS - performance.now());
  }
}

/** What a process tells. */
export class LiveUpdatePublisher {
  readonly #redis: Redis;
  readonly #keys: Keyspace;
  readonly #byChannel = new Map<string, LiveUpdateBuffer>();

  constructor(redis: Redis, keys: Keyspace) {
    this.#redis = redis;
    this.#keys = keys;
  }

  /** @param env undefined: of the whole account */
  publish<Kind extends LiveUpdateKind>(env: string | undefined, kind: Kind, item: LiveUpdateOf[Kind]): void {
    const channel = this.#keys.liveUpdates(env);
    const gathering = this.#byChannel.get(channel) ?? new LiveUpdateBuffer((news) => this.#publish(channel, news));
    this.#byChannel.set(channel, gathering);
    gathering.add(kind, item);
  }

  /** Hands on at once what waits. */
  flush(): void {
    for (const gathering of this.#byChannel.values()) gathering.flush();
  }

  /** While Redis is away nobody listens either: nothing piles up. */
  #publish(channel: string, news: LiveUpdate[]): void {
    if (this.#redis.status !== 'ready') return;
    this.#redis.publish(channel, JSON.stringify(news)).catch(() => undefined);
  }
}

/** What a process hears. It listens only to what somebody has asked for. */
export class LiveFeed {
  readonly #subscriber: Redis;
  readonly #keys: Keyspace;
  readonly #listeners = new Map<string, Set<(news: LiveUpdate[]) => void>>();

  /** @param subscriber a connection used for nothing else than listening */
  constructor(subscriber: Redis, keys: Keyspace) {
    this.#subscriber = subscriber;
    this.#keys = keys;
    subscriber.on('message', (channel, text) => this.#hear(channel, text));
  }

  /** Calls it when news may have been missed: the connection was lost, and is back. */
  onGap(tell: () => void): void {
    this.#subscriber.on('ready', tell);
  }

  /** @param env undefined: the whole account
   *  @returns what ends it */
  subscribe(env: string | undefined, onNews: (news: LiveUpdate[]) => void): () => void {
    const channel = this.#keys.liveUpdates(env);
    const listeners = this.#listeners.get(channel) ?? new Set();
    listeners.add(onNews);
    this.#listeners.set(channel, listeners);
    // A connection that is away subscribes when it is back.
    if (listeners.size === 1) this.#subscriber.subscribe(channel).catch(() => undefined);
    return () => {
      if (!listeners.delete(onNews) || listeners.size > 0) return;
      this.#listeners.delete(channel);
      this.#subscriber.unsubscribe(channel).catch(() => undefined);
    };
  }

  #hear(channel: string, text: string): void {
    const listeners = this.#listeners.get(channel);
    if (!listeners) return;
    const news = JSON.parse(text) as LiveUpdate[];
    for (const onNews of listeners) onNews(news);
  }
}
