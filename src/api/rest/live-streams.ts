/** Server-sent events: what the store's live feed tells goes to everybody who watches that environment, at most four messages of a kind
 *  in a second. Nothing runs while nobody watches. */
import { PassThrough, type Readable } from 'node:stream';
import { type LiveFeed, type LiveUpdate, LiveUpdateBuffer } from '../../store/telemetry/live-updates.ts';
import { presentNews } from '../views/live.ts';

const PING_MS = 15_000;
/** Access is asked for again so often. */
const RECHECK_MS = 5_000;
/** Where the browser tries again after. */
const RETRY_MS = 2_000;
/** One that reads no faster than that loses the connection, and begins anew. */
const MAX_BEHIND_BYTES = 1_048_576;
const MAX_VIEWERS = 1_000;

const HELLO = 'event: hello\ndata: {}\n\n';

export interface Viewer {
  env: string;
  /** Whether news of the whole account are for them too. */
  ofAccount: boolean;
  /** Whether they may still watch. An error says that it is not known. */
  mayWatch(): Promise<boolean>;
}

export class LiveStreams {
  readonly #feed: LiveFeed;
  readonly #byEnvironment = new Map<string, Audience>();
  readonly #ofAccount: Audience;
  readonly #viewers = new Map<PassThrough, Viewer>();
  #timers: NodeJS.Timeout[] = [];
  #closed = false;

  constructor(feed: LiveFeed) {
    this.#feed = feed;
    this.#ofAccount = new Audience(feed, undefined);
    feed.onGap(() => this.#sendAll(HELLO));
  }

  /** undefined: there are too many, or the process ends. */
  open(viewer: Viewer): Readable | undefined {
    if (this.#closed || this.#viewers.size >= MAX_VIEWERS) return undefined;
    const stream = new PassThrough();
    const audiences = [this.#audienceOf(viewer.env), ...(viewer.ofAccount ? [this.#ofAccount] : [])];
    this.#viewers.set(stream, viewer);
    for (const audience of audiences) audience.join(stream);
    stream.once('close', () => {
      this.#viewers.delete(stream);
      for (const audience of audiences) audience.leave(stream);
      if (this.#viewers.size === 0) this.#rest();
    });
    if (this.#timers.length === 0) this.#wake();
    send(stream, `retry: ${RETRY_MS}\n${HELLO}`);
    return stream;
  }

  /** Ends all, and opens none any more. */
  close(): void {
    this.#closed = true;
    for (const stream of this.#viewers.keys()) stream.end();
    this.#rest();
  }

  #audienceOf(env: string): Audience {
    const audience = this.#byEnvironment.get(env) ?? new Audience(this.#feed, env);
    this.#byEnvironment.set(env, audience);
    return audience;
  }

  #wake(): void {
    this.#timers = [
      setInterval(() => this.#sendAll(': ping\n\n'), PING_MS).unref(),
      setInterval(() => this.#recheck(), RECHECK_MS).unref(),
    ];
  }

  #rest(): void {
    for (const timer of this.#timers) clearInterval(timer);
    this.#timers = [];
    this.#byEnvironment.clear();
  }

  #sendAll(text: string): void {
    for (const stream of this.#viewers.keys()) send(stream, text);
  }

  #recheck(): void {
    for (const [stream, viewer] of this.#viewers) {
      // Whether Redis answers has nothing to do with who may watch.
      viewer.mayWatch().then(
        (may) => void (may || stream.end()),
        () => undefined,
      );
    }
  }
}

/** Those who watch one environment, or the account. */
class Audience {
  readonly #streams = new Set<PassThrough>();
  readonly #gathering = new LiveUpdateBuffer((news) => this.#send(news));
  readonly #feed: LiveFeed;
  readonly #env: string | undefined;
  #stopListening: (() => void) | undefined;

  constructor(feed: LiveFeed, env: string | undefined) {
    this.#feed = feed;
    this.#env = env;
  }

  join(stream: PassThrough): void {
    this.#streams.add(stream);
    this.#stopListening ??= this.#feed.subscribe(this.#env, (news) => this.#gathering.addAll(news));
  }

  leave(stream: PassThrough): void {
    this.#streams.delete(stream);
    if (this.#streams.size > 0) return;
    this.#stopListening?.();
    this.#stopListening = undefined;
  }

  #send(all: LiveUpdate[]): void {
    const text = all.map((news) => `event: ${news.kind}\ndata: ${JSON.stringify(presentNews(news))}\n\n`).join('');
    for (const stream of this.#streams) send(stream, text);
  }
}

function send(stream: PassThrough, text: string): void {
  if (stream.writableEnded) return;
  if (stream.writableLength + stream.readableLength > MAX_BEHIND_BYTES) stream.destroy();
  else stream.write(text);
}
