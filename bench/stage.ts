/** What the rows are measured on: the service in production mode on a Redis of its own, a bare host of functions, the references. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { findRedis } from '../scripts/lib/redis-program.ts';
import { startRedis } from '../scripts/lib/redis-server.ts';
import { hashedKey } from '../src/functions/signing.ts';
import type { HostReport } from './host.ts';
import { type Part, start } from './processes.ts';

const SECRETS = {
  EVENT_KEYS: 'bench-key',
  SECRET_KEY: 'bench-secret-key-0123456789abcdef',
  API_KEY: 'bench-api-key-0123456789',
  SIGNING_KEY: 'signkey-bench-00ff',
};
const APP = 'bench';

export interface BenchFunction {
  id: string;
  event: string;
}

export class Stage {
  readonly redis: Redis;
  readonly redisUrl: string;
  readonly #env: Record<string, string>;
  readonly #end: () => Promise<void>;
  readonly #parts: Part[] = [];
  #web: Part | undefined;
  #host: Part | undefined;

  constructor(redisUrl: string, end: () => Promise<void>) {
    this.redisUrl = redisUrl;
    this.redis = new Redis(redisUrl);
    this.#end = end;
    this.#env = {
      HOST: '127.0.0.1',
      PORT: '0',
      REDIS_URL: redisUrl,
      LOG_LEVEL: 'error',
      MODE: 'production',
      ...SECRETS,
    };
  }

  async begin(script: string, env: Record<string, string> = {}): Promise<Part> {
    const part = await start(script, env);
    this.#parts.push(part);
    return part;
  }

  async open(): Promise<void> {
    this.#host = await this.begin('bench/host.ts');
    this.#web = await this.begin('src/web.ts', this.#env);
  }

  startWorker(): Promise<Part> {
    return this.begin('src/worker.ts', this.#env);
  }

  get web(): Part {
    return this.#web as Part;
  }

  get host(): Part {
    return this.#host as Part;
  }

  /** Where to send events. */
  get door(): string {
    return `${this.web.url}/e/${SECRETS.EVENT_KEYS}`;
  }

  /** Asks the API. @returns `data` */
  async api<T>(path: string, body?: object): Promise<T> {
    const headers = { authorization: `Bearer ${SECRETS.API_KEY}`, 'content-type': 'application/json' };
    const init = body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers };
    const answer = await fetch(this.web.url + path, init);
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
    return ((await answer.json()) as { data: T }).data;
  }

  async register(functions: readonly BenchFunction[]): Promise<void> {
    const answer = await fetch(`${this.web.url}/fn/register`, {
      method: 'POST',
      headers: { 'x-service-sdk': 'bench:v1.0.0', authorization: `Bearer ${hashedKey(SECRETS.SIGNING_KEY)}` },
      body: JSON.stringify({ url: this.host.url, appName: APP, functions: functions.map((fn) => this.#onTheWire(fn)) }),
    });
    if (!answer.ok) throw new Error(await answer.text());
  }

  #onTheWire({ id, event }: BenchFunction) {
    const runtime = { type: 'http', url: `${this.host.url}/?fnId=${APP}-${id}&stepId=step` };
    return {
      id: `${APP}-${id}`,
      name: id,
      triggers: [{ event }],
      steps: { step: { id: 'step', name: 'step', runtime } },
    };
  }

  async send(body: object): Promise<void> {
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(this.door, { method: 'POST', headers, body: JSON.stringify(body) });
    if (answer.status !== 200) throw new Error(await answer.text());
  }

  async sendMany(event: object, count: number): Promise<void> {
    for (let n = 0; n < count; n += 100) await this.send(Array.from({ length: Math.min(100, count - n) }, () => event));
  }

  /** What the host has seen since the last report. */
  async report(): Promise<HostReport> {
    const answer = once(this.host.child, 'message');
    this.host.child.send('report');
    return (await answer)[0] as HostReport;
  }

  /** Waits for so many calls of the host. @returns when the last of them came, milliseconds since 1970 */
  async called(calls: number): Promise<number> {
    let seen = 0;
    let lastAt = 0;
    while (seen < calls) {
      await setTimeout(50);
      const next = await this.report();
      seen += next.calls;
      lastAt = next.lastAt || lastAt;
    }
    return lastAt;
  }

  /** Waits until no job is left. */
  async drained(): Promise<void> {
    for (;;) {
      const { queues } = await this.api<{ queues: { waiting: number; active: number }[] }>('/v1/overview');
      if (queues.every(({ waiting, active }) => waiting + active === 0)) return;
      await setTimeout(200);
    }
  }

  async usedMemory(): Promise<number> {
    return Number(/used_memory:(\d+)/.exec(await this.redis.info('memory'))?.[1]);
  }

  async close(): Promise<void> {
    for (const { child } of this.#parts) child.kill('SIGKILL');
    this.redis.disconnect();
    await this.#end();
  }
}

export async function openStage(): Promise<Stage> {
  const dir = mkdtempSync(join(tmpdir(), 'tidegate-bench-'));
  const redis = await startRedis(findRedis(), dir);
  const stage = new Stage(redis.url, async () => {
    await redis.stop();
    rmSync(dir, { recursive: true, force: true });
  });
  await stage.open();
  return stage;
}

/** Milliseconds since 1970, finely. */
export function now(): number {
  return performance.timeOrigin + performance.now();
}
