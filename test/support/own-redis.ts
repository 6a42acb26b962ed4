/** A separate Redis for a test, which can stop and restart at the same address with the same data. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from '../../scripts/lib/ports.ts';
import { findRedis } from '../../scripts/lib/redis-program.ts';

export interface OwnRedis {
  url: string;
  /** Keeps its connections but does not respond. */
  pause(): void;
  resume(): void;
  /** Stops; connections break and new ones are refused. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Stops it and deletes its data. */
  remove(): Promise<void>;
}

/** @param env variables beside those of the tests */
export async function startOwnRedis(env: Record<string, string> = {}): Promise<OwnRedis> {
  const { file, argv0 } = findRedis();
  const port = await freePort();
  const dir = mkdtempSync(join(tmpdir(), 'tidegate-own-redis-'));
  const args = [
    '--port',
    String(port),
    '--bind',
    '127.0.0.1',
    '--dir',
    dir,
    '--appendonly',
    'yes',
    '--appendfsync',
    'always',
  ];
  const url = `redis://127.0.0.1:${port}`;
  let child: ChildProcess | undefined;

  const own: OwnRedis = {
    url,
    pause: () => void child?.kill('SIGSTOP'),
    resume: () => void child?.kill('SIGCONT'),
    async start() {
      child = spawn(file, args, { argv0, stdio: 'ignore', env: { ...process.env, ...env } });
      await responds(url);
    },
    async stop() {
      if (!child) return;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
      child = undefined;
    },
    async remove() {
      await own.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
  await own.start();
  return own;
}

async function responds(url: string): Promise<void> {
  const probe = new Redis(url, { retryStrategy: () => 20, maxRetriesPerRequest: null });
  probe.on('error', () => {});
  await probe.ping();
  probe.disconnect();
}
