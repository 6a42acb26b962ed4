/** The Redis that faults hit. It syncs every write before it replies, so SIGKILL must lose nothing. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Redis } from 'ioredis';
import { freePort } from '../scripts/lib/ports.ts';
import { findRedis } from '../scripts/lib/redis-program.ts';

const ENDS_WITHIN_MS = 20_000;

export class RedisServer {
  readonly url: string;
  /** A connection for checks; commands wait while Redis is down. */
  readonly admin: Redis;
  readonly #port: number;
  readonly #dir: string;
  #child: ChildProcess | undefined;
  #output = '';

  constructor(port: number, dir: string) {
    this.#port = port;
    this.#dir = dir;
    this.url = `redis://127.0.0.1:${port}`;
    this.admin = new Redis(this.url, { maxRetriesPerRequest: null, retryStrategy: () => 100 });
    this.admin.on('error', () => {});
  }

  get running(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Resolves when Redis replies with its data loaded. */
  async start(): Promise<void> {
    if (this.running) return;
    const { file, argv0 } = findRedis();
    const settings = {
      port: String(this.#port),
      bind: '127.0.0.1',
      dir: this.#dir,
      appendonly: 'yes',
      appendfsync: 'always',
      save: '',
      'maxmemory-policy': 'noeviction',
      'shutdown-on-sigterm': 'force',
    };
    const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
    const child = spawn(file, args, { argv0, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        this.#output = (this.#output + text).slice(-20_000);
      });
    }
    this.#child = child;
    const ended = once(child, 'exit').then(() => {
      throw new Error(`Redis exited during startup:\n${this.#output}`);
    });
    const probe = new Redis(this.url, { maxRetriesPerRequest: null, retryStrategy: () => 50 });
    probe.on('error', () => {});
    try {
      await Promise.race([probe.ping(), ended]);
    } finally {
      probe.disconnect();
      ended.catch(() => undefined);
    }
  }

  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const child = this.#child;
    if (!child || !this.running) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    const straggler = setTimeout(() => child.kill('SIGKILL'), ENDS_WITHIN_MS);
    await exited;
    clearTimeout(straggler);
  }

  pause(): void {
    this.#child?.kill('SIGSTOP');
  }

  resume(): void {
    this.#child?.kill('SIGCONT');
  }

  output(): string {
    return this.#output;
  }
}

export async function redisIn(dir: string): Promise<RedisServer> {
  const server = new RedisServer(await freePort(), dir);
  await server.start();
  return server;
}
