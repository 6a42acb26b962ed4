/** Live updates (server-sent events): one connection per environment, shared by the page and closed when nothing listens. Messages are
 *  hints and may be lost: subscribers refetch what they show, and again at every `hello`. */
import { useEffect, useRef, useSyncExternalStore } from 'react';
import { parseExact } from '../lib/exact-json.ts';
import { PRODUCTION } from './client.ts';
import { useEnv } from './environment.ts';
import type { LiveKind, LiveMessages } from './types.ts';

type Handler<Kind extends LiveKind = LiveKind> = (message: LiveMessages[Kind]) => void;

/** Stays open this long for the next page. */
const CLOSE_DELAY_MS = 1_000;
/** A hidden tab closes its connection: browsers allow six per origin, across all tabs. */
const CLOSE_HIDDEN_MS = 30_000;
const REOPEN_FIRST_MS = 1_000;
const REOPEN_MAX_MS = 30_000;

/** Calls the handler with each message of this kind in the current environment. */
export function useLiveUpdates<Kind extends LiveKind>(kind: Kind, handler: Handler<Kind>): void {
  const env = useEnv();
  const latest = useRef(handler);
  useEffect(() => {
    latest.current = handler;
  });
  useEffect(() => connectionOf(env).listen(kind, (message) => latest.current(message)), [env, kind]);
}

/** `off`: there are no listeners, or the tab is hidden. */
export type LiveState = 'off' | 'open' | 'broken';

/** The state of the current environment's connection. */
export function useLiveState(): LiveState {
  const connection = connectionOf(useEnv());
  return useSyncExternalStore(connection.watch, connection.state);
}

/** While it is kept, the connection stays open in a hidden tab, too.
 *  @returns ends that */
export function keepOpenWhenHidden(env: string): () => void {
  return connectionOf(env).keepOpen();
}

const connections = new Map<string, LiveConnection>();

function connectionOf(env: string): LiveConnection {
  const open = connections.get(env) ?? new LiveConnection(env);
  connections.set(env, open);
  return open;
}

class LiveConnection {
  readonly #url: string;
  readonly #handlers = new Map<LiveKind, Set<Handler>>();
  /** Kinds subscribed to on the open source. */
  readonly #subscribed = new Set<LiveKind>();
  #source: EventSource | undefined;
  readonly #watchers = new Set<() => void>();
  #state: LiveState = 'off';
  /** Number of users that need the stream in a hidden tab. */
  #keepers = 0;
  #reopenMs = REOPEN_FIRST_MS;
  #timer: number | undefined;

  constructor(env: string) {
    this.#url = env === PRODUCTION ? '/v1/stream' : `/v1/stream?x-service-env=${encodeURIComponent(env)}`;
    document.addEventListener('visibilitychange', () => {
      if (document.hidden) this.#schedule(CLOSE_HIDDEN_MS, this.#closeIfIdle);
      else this.#schedule(0, this.#source ? this.#closeIfIdle : this.#openIfUsed);
    });
  }

  /** @returns unsubscribes */
  listen<Kind extends LiveKind>(kind: Kind, handler: Handler<Kind>): () => void {
    const ofKind = this.#handlers.get(kind) ?? new Set();
    ofKind.add(handler as Handler);
    this.#handlers.set(kind, ofKind);
    if (this.#source) this.#subscribe(kind);
    else this.#open();
    return () => {
      ofKind.delete(handler as Handler);
      if (!this.#isUsed()) this.#schedule(CLOSE_DELAY_MS, this.#closeIfIdle);
    };
  }

  readonly state = (): LiveState => this.#state;

  readonly watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  };

  keepOpen(): () => void {
    this.#keepers++;
    this.#openIfUsed();
    return () => {
      this.#keepers--;
      if (document.hidden) this.#schedule(CLOSE_HIDDEN_MS, this.#closeIfIdle);
    };
  }

  #change(state: LiveState): void {
    if (state === this.#state) return;
    this.#state = state;
    for (const watcher of this.#watchers) watcher();
  }

  #open = (): void => {
    window.clearTimeout(this.#timer);
    this.#subscribed.clear();
    const source = new EventSource(this.#url);
    this.#source = source;
    source.addEventListener('open', () => {
      this.#reopenMs = REOPEN_FIRST_MS;
      if (source === this.#source) this.#change('open');
    });
    source.addEventListener('error', () => {
      if (source !== this.#source) return;
      this.#change('broken');
      // EventSource reconnects by itself after a broken connection, but not after a refused one.
      if (source.readyState !== EventSource.CLOSED) return;
      this.#source = undefined;
      this.#schedule(this.#reopenMs, this.#openIfUsed);
      this.#reopenMs = Math.min(2 * this.#reopenMs, REOPEN_MAX_MS);
    });
    for (const kind of this.#handlers.keys()) this.#subscribe(kind);
  };

  #subscribe(kind: LiveKind): void {
    if (this.#subscribed.has(kind)) return;
    this.#subscribed.add(kind);
    this.#source?.addEventListener(kind, (event: MessageEvent<string>) => {
      const message = parseExact(event.data) as LiveMessages[LiveKind];
      for (const handler of this.#handlers.get(kind) ?? []) handler(message);
    });
  }

  #openIfUsed = (): void => {
    if (this.#isUsed() && !this.#source) this.#open();
  };

  #closeIfIdle = (): void => {
    if (this.#isUsed() && (!document.hidden || this.#keepers > 0)) return;
    this.#source?.close();
    this.#source = undefined;
    this.#change('off');
  };

  #isUsed(): boolean {
    return [...this.#handlers.values()].some((handlers) => handlers.size > 0);
  }

  #schedule(ms: number, work: () => void): void {
    window.clearTimeout(this.#timer);
    this.#timer = window.setTimeout(work, ms);
  }
}
