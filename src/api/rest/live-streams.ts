/** Server-sent events: forwards the live updates of the store to the clients that follow an environment, at most four messages of a kind per
 *  second, and one while there are many updates. A message is compressed once for all clients. Without clients nothing is done. */
import type { Readable } from 'node:stream';
import { Composed } from '../../model/values/composed.ts';
import { type LiveFeed, type LiveUpdate, LiveUpdateBuffer } from '../../store/telemetry/live-updates.ts';
import { PartStream, SharedPart } from '../http/shared-gzip.ts';
import { presentLiveUpdate } from '../views/live.ts';
import type { LiveRunStates } from './live-run-states.ts';

const PING_MS = 15_000;
/** Minimum time between two messages while there are many updates. */
const BUSY_INTERVAL_MS = 1_000;
/** Interval at which the access of each client is checked again. */
const RECHECK_MS = 5_000;
/** Time for which a browser waits before it reconnects. */
const RETRY_MS = 2_000;
/** A client that reads more slowly than this is disconnected; it reconnects and starts over. */
const MAX_BUFFERED_BYTES = 1_048_576;
const MAX_CLIENTS = 1_000;
/** Maximum number of clients per principal, so that no principal uses up the capacity of others. */
const MAX_CLIENTS_OF_PRINCIPAL = 250;

const HELLO_TEXT = 'event: hello\ndata: {}\n\n';
const HELLO = new SharedPart(HELLO_TEXT);
const FIRST = new SharedPart(`retry: ${RETRY_MS}\n${HELLO_TEXT}`);
const PING = new SharedPart(': ping\n\n');

export interface StreamClient {
  env: string;
  /** Kind and ID. */
  principal: string;
  /** Whether the client also gets updates of the whole installation. */
  seesInstallation: boolean;
  gzip: boolean;
  /** Whether the client may still follow the stream. Rejects if that cannot be checked. */
  isAllowed(): Promise<boolean>;
}

export class LiveStreams {
  readonly #feed: LiveFeed;
  readonly #runStates: LiveRunStates;
  readonly #channels = new Map<string, Channel>();
  readonly #installationChannel: Channel;
  readonly #clients = new Map<PartStream, StreamClient>();
  #timers: NodeJS.Timeout[] = [];
  #closed = false;

  constructor(feed: LiveFeed, runStates: LiveRunStates) {
    this.#feed = feed;
    this.#runStates = runStates;
    this.#installationChannel = new Channel({ feed, runStates, env: undefined });
    feed.onGap(() => this.#sendAll(HELLO));
  }

  /** undefined if there are too many clients, in total or of the principal, or the process is shutting down. */
  open(client: StreamClient): Readable | undefined {
    if (this.#closed || this.#clients.size >= MAX_CLIENTS) return undefined;
    const own = [...this.#clients.values()].filter(({ principal }) => principal === client.principal);
    if (own.length >= MAX_CLIENTS_OF_PRINCIPAL) return undefined;
    const stream = new PartStream({ gzip: client.gzip, maxBufferedBytes: MAX_BUFFERED_BYTES });
    const channels = [this.#channelOf(client.env), ...(client.seesInstallation ? [this.#installationChannel] : [])];
    this.#clients.set(stream, client);
    for (const channel of channels) channel.join(stream);
    stream.once('close', () => {
      this.#clients.delete(stream);
      for (const channel of channels) channel.leave(stream);
      if (this.#clients.size === 0) this.#stopTimers();
    });
    if (this.#timers.length === 0) this.#startTimers();
    stream.send(FIRST);
    return stream;
  }

  /** Ends all streams and opens no more. */
  close(): void {
    this.#closed = true;
    for (const stream of this.#clients.keys()) stream.finish();
    this.#stopTimers();
  }

  #channelOf(env: string): Channel {
    const channel = this.#channels.get(env) ?? new Channel({ feed: this.#feed, runStates: this.#runStates, env });
    this.#channels.set(env, channel);
    return channel;
  }

  #startTimers(): void {
    this.#timers = [
      setInterval(() => this.#sendAll(PING), PING_MS).unref(),
      setInterval(() => this.#recheckAccess(), RECHECK_MS).unref(),
    ];
  }

  #stopTimers(): void {
    for (const timer of this.#timers) clearInterval(timer);
    this.#timers = [];
    this.#channels.clear();
  }

  #sendAll(part: SharedPart): void {
    for (const stream of this.#clients.keys()) stream.send(part);
  }

  #recheckAccess(): void {
    for (const [stream, client] of this.#clients) {
      // If Redis does not answer, the stream continues.
      client.isAllowed().then(
        (allowed) => void (allowed || stream.finish()),
        () => undefined,
      );
    }
  }
}

/** The clients of one environment, or of the installation. */
class Channel extends Composed<{ feed: LiveFeed; runStates: LiveRunStates; env: string | undefined }> {
  readonly #streams = new Set<PartStream>();
  readonly #buffer = new LiveUpdateBuffer((updates) => void this.#send(updates), BUSY_INTERVAL_MS);
  #stopListening: (() => void) | undefined;
  #isSending = false;

  join(stream: PartStream): void {
    this.#streams.add(stream);
    this.#stopListening ??= this.deps.feed.subscribe(this.deps.env, (updates) => this.#buffer.addAll(updates));
  }

  leave(stream: PartStream): void {
    this.#streams.delete(stream);
    if (this.#streams.size > 0) return;
    this.#stopListening?.();
    this.#stopListening = undefined;
  }

  async #send(updates: LiveUpdate[]): Promise<void> {
    // Messages stay in order. Later updates wait in the buffer, which bounds them.
    if (this.#isSending) return this.#buffer.addAll(updates);
    if (this.#streams.size === 0) return;
    this.#isSending = true;
    const told = this.deps.env === undefined ? updates : await this.deps.runStates.addTo(this.deps.env, updates);
    this.#isSending = false;
    this.#sendNow(told);
  }

  #sendNow(updates: readonly LiveUpdate[]): void {
    const messages = updates.map((update) => {
      return `event: ${update.kind}\ndata: ${JSON.stringify(presentLiveUpdate(update))}\n\n`;
    });
    const part = new SharedPart(messages.join(''));
    for (const stream of this.#streams) stream.send(part);
  }
}
