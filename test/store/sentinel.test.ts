import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { freePort } from '../../scripts/lib/ports.ts';
import { findRedis } from '../../scripts/lib/redis-program.ts';
import { run } from '../support/program.ts';
import { SECRETS, type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const ROOT = resolve(import.meta.dirname, '../..');

describe('INGEST_DURABILITY=fsync with Redis Sentinel', () => {
  let dir: string;
  let ports: number[];
  let children: ChildProcess[];
  let admins: Redis[];
  let service: Service;

  before(async () => {
    dir = mkdtempSync(join(tmpdir(), 'tidegate-sentinel-'));
    ports = [await freePort(), await freePort(), await freePort()];
    const [first, second, sentinel] = ports as [number, number, number];
    const durable = ['--appendonly', 'yes', '--appendfsync', 'always', '--save', '', '--repl-diskless-sync-delay', '0'];
    const start = (port: number, args: string[]) => {
      const { file, argv0 } = findRedis();
      const own = join(dir, String(port));
      mkdirSync(own, { recursive: true });
      return spawn(file, [...args, '--port', String(port), '--bind', '127.0.0.1', '--dir', own], {
        argv0,
        stdio: 'ignore',
      });
    };
    const config = join(dir, 'sentinel.conf');
    writeFileSync(
      config,
      [
        `sentinel monitor events 127.0.0.1 ${first} 1`,
        'sentinel down-after-milliseconds events 500',
        'sentinel failover-timeout events 3000',
      ].join('\n'),
    );
    children = [start(first, durable), start(second, [...durable, '--replicaof', `127.0.0.1 ${first}`])];
    admins = [first, second].map((port) => new Redis(port, '127.0.0.1', { retryStrategy: () => 50 }));
    for (const admin of admins) admin.on('error', () => {});
    const follows = async () => /state=online/.test((await admins[0]?.info('replication')) ?? '');
    await until(follows, { describe: 'the replica follows' });
    children.push(start(sentinel, [config, '--sentinel']));
    const watcher = new Redis(sentinel, '127.0.0.1');
    watcher.on('error', () => {});
    const watches = async () => /slaves=1/.test(await watcher.info('sentinel'));
    await until(watches, { describe: 'the Sentinel knows both' });
    watcher.disconnect();
    service = await startService({ workers: 0, env: settings() });
  });
  after(async () => {
    await service?.stop();
    for (const admin of admins) admin.disconnect();
    for (const child of children) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    }
    rmSync(dir, { recursive: true });
  });

  const settings = () => ({
    REDIS_URL: 'redis://127.0.0.1',
    REDIS_SENTINEL_URLS: `redis://127.0.0.1:${ports[2]}`,
    REDIS_SENTINEL_MASTER: 'events',
    INGEST_DURABILITY: 'fsync',
  });

  it('is shown by the release check with the server that is the master', async () => {
    const env = { ...SECRETS, ...settings(), PUBLIC_URL: 'https://events.example.com', TRUST_PROXY: '1' };
    const { exitCode, output } = await run('node', ['src/release.ts'], { cwd: ROOT, env });
    expect(exitCode, output).to.equal(0);
    expect(output).to.include(`The Sentinels name 127.0.0.1:${ports[0]} as the master "events"`);
  });

  it('acknowledges no event that a failover loses, and none while the new master has no replica', async () => {
    const [master, replica] = admins as [Redis, Redis];
    const acknowledged: string[] = [];
    let stopped = false;
    let sent = 0;
    const sender = async () => {
      while (!stopped) {
        const { status, body } = await service.post('/e/key', { id: `${sent++}`, name: 'sentinel/x', data: {} });
        if (status === 200) acknowledged.push(body.ids[0]);
        else expect(status, JSON.stringify(body)).to.equal(503);
      }
    };
    const senders = Promise.all(Array.from({ length: 8 }, sender));
    senders.catch(() => {});
    await until(() => acknowledged.length > 200, { describe: 'events are acknowledged' });
    children[0]?.kill('SIGKILL');
    master.disconnect();
    const promoted = async () => /role:master/.test(await replica.info('replication'));
    await until(promoted, { describe: 'the replica is the master' });
    stopped = true;
    await senders;
    const stored = new Set<string>();
    for await (const keys of replica.scanStream({ match: '*:queue:ingest:*', count: 1_000 })) {
      for (const key of keys as string[]) {
        if (!/:ingest:\d+$/.test(key)) continue;
        const { events } = JSON.parse((await replica.hget(key, 'data')) ?? '') as { events: { internalId: string }[] };
        for (const { internalId } of events) stored.add(internalId);
      }
    }
    expect(acknowledged.filter((id) => !stored.has(id))).to.deep.equal([]);
    const alone = await service.post('/e/key', { name: 'sentinel/x', data: {} });
    expect(alone.status, JSON.stringify(alone.body)).to.equal(503);
  });
});
