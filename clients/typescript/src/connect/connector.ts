/** Keeps an app connected: one link after another, until `close`. */
import { setTimeout as wait } from 'node:timers/promises';
import { ServeError } from '../errors.ts';
import type { Settings } from '../settings.ts';
import { backoffMs, jitterMs } from './backoff.ts';
import type { CallsInFlight } from './calls.ts';
import { ConnectError } from './error.ts';
import type { Frame } from './frames.ts';
import { type Link, openLink, type WebSocketClass } from './link.ts';

/** `connecting` at first; `ready` for calls; `reconnecting` after a break; `closing` while the last calls end; `closed`. */
export type ConnectionState = 'connecting' | 'ready' | 'reconnecting' | 'closing' | 'closed';

export interface Connection {
  readonly state: ConnectionState;
  /** Takes no more calls, and resolves when those in flight have ended and the connection is closed. */
  close(): Promise<void>;
}

export interface ConnectorOptions {
  calls: CallsInFlight;
  settings: () => Settings;
  WebSocket: WebSocketClass;
  /** The part of the first message that says who connects. */
  instance: object;
  onState(state: ConnectionState): void;
}

export class Connector implements Connection {
  readonly #options: ConnectorOptions;
  readonly #closed = new AbortController();
  #state: ConnectionState = 'connecting';
  #link: Link | undefined;
  #isConnecting = false;
  #lastTrouble: string | undefined;

  constructor(options: ConnectorOptions) {
    this.#options = options;
  }

  get state(): ConnectionState {
    return this.#state;
  }

  /** Resolves when the app gets calls.
   *  @throws ConnectError, ConfigError */
  async start(): Promise<void> {
    this.#options.onState('connecting');
    await this.#connect();
  }

  async close(): Promise<void> {
    if (this.#state !== 'closed') this.#become('closing');
    this.#link?.send('workerPause', {});
    await this.#options.calls.idle();
    this.#closed.abort();
    this.#options.calls.use(undefined);
    this.#link?.end();
    this.#link = undefined;
    this.#become('closed');
  }

  get #needsLink(): boolean {
    return !this.#closed.signal.aborted && (this.#link === undefined || this.#link.isLeaving);
  }

  async #connect(): Promise<void> {
    if (this.#isConnecting) return;
    this.#isConnecting = true;
    try {
      for (let tries = 0; this.#needsLink; tries++) await this.#tryToConnect(tries);
    } finally {
      this.#isConnecting = false;
    }
  }

  /** @throws ConnectError, ConfigError: a refusal ends the start */
  async #tryToConnect(tries: number): Promise<void> {
    const { settings, WebSocket, instance } = this.#options;
    const { signal } = this.#closed;
    try {
      await openLink({
        settings: settings(),
        WebSocket,
        instance,
        onOpen: (link) => this.#use(link),
        onFrame: (frame, link) => this.#receive(frame, link),
        onClose: (reason, link) => this.#onClose(reason, link),
      });
    } catch (error) {
      const passes = error instanceof ConnectError ? error.passes : error instanceof ServeError;
      if (this.#state === 'connecting' && !passes) throw error;
      this.#warn((error as Error).message);
      await wait(backoffMs(tries), undefined, { signal }).catch(() => undefined);
    }
  }

  #use(link: Link): void {
    if (this.#closed.signal.aborted) {
      link.end();
      return;
    }
    const former = this.#link;
    this.#link = link;
    // The leases first: calls in flight then count before the gateway sends others.
    this.#options.calls.use(link);
    if (this.#state !== 'closing') {
      link.send('workerReady', {});
      if (this.#lastTrouble !== undefined) this.#options.settings().logger.info('Connected to the service again');
      this.#lastTrouble = undefined;
      this.#become('ready');
    }
    former?.end();
  }

  #receive(frame: Frame, link: Link): void {
    if (frame.kind === 'gatewayClosing') {
      link.isLeaving = true;
      void this.#connectAgain();
    } else this.#options.calls.receive(frame, link);
  }

  #onClose(reason: string, link: Link): void {
    if (link !== this.#link) return;
    this.#link = undefined;
    this.#options.calls.use(undefined);
    if (this.#state === 'ready') this.#become('reconnecting');
    this.#warn(`The connection to the service has ended: ${reason}`);
    void this.#connectAgain();
  }

  /** The instances of a gateway do not all come at once. */
  async #connectAgain(): Promise<void> {
    await wait(jitterMs(), undefined, { signal: this.#closed.signal }).catch(() => undefined);
    await this.#connect();
  }

  #become(state: ConnectionState): void {
    if (state === this.#state) return;
    this.#state = state;
    this.#options.onState(state);
  }

  /** The same trouble once. */
  #warn(message: string): void {
    if (message === this.#lastTrouble) return;
    this.#lastTrouble = message;
    this.#options.settings().logger.warn(message);
  }
}
