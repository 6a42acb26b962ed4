import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { freePort } from '../../scripts/lib/ports.ts';
import { findPostgres } from '../../scripts/lib/postgres-program.ts';
import { findRedis } from '../../scripts/lib/redis-program.ts';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { type OwnRedis, startOwnRedis } from '../support/own-redis.ts';
import { dropSchema, postgresUrl, schemaOf } from '../support/postgres.ts';
import { connectRedis, type Redis } from '../support/redis.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const PAGE = readFileSync(resolve(import.meta.dirname, '../../docs/operate.md'), 'utf8');
/** 3.6 s. */
const HOT_HOURS = '0.001';
const SLEEP = { id: 'a'.repeat(40), op: 'Sleep', name: '25s' };
const WAIT = { id: 'b'.repeat(40), op: 'WaitForEvent', opts: { event: 'backup/go', timeout: '1h' } };

/** Runs a command of docs/operate.md with what stands for its variables and names. */
function runCommand(command: string, values: Record<string, string>): string {
  expect(PAGE, 'docs/operate.md').to.include(command);
  const filled = Object.entries(values).reduce((text, [name, value]) => text.replaceAll(name, value), command);
  const PATH = `${findPostgres().bin}:${process.env.PATH}`;
  return execFileSync('sh', ['-ec', filled], { encoding: 'utf8', env: { PATH } });
}

describe('A backup made as docs/operate.md describes', function () {
  this.timeout(600_000);
  this.bail(true);

  const folder = mkdtempSync(join(tmpdir(), 'tidegate-backup-'));
  const snapshot = join(folder, 'tidegate.rdb');
  const dump = join(folder, 'tidegate.dump');
  const ids: Record<string, string> = {};
  let original: OwnRedis;
  let restored: ChildProcess | undefined;
  let url: string;
  let host: AppHost;
  let service: Service;

  before(async () => {
    original = await startOwnRedis();
    host = await startAppHost();
  });
  after(async () => {
    await service.stop();
    await host.close();
    await original.remove();
    if (restored) {
      const exited = once(restored, 'exit');
      restored.kill('SIGKILL');
      await exited;
    }
    await dropSchema(schemaOf(service.prefix));
    rmSync(folder, { recursive: true, force: true });
  });

  const send = async (name: string) => (await service.post('/e/key', { name, data: { name } })).body.ids[0] as string;
  const runOf = async (id: string | undefined, status: string) => {
    const { body } = await service.waitFor(
      `/v1/events/${id}/runs`,
      ({ body }) => body.data?.[0]?.status === status,
      60_000,
    );
    return body.data[0];
  };

  it('of Redis and Postgres is made while the service runs', async () => {
    service = await startService({ processes: true, archive: true, env: { REDIS_URL: original.url, HOT_HOURS } });
    host.on('plain', () => ({ body: 'done' }));
    host.on('sleeps', ({ body }) =>
      body.ctx.stack.stack.length === 0 ? { status: 206, body: [SLEEP] } : { body: 'woke' },
    );
    host.on('waits', ({ body }) =>
      body.ctx.stack.stack.length === 0 ? { status: 206, body: [WAIT] } : { body: 'met' },
    );
    await host.register(
      service,
      ['plain', 'sleeps', 'waits'].map((id) => ({ id, triggers: [{ event: `backup/${id}` }] })),
    );
    ids.archived = await send('backup/plain');
    const { run_id: runId } = await runOf(ids.archived, 'Completed');
    const key = service.keys.of(runId).run('production', runId);
    const isArchived = async () => (await service.redis.exists(key)) === 0;
    await until(isArchived, { describe: 'the run is in Postgres', timeoutMs: 60_000 });
    ids.sleeps = await send('backup/sleeps');
    ids.waits = await send('backup/waits');
    for (const id of ['sleeps', 'waits']) {
      const { run_id: runId } = await runOf(ids[id], 'Running');
      const waits = (history: { status: string }[]) => history.some(({ status }) => status === 'Waiting');
      await service.waitFor(`/v1/runs/${runId}`, ({ body }) => waits(body.data.history), 60_000);
    }
    ids.hot = await send('backup/plain');
    await runOf(ids.hot, 'Completed');
    runCommand('redis-cli -u "$REDIS_URL" --rdb tidegate.rdb', { $REDIS_URL: original.url, 'tidegate.rdb': snapshot });
    runCommand('pg_dump "$DATABASE_URL" --schema tidegate --format custom --file tidegate.dump', {
      $DATABASE_URL: postgresUrl(),
      '--schema tidegate': `--schema ${schemaOf(service.prefix)}`,
      'tidegate.dump': dump,
    });
  });

  it('is restored into an empty Redis and Postgres', async () => {
    for (const one of [...service.webs, ...service.workers]) await one.kill();
    service.webs.length = 0;
    service.workers.length = 0;
    service.redis.disconnect();
    await original.remove();
    await dropSchema(schemaOf(service.prefix));

    const data = join(folder, 'redis');
    mkdirSync(data);
    copyFileSync(snapshot, join(data, 'dump.rdb'));
    const port = await freePort();
    url = `redis://127.0.0.1:${port}`;
    const start = async (appendonly: string) => {
      const { file, argv0 } = findRedis();
      const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', data, '--appendonly', appendonly];
      restored = spawn(file, args, { argv0, stdio: 'ignore' });
      const redis = connectRedis(url);
      await redis.ping();
      return redis;
    };
    const first: Redis = await start('no');
    expect(PAGE).to.include('--appendonly no');
    runCommand('redis-cli -u "$REDIS_URL" config set appendonly yes', { $REDIS_URL: url });
    await until(
      () => {
        const info = runCommand('redis-cli -u "$REDIS_URL" info persistence', { $REDIS_URL: url });
        return ['aof_rewrite_in_progress:0', 'aof_rewrite_scheduled:0'].every((line) => info.includes(line));
      },
      { describe: 'the append-only file is written' },
    );
    const keys = await first.dbsize();
    expect(keys).to.be.greaterThan(0);
    first.disconnect();
    // As usual, with what its file has.
    const exited = once(restored as ChildProcess, 'exit');
    restored?.kill('SIGKILL');
    await exited;
    const second = await start('yes');
    expect(await second.dbsize()).to.be.within(keys - 20, keys);
    second.disconnect();

    runCommand('pg_restore --dbname "$DATABASE_URL" --clean --if-exists tidegate.dump', {
      $DATABASE_URL: postgresUrl(),
      'tidegate.dump': dump,
    });
  });

  it('has the events and runs, and runs continue: sleeps wake, waits match their events', async () => {
    service.env.REDIS_URL = url;
    await Promise.all([service.startWeb(), service.startWorker()]);
    for (const id of [ids.archived, ids.hot]) {
      const { body } = await service.stored(id);
      expect(body.data.data).to.deep.equal({ name: 'backup/plain' });
      await runOf(id, 'Completed');
    }
    await send('backup/go');
    for (const id of ['sleeps', 'waits']) await runOf(ids[id], 'Completed');
    expect(host.calls('sleeps')).to.have.length(2);
    expect(host.calls('waits')).to.have.length(2);
    expect(host.calls('plain')).to.have.length(2);
    await runOf(await send('backup/plain'), 'Completed');
  });
});
