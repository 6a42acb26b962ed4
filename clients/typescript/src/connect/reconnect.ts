/** Keeps an app connected: one WebSocket after another, until `close`. */
import { setTimeout as wait } from 'node:timers/promises';
import { ServeError } from '../errors.ts';
import type { Settings } from '../settings.ts';
import { backoffMs, jitterMs } from './backoff.ts';
import type { CallsInFlight } from './calls.ts';
import { ConnectError } from './error.ts';
import type { Frame } from './frames.ts';
import { type GatewaySocket, openSocket, type WebSocketClass } from './socket.ts';

/** `connecting` at first; `ready` for calls; `reconnecting` after a break; `closing` while the last calls end; `closed`. */
export type ConnectionState = 'connecting' | 'ready' | 'reconnecting' | 'closing' | 'closed';

export interface Connection {
  readonly state: ConnectionState;
  /** Takes no more calls, and resolves when all calls in flight have ended and the connection is closed. */
  close(): Promise<void>;
}

export interface ReconnectingOptions {
  calls: CallsInFlight;
  settings: () => Settings;
  WebSocket: WebSocketClass;
  /** The part of the first message that says who connects. */
  instance: object;
  onState(state: ConnectionState): void;
}

export class ReconnectingConnection implements Connection {
  readonly #options: ReconnectingOptions;
  readonly #closed = new AbortController();
  #state: ConnectionState = 'connecting';
  #socket: GatewaySocket | undefined;
  #isConnecting = false;
  #lastTrouble: string | undefined;

  constructor(options: ReconnectingOptions) {
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
    this.#socket?.send('workerPause', {});
    await this.#options.calls.idle();
    this.#closed.abort();
    this.#options.calls.use(undefined);
    this.#socket?.end();
    this.#socket = undefined;
    this.#become('closed');
  }

  get #needsSocket(): boolean {
    return !this.#closed.signal.aborted && (this.#socket === undefined || this.#socket.isLeaving);
  }

  async #connect(): Promise<void> {
    if (this.#isConnecting) return;
    this.#isConnecting = true;
    try {
      for (let tries = 0; this.#needsSocket; tries++) await this.#tryToConnect(tries);
    } finally {
      this.#isConnecting = false;
    }
  }

  /** @throws ConnectError, ConfigError: a refusal ends the start */
  async #tryToConnect(tries: number): Promise<void> {
    const { settings, WebSocket, instance } = this.#options;
    const { signal } = this.#closed;
    try {
      await openSocket({
        settings: settings(),
        WebSocket,
        instance,
        onOpen: (socket) => this.#use(socket),
        onFrame: (frame, socket) => this.#receive(frame, socket),
        onClose: (reason, socket) => this.#onClose(reason, socket),
      });
    } catch (error) {
      const passes = error instanceof ConnectError ? error.passes : error instanceof ServeError;
      if (this.#state === 'connecting' && !passes) throw error;
      this.#warn((error as Error).message);
      await wait(backoffMs(tries), undefined, { signal }).catch(() => undefined);
    }
  }

  #use(socket: GatewaySocket): void {
    if (this.#closed.signal.aborted) {
      socket.end();
      return;
    }
    const former = this.#socket;
    this.#socket = socket;
    // The leases first: calls in flight then count before the gateway sends others.
    this.#options.calls.use(socket);
    if (this.#state !== 'closing') {
      socket.send('workerReady', {});
      if (this.#lastTrouble !== undefined) this.#options.settings().logger.info('Connected to the service again');
      this.#lastTrouble = undefined;
      this.#become('ready');
    }
    former?.end();
  }

  #receive(frame: Frame, socket: GatewaySocket): void {
    if (frame.kind === 'gatewayClosing') {
      socket.isLeaving = true;
      void this.#connectAgain();
    } else this.#options.calls.receive(frame, socket);
  }

  #onClose(reason: string, socket: GatewaySocket): void {
    if (socket !== this.#socket) return;
    this.#socket = undefined;
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
