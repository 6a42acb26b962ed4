/** A client of the service under test. It reads Redis directly where API requests would add load. */
import { setTimeout } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { hashedKey } from '../src/functions/signing.ts';
import { INGEST, QUEUE_KEYS, queueKey, RUNS } from '../src/store/keys/bullmq.ts';
import { inPipelines } from '../src/store/redis/connection/connection.ts';
import { keyspace, type PartitionKeyspace } from '../src/store/redis/keyspace/keyspace.ts';
import { TRANSFORM } from './payloads.ts';

export const SECRETS = {
  EVENT_KEYS: 'bench-key-0123456789',
  SECRET_KEY: 'bench-secret-key-0123456789abcdef',
  API_KEY: 'bench-api-key-0123456789',
  SIGNING_KEY: 'signkey-bench-00ff',
  API_RATE_LIMIT: '1000000',
};
const ENV = 'production';
const BATCH = 100;
const SENDS_AT_ONCE = 4;
/** Longer than the first reconciliation of a run takes to come. */
const AWAKE_MS = 30_000;

export interface BenchFunction {
  id: string;
  event?: string;
  /** Schedules. */
  crons?: readonly string[];
  expression?: string;
  /** A second trigger. */
  also?: string;
  /** Fields of flow control: concurrency, throttle, … */
  options?: object;
}

export interface QueuedJobs {
  /** Jobs. */
  ingest: number;
  runs: number;
}

export class Service {
  /** `POST` events here. */
  readonly eventUrl: string;
  readonly url: string;
  /** `authorization` of an app. */
  readonly proof = `Bearer ${hashedKey(SECRETS.SIGNING_KEY)}`;
  readonly #hostUrl: string;
  readonly #redis: Redis;
  readonly #partitions: PartitionKeyspace[];

  /** @param partitions number of them */
  constructor(url: string, hostUrl: string, redis: Redis, partitions = 1) {
    this.eventUrl = `${url}/e/${SECRETS.EVENT_KEYS}`;
    this.url = url;
    this.#hostUrl = hostUrl;
    this.#redis = redis;
    const keys = keyspace({ prefix: 'service', cluster: redis.isCluster });
    this.#partitions = Array.from({ length: partitions }, (_, n) => keys.partition(n));
  }

  /** Calls the API. @returns `data` */
  async api<T>(path: string, body?: object): Promise<T> {
    const headers = { authorization: `Bearer ${SECRETS.API_KEY}`, 'content-type': 'application/json' };
    const init = body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers };
    const response = await fetch(this.url + path, init);
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
    return ((await response.json()) as { data: T }).data;
  }

  /** Creates a webhook with TRANSFORM. @returns its URL */
  async createWebhook(more: object = {}): Promise<string> {
    return (await this.api<{ url: string }>('/v1/webhooks', { name: 'bench', transform: TRANSFORM, ...more })).url;
  }

  /** Registers functions of the function host. */
  async register(app: string, functions: readonly BenchFunction[]): Promise<void> {
    const onTheWire = functions.map(({ id, event, expression, also, crons = [], options }) => {
      const runtime = { type: 'http', url: `${this.#hostUrl}/?fnId=${app}-${id}&stepId=step` };
      const triggers = [
        ...(event ? [{ event, ...(expression && { expression }) }] : []),
        ...(also ? [{ event: also }] : []),
        ...crons.map((cron) => ({ cron })),
      ];
      return {
        id: `${app}-${id}`,
        name: id,
        triggers,
        ...options,
        steps: { step: { id: 'step', name: 'step', runtime } },
      };
    });
    const response = await fetch(`${this.url}/fn/register`, {
      method: 'POST',
      headers: { 'x-service-sdk': 'bench:v1.0.0', authorization: this.proof },
      body: JSON.stringify({ url: this.#hostUrl, appName: app, functions: onTheWire }),
    });
    if (!response.ok) throw new Error(await response.text());
  }

  async send(body: object): Promise<void> {
    await this.#post(JSON.stringify(body));
  }

  /** Sends events in concurrent batches. @param onProgress called with the number of sent events */
  async sendMany(event: object, count: number, onProgress: (sent: number) => void = () => {}): Promise<void> {
    const full = JSON.stringify(Array.from({ length: BATCH }, () => event));
    let sent = 0;
    const work = async () => {
      while (sent < count) {
        const size = Math.min(BATCH, count - sent);
        sent += size;
        await this.#post(size === BATCH ? full : JSON.stringify(Array.from({ length: size }, () => event)));
        onProgress(sent);
      }
    };
    await Promise.all(Array.from({ length: SENDS_AT_ONCE }, work));
  }

  /** Sends events that differ, in concurrent batches. @param eventOf by their number */
  async sendEach(eventOf: (n: number) => object, count: number): Promise<void> {
    let sent = 0;
    const work = async () => {
      while (sent < count) {
        const first = sent;
        sent += Math.min(BATCH, count - sent);
        await this.#post(JSON.stringify(Array.from({ length: sent - first }, (_, n) => eventOf(first + n))));
      }
    };
    await Promise.all(Array.from({ length: SENDS_AT_ONCE }, work));
  }

  async #post(body: string): Promise<void> {
    const response = await fetch(this.eventUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    if (response.status !== 200) throw new Error(await response.text());
    await response.arrayBuffer();
  }

  /** The number of events that are stored and matched. */
  async ingestedEvents(): Promise<number> {
    return this.#sum((await this.#indexes()).map((index) => ['zcard', index]));
  }

  /** An event in the middle of the list. */
  async medianEvent(): Promise<{ at: number; id: string }> {
    const [index = ''] = await this.#indexes();
    return this.#middleOf(index);
  }

  /** A run in the middle of the function's completed runs. */
  medianRun(functionId: string): Promise<{ at: number; id: string }> {
    return this.#middleOf((this.#partitions[0] as PartitionKeyspace).runIndex(ENV, 'Completed', functionId));
  }

  async #middleOf(index: string): Promise<{ at: number; id: string }> {
    const middle = Math.floor((await this.#redis.zcard(index)) / 2);
    const [id = '', at] = await this.#redis.zrange(index, middle, String(middle), 'WITHSCORES');
    return { id, at: Number(at) };
  }

  /** Event IDs, about as many of each name. */
  async someEventIds(count: number): Promise<string[]> {
    const indexes = await this.#indexes();
    const each = Math.ceil(count / indexes.length);
    const ids = await Promise.all(indexes.map((index) => this.#redis.zrandmember(index, each) as Promise<string[]>));
    return ids.flat().slice(0, count);
  }

  /** One index for each event name and partition. */
  async #indexes(): Promise<string[]> {
    const indexes = this.#partitions.map(async (keys) => {
      const names = await this.#redis.zrange(keys.eventNames(ENV), '0', '-1');
      return names.map((name) => keys.eventIndex(ENV, name));
    });
    return (await Promise.all(indexes)).flat();
  }

  /** Waiting and active jobs. @throws Error when more jobs failed than expected: the measurement would be invalid */
  async queuedJobs(expectedFailures = 0): Promise<QueuedJobs> {
    const listed = (queue: string) =>
      this.#sum(this.#queueKeys(queue, [QUEUE_KEYS.waiting, QUEUE_KEYS.active]).map((key) => ['llen', key]));
    const sorted = (queue: string, states: string[]) =>
      this.#sum(this.#queueKeys(queue, states).map((key) => ['zcard', key]));
    const [ingest, runs, wakes, retried, failed] = await Promise.all([
      listed(INGEST),
      listed(RUNS),
      sorted(RUNS, [QUEUE_KEYS.prioritized]),
      sorted(INGEST, [QUEUE_KEYS.failed, QUEUE_KEYS.delayed]),
      sorted(RUNS, [QUEUE_KEYS.failed]),
    ]);
    if (failed + retried > expectedFailures) throw new Error('jobs of the service failed');
    return { ingest, runs: runs + wakes };
  }

  /** Waits until all active runs sleep for long: until none is reconciled soon. Until then they are not packed. */
  async untilAsleep(): Promise<void> {
    const awake = () =>
      this.#sum(this.#partitions.map(({ activeRuns }) => ['zcount', activeRuns, '-inf', Date.now() + AWAKE_MS]));
    while ((await awake()) > 0) await setTimeout(500);
  }

  /** Waits until all active runs are in Postgres. */
  async untilOffloaded(): Promise<void> {
    while ((await this.#sum(this.#partitions.map(({ activeRuns }) => ['zcard', activeRuns]))) > 0)
      await setTimeout(500);
  }

  /** Waits until all events are ingested. */
  untilIngested(): Promise<void> {
    return this.#until(({ ingest }) => ingest === 0);
  }

  /** Waits until all jobs are done. */
  untilDrained(expectedFailures?: number): Promise<void> {
    return this.#until(({ ingest, runs }) => ingest + runs === 0, expectedFailures);
  }

  /** Resets the count of failed jobs. */
  async clearFailedJobs(): Promise<void> {
    for (const key of this.#queueKeys(RUNS, [QUEUE_KEYS.failed])) await this.#redis.del(key);
  }

  #queueKeys(queue: string, states: readonly string[]): string[] {
    return this.#partitions.flatMap(({ queues }) => states.map((state) => queueKey(queues, queue, state)));
  }

  async #sum(commands: Parameters<typeof inPipelines>[1]): Promise<number> {
    return (await inPipelines<number>(this.#redis, commands)).reduce((sum, count) => sum + count, 0);
  }

  async #until(isDone: (queued: QueuedJobs) => boolean, expectedFailures?: number): Promise<void> {
    while (!isDone(await this.queuedJobs(expectedFailures))) await setTimeout(50);
  }
}
