/** What happens in the service, as it happens: one connection an environment, shared by all of the page and closed when nobody
 *  listens. News are hints, and some may be missed: whoever shows something reads it anew, and again at every `hello`. */
import { useEffect, useRef } from 'react';
import { parseExact } from '../lib/exact-json.ts';
import { PRODUCTION } from './client.ts';
import { useEnv } from './environment.ts';
import type { LiveKind, LiveMessages } from './types.ts';

type Handler<Kind extends LiveKind = LiveKind> = (message: LiveMessages[Kind]) => void;

/** Left open for a moment, for the page that comes next. */
const CLOSE_DELAY_MS = 1_000;
/** A page that nobody sees gives its connection up: a browser has six of them for a service, whatever the number of its pages. */
const CLOSE_HIDDEN_MS = 30_000;
const REOPEN_FIRST_MS = 1_000;
const REOPEN_MAX_MS = 30_000;

/** Calls the handler with every message of the kind in the present environment. */
export function useLiveUpdates<Kind extends LiveKind>(kind: Kind, handler: Handler<Kind>): void {
  const env = useEnv();
  const latest = useRef(handler);
  useEffect(() => {
    latest.current = handler;
  });
  useEffect(() => connectionOf(env).listen(kind, (message) => latest.current(message)), [env, kind]);
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
  /** Kinds that the open source is listened to for. */
  readonly #heard = new Set<LiveKind>();
  #source: EventSource | undefined;
  #reopenMs = REOPEN_FIRST_MS;
  #timer: number | undefined;

  constructor(env: string) {
    this.#url = env === PRODUCTION ? '/v1/stream' : `/v1/stream?x-service-env=${encodeURIComponent(env)}`;
    document.addEventListener('visibilitychange', () => {
      if (document.hidden) this.#later(CLOSE_HIDDEN_MS, this.#closeUnseen);
      else this.#later(0, this.#source ? this.#closeUnseen : this.#openIfUsed);
    });
  }

  /** @returns what ends it */
  listen<Kind extends LiveKind>(kind: Kind, handler: Handler<Kind>): () => void {
    const ofKind = this.#handlers.get(kind) ?? new Set();
    ofKind.add(handler as Handler);
    this.#handlers.set(kind, ofKind);
    if (this.#source) this.#hear(kind);
    else this.#open();
    return () => {
      ofKind.delete(handler as Handler);
      if (!this.#isUsed()) this.#later(CLOSE_DELAY_MS, this.#closeUnseen);
    };
  }

  #open = (): void => {
    window.clearTimeout(this.#timer);
    this.#heard.clear();
    const source = new EventSource(this.#url);
    this.#source = source;
    source.addEventListener('open', () => {
      this.#reopenMs = REOPEN_FIRST_MS;
    });
    source.addEventListener('error', () => {
      // A broken connection it opens again by itself; one that was refused, never.
      if (source !== this.#source || source.readyState !== EventSource.CLOSED) return;
      this.#source = undefined;
      this.#later(this.#reopenMs, this.#openIfUsed);
      this.#reopenMs = Math.min(2 * this.#reopenMs, REOPEN_MAX_MS);
    });
    for (const kind of this.#handlers.keys()) this.#hear(kind);
  };

  #hear(kind: LiveKind): void {
    if (this.#heard.has(kind)) return;
    this.#heard.add(kind);
    this.#source?.addEventListener(kind, (event: MessageEvent<string>) => {
      const message = parseExact(event.data) as LiveMessages[LiveKind];
      for (const handler of this.#handlers.get(kind) ?? []) handler(message);
    });
  }

  #openIfUsed = (): void => {
    if (this.#isUsed() && !this.#source) this.#open();
  };

  #closeUnseen = (): void => {
    if (this.#isUsed() && !document.hidden) return;
    this.#source?.close();
    this.#source = undefined;
  };

  #isUsed(): boolean {
    return [...this.#handlers.values()].some((handlers) => handlers.size > 0);
  }

  #later(ms: number, then: () => void): void {
    window.clearTimeout(this.#timer);
    this.#timer = window.setTimeout(then, ms);
  }
}
