import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { findRedis } from '../../scripts/lib/redis-program.ts';
import { startRedis } from '../../scripts/lib/redis-server.ts';

describe('The Redis of scripts/dev', () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'tidegate-redis-'));
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  /** @returns its process ID */
  async function write(url: string): Promise<number> {
    const redis = new Redis(url);
    // A save point: Redis wants to save when it ends.
    await redis.config('SET', 'save', '1 1000000');
    await redis.set('key', 'value');
    const pid = Number(/process_id:(\d+)/.exec(await redis.info('server'))?.[1]);
    redis.disconnect();
    return pid;
  }

  function isRunning(pid: number): boolean {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  }

  it('keeps its data from one start to the next', async () => {
    const first = await startRedis(findRedis(), dir);
    await write(first.url);
    await first.stop();
    const second = await startRedis(findRedis(), dir);
    const redis = new Redis(second.url);
    expect(await redis.get('key')).to.equal('value');
    redis.disconnect();
    await second.stop();
  });

  it('stops on request, even when its last save fails', async () => {
    const server = await startRedis(findRedis(), dir);
    const pid = await write(server.url);
    rmSync(dir, { recursive: true });
    await server.stop();
    expect(isRunning(pid)).to.equal(false);
  });

  it('stops on request, even when it is stuck', async () => {
    const server = await startRedis(findRedis(), dir);
    const pid = await write(server.url);
    process.kill(pid, 'SIGSTOP');
    await server.stop();
    expect(isRunning(pid)).to.equal(false);
  });

  it('can be another server than the installed one', () => {
    expect(findRedis(findRedis().file)).to.have.property('file', findRedis().file);
    expect(() => findRedis('/bin/true')).to.throw(
      'REDIS_SERVER: got "/bin/true"; expected a redis-server or valkey-server.',
    );
  });
});
