/** Live updates between processes, for open dashboards and streams. An update is a hint and may be lost; the store is authoritative.
 *  Updates are buffered and sent as one message per kind, at most four a second, with at most 200 items: messages have a bounded size
 *  under any load. */
import { gistOfHead } from '../../model/events/gist.ts';
import type { RunStatus } from '../../model/runs/run.ts';
import type { RunState } from '../../model/runs/run-state.ts';
import type { IssueKind, IssueState } from '../../model/webhooks/issue.ts';
import type { LogOutcome } from '../../model/webhooks/request-log.ts';
import { publish, type Subscriber } from '../redis/connection/pub-sub.ts';
import type { Keyspace } from '../redis/keyspace/keyspace.ts';
import { Repository } from '../redis/repository.ts';

/** Items by kind. Fields of a later item replace those of an earlier one with the same `id`. Times are Unix milliseconds. */
export interface LiveUpdateOf {
  events: WithGist & { id: string; name: string; receivedAt: number; source: string };
  runs: LiveRun;
  'webhook-requests': { id: string; webhookId: string; outcome: LogOutcome };
  'held-events': { id: string };
  'webhook-issues': { id: string; webhookId: string; kind: IssueKind; state: IssueState };
}

interface WithGist {
  /** The beginning of the event (`headOf`). Messages contain its gist instead, which is computed only when they are sent. */
  head?: string;
  gist?: string;
}

/** Changed fields of a run. Only a created run has a head: a run may change often, and compressed messages that repeat a payload next to
 *  texts of others would reveal it by their length. */
export interface LiveRun extends WithGist {
  id: string;
  functionId: string;
  eventId: string;
  status: RunStatus;
  /** The run's state. Only in messages to clients, which read it when they are sent. */
  state?: RunState;
  queuedAt?: number;
  startedAt?: number;
  endedAt?: number;
  /** The last attempt's error: its name and the beginning of its message; null if no attempt failed, or a later one succeeded. */
  error?: string | null;
  replayId?: string;
  /** Set if the run was created since the last message. */
  created?: true;
  eventName?: string;
}

export type LiveUpdateKind = keyof LiveUpdateOf;

/** Updates of a kind since its last message. `items`: the last ones, oldest first, one per ID. */
export interface LiveUpdate<Kind extends LiveUpdateKind = LiveUpdateKind> {
  kind: Kind;
  count: number;
  /** Number of new items; for runs, of created runs. */
  created: number;
  items: LiveUpdateOf[Kind][];
}

const MAX_ITEMS = 200;
/** Minimum time between two messages of a kind. */
const INTERVAL_MS = 250;
/** Messages with more items than this count as busy. */
const BUSY_ITEMS = 20;
/** How long the first update after a pause waits for more. */
const FIRST_WAIT_MS = 10;

interface Buffered {
  count: number;
  created: number;
  items: Map<string, LiveUpdateOf[LiveUpdateKind]>;
}

/** Buffers updates and sends them in messages. */
export class LiveUpdateBuffer {
  readonly #buffered = new Map<LiveUpdateKind, Buffered>();
  readonly #send: (updates: LiveUpdate[]) => void;
  #timer: NodeJS.Timeout | undefined;
  #sentAt = 0;
  #intervalMs = INTERVAL_MS;

  readonly #busyIntervalMs: number;

  /** @param busyIntervalMs minimum time between two busy messages */
  constructor(send: (updates: LiveUpdate[]) => void, busyIntervalMs = INTERVAL_MS) {
    this.#send = send;
    this.#busyIntervalMs = busyIntervalMs;
  }

  add<Kind extends LiveUpdateKind>(kind: Kind, item: LiveUpdateOf[Kind]): void {
    const created = kind === 'runs' ? Number((item as LiveRun).created ?? false) : 1;
    this.#addTo({ kind, count: 1, created, items: [item] });
  }

  /** Adds updates that another buffer has sent. */
  addAll(all: readonly LiveUpdate[]): void {
    for (const update of all) this.#addTo(update);
  }

  #addTo({ kind, count, created, items: added }: LiveUpdate): void {
    const ofKind = this.#buffered.get(kind) ?? { count: 0, created: 0, items: new Map() };
    this.#buffered.set(kind, ofKind);
    ofKind.count += count;
    ofKind.created += created;
    for (const item of added) {
      const before = ofKind.items.get(item.id);
      ofKind.items.delete(item.id);
      ofKind.items.set(item.id, before ? { ...before, ...item } : item);
      if (ofKind.items.size > MAX_ITEMS) ofKind.items.delete(ofKind.items.keys().next().value as string);
    }
    this.#timer ??= setTimeout(() => this.flush(), this.#waitMs()).unref();
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#buffered.size === 0) return;
    this.#sentAt = performance.now();
    const updates = [...this.#buffered].map(([kind, { items, ...counts }]) => ({
      kind,
      ...counts,
      items: [...items.values()],
    }));
    this.#buffered.clear();
    const isBusy = updates.some(({ items }) => items.length > BUSY_ITEMS);
    this.#intervalMs = isBusy ? this.#busyIntervalMs : INTERVAL_MS;
    this.#send(updates as LiveUpdate[]);
  }

  #waitMs(): number {
    return Math.max(FIRST_WAIT_MS, this.#sentAt + this.#intervalMs - performance.now());
  }
}

/** @param env undefined: of the installation */
function channelOf(keys: Keyspace, env: string | undefined): string {
  return env === undefined ? keys.installationUpdates : keys.liveUpdates(env);
}

/** Publishes the updates of one process. */
export class LiveUpdatePublisher extends Repository {
  readonly #byChannel = new Map<string, LiveUpdateBuffer>();

  /** @param env undefined: for the installation */
  publish<Kind extends LiveUpdateKind>(env: string | undefined, kind: Kind, item: LiveUpdateOf[Kind]): void {
    const channel = channelOf(this.keys, env);
    const buffer = this.#byChannel.get(channel) ?? new LiveUpdateBuffer((updates) => this.#publish(channel, updates));
    this.#byChannel.set(channel, buffer);
    buffer.add(kind, item);
  }

  /** Sends buffered updates now. */
  flush(): void {
    for (const buffer of this.#byChannel.values()) buffer.flush();
  }

  /** Drops updates while Redis is unavailable: subscribers could not receive them either. */
  #publish(channel: string, updates: LiveUpdate[]): void {
    if (this.redis.status !== 'ready') return;
    const text = JSON.stringify(updates.map((update) => ({ ...update, items: update.items.map(withGist) })));
    publish(this.redis, channel, text).catch(() => undefined);
  }
}

function withGist(of: LiveUpdateOf[LiveUpdateKind]): object {
  const { head, ...item } = of as WithGist;
  return head === undefined ? item : { ...item, gist: gistOfHead(head) };
}

/** Receives updates. It subscribes only to channels with listeners; the subscriber resubscribes after a reconnection. */
export class LiveFeed {
  readonly #subscriber: Subscriber;
  readonly #keys: Keyspace;
  readonly #listeners = new Map<string, Set<(updates: LiveUpdate[]) => void>>();

  /** @param subscriber a connection used only for subscriptions */
  constructor(subscriber: Subscriber, keys: Keyspace) {
    this.#subscriber = subscriber;
    this.#keys = keys;
    subscriber.on('message', (channel, text) => this.#receive(channel, text));
  }

  /** Calls `listener` when updates may be missed: once when the connection is lost, and once when it is back. */
  onGap(listener: () => void): void {
    let isConnected = this.#subscriber.status === 'ready';
    const changed = (isNow: boolean) => {
      if (isNow || isConnected) listener();
      isConnected = isNow;
    };
    this.#subscriber.on('ready', () => changed(true));
    this.#subscriber.on('close', () => changed(false));
  }

  /** @param env undefined: the installation
   *  @returns a function that ends the subscription */
  subscribe(env: string | undefined, listener: (updates: LiveUpdate[]) => void): () => void {
    const channel = channelOf(this.#keys, env);
    const listeners = this.#listeners.get(channel) ?? new Set();
    listeners.add(listener);
    this.#listeners.set(channel, listeners);
    if (listeners.size === 1) this.#subscriber.subscribe(channel).catch(() => undefined);
    return () => {
      if (!listeners.delete(listener) || listeners.size > 0) return;
      this.#listeners.delete(channel);
      this.#subscriber.unsubscribe(channel).catch(() => undefined);
    };
  }

  #receive(channel: string, text: string): void {
    const listeners = this.#listeners.get(channel);
    if (!listeners) return;
    const updates = JSON.parse(text) as LiveUpdate[];
    for (const listener of listeners) listener(updates);
  }
}
