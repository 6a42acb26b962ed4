import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { expect } from 'chai';
import { type Cluster, Redis } from 'ioredis';
import { type RedisCluster, startCluster } from '../../scripts/lib/cluster/cluster.ts';
import { migrate } from '../../src/archive/migrate.ts';
import { lowerFence, raiseFence } from '../../src/store/move/fence.ts';
import { type Keyspace, keyspace } from '../../src/store/redis/keyspace/keyspace.ts';
import { MOVE_FIELD } from '../../src/store/redis/keyspace/move-marker.ts';
import { type AppHost, type Call, type HostResponse, startAppHost } from '../support/app-host.ts';
import { type OwnRedis, startOwnRedis } from '../support/own-redis.ts';
import { archiveSettings, dropSchema } from '../support/postgres.ts';
import { freshPrefix, keysOf } from '../support/redis.ts';
import { SECRETS, type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const PREFIX = 'moving';
const LISTS = [
  'events?limit=100',
  'runs?limit=100',
  'apps',
  'functions',
  'webhooks',
  'event-keys',
  'users',
  'environments',
];
const hash = (id: string) => createHash('sha1').update(id).digest('hex');
const ops = (...body: object[]): HostResponse => ({ status: 206, body });

// biome-ignore lint/suspicious/noExplicitAny: tests say what they expect of it
type Loose = any;

/** Runs that are in Postgres when the move begins. */
function longWait(step: string) {
  return ({ body }: Call): HostResponse => {
    if (body.steps[hash(step)] !== undefined) return { body: body.steps[hash(step)].data };
    if (step === 'd') return ops({ op: 'Sleep', id: hash(step), name: '30d' });
    const opts = { event: 'move/long', if: 'async.data.n == event.data.n', timeout: '30d' };
    return ops({ op: 'WaitForEvent', id: hash(step), opts });
  };
}

/** Functions whose runs are in every state that takes time. */
const HANDLERS: Record<string, (call: Call) => HostResponse> = {
  sleeps: ({ body }) =>
    body.steps[hash('memo')] === undefined
      ? ops({ op: 'StepRun', id: hash('memo'), data: { kept: 1 } })
      : body.steps[hash('nap')] === undefined
        ? ops({ op: 'Sleep', id: hash('nap'), name: '3s' })
        : { body: body.steps[hash('memo')] },
  'sleeps-for-long': longWait('d'),
  'waits-for-long': longWait('w'),
  waits: ({ body }) =>
    body.steps[hash('wait')] === undefined
      ? ops({
          op: 'WaitForEvent',
          id: hash('wait'),
          opts: { event: 'move/go', if: 'async.data.n == event.data.n', timeout: '1h' },
        })
      : { body: body.steps[hash('wait')].data },
  'waits-for-any': ({ body }) =>
    body.steps[hash('wait')] === undefined
      ? ops({ op: 'WaitForEvent', id: hash('wait'), opts: { event: 'move/any', timeout: '1h' } })
      : { body: 'any' },
  signaled: ({ body }) =>
    body.steps[hash('signal')] === undefined
      ? ops({ op: 'WaitForSignal', id: hash('signal'), opts: { signal: 'move/signal', timeout: '1h' } })
      : { body: body.steps[hash('signal')].data.data },
  retries: ({ number }) => (number === 0 ? { status: 500, headers: { 'retry-after': '5' } } : { body: 'again' }),
  fails: () => ({ status: 400, headers: { 'x-service-no-retry': 'true' }, body: { name: 'Error', message: 'never' } }),
  ends: () => ({ body: 'at once' }),
  defers: ({ body }) =>
    body.steps[hash('signal')] === undefined
      ? ops(
          { op: 'DeferAdd', id: hash('d'), name: 'd', opts: { fn_slug: 'test-app-later', input: { d: 1 } } },
          { op: 'WaitForSignal', id: hash('signal'), opts: { signal: 'move/defer', timeout: '1h' } },
        )
      : { body: 'deferred' },
};

describe('A move from one Redis to a cluster', function () {
  this.timeout(600_000);
  let source: OwnRedis;
  let cluster: RedisCluster;
  let target: Cluster;
  let host: AppHost;
  const services: Service[] = [];
  const archive = archiveSettings(freshPrefix());

  before(async () => {
    [source, cluster, host] = await Promise.all([startOwnRedis(), startCluster({ replicas: 0 }), startAppHost()]);
    target = cluster.connect();
    await migrate({ url: archive.DATABASE_URL as string, tlsVerify: true, schema: archive.DATABASE_SCHEMA as string });
    for (const [id, handler] of Object.entries(HANDLERS)) host.on(id, handler);
  });

  after(async () => {
    await Promise.all(services.map((service) => service.stop().catch(() => {})));
    await host?.close();
    target?.disconnect();
    await Promise.all([cluster?.stop(), source?.remove()]);
    await dropSchema(archive.DATABASE_SCHEMA as string);
  });

  const start = async (env: Record<string, string>, workers = 1) => {
    const settings = { KEY_PREFIX: PREFIX, HOT_HOURS: '1', STALLED_AFTER_SECONDS: '10', ...archive, ...env };
    const service = await startService({ processes: true, dev: false, workers, env: settings });
    services.push(service);
    return service;
  };
  const onSource = () => ({ REDIS_URL: source.url });
  const onCluster = () => ({ REDIS_CLUSTER_URLS: cluster.urls.join(',') });
  const failure = async (env: Record<string, string>, workers = 0) => {
    try {
      const service = await start(env, workers);
      await service.stop();
    } catch (error) {
      return (error as Error).message;
    }
    throw new Error('it has started');
  };

  const move = (args: string[] = [], env: Record<string, string> = {}) => {
    const child = spawn('scripts/start', ['move', ...args], {
      cwd: ROOT,
      env: {
        ...process.env,
        MODE: 'production',
        ...SECRETS,
        KEY_PREFIX: PREFIX,
        MOVE_FROM_REDIS_URL: source.url,
        ...onCluster(),
        ...env,
      },
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output += text;
      });
    }
    return { child, output: () => output, ended: once(child, 'close').then(([code]) => code as number) };
  };

  /** Kills a move while it copies. It cannot end before: the node of the target that it marks at its end takes no writes until then. */
  const interruptMove = async (
    from: Redis,
    { prefix, partitionLayout }: Keyspace,
    env: Record<string, string> = {},
  ) => {
    const interrupted = move([], env);
    await until(() => from.hexists(partitionLayout, MOVE_FIELD), { describe: 'both sides are marked' });
    const marked: Redis[] = [];
    for (const node of target.nodes('master')) {
      if ((await node.keys(`{${prefix}*}:partition-layout`)).length > 0) marked.push(node);
    }
    const [node] = marked as [Redis];
    await node.call('CLIENT', 'PAUSE', 600_000, 'WRITE');
    try {
      await until(() => interrupted.output().includes('Copying'), { describe: 'it copies' });
    } finally {
      interrupted.child.kill('SIGKILL');
      expect(await interrupted.ended, interrupted.output()).to.not.equal(0);
      await node.call('CLIENT', 'UNPAUSE');
    }
  };

  const lists = async (service: Service) =>
    Object.fromEntries(
      await Promise.all(LISTS.map(async (path) => [path, withoutUse((await service.get(`/v1/${path}`)).body)])),
    );

  it('continues with everything where it was', async () => {
    const before = await start(onSource());
    const functions = [...Object.keys(HANDLERS), 'later'].map((id) => ({
      id,
      triggers: [{ event: `move/${id}` }],
      retries: id === 'fails' ? 0 : 3,
    }));
    await host.register(before, functions);
    const api = { ...before.apiHeaders };
    const webhook = await before.post(
      '/v1/webhooks',
      { name: 'Hook', transform: 'function transform(evt) { return { name: "hook/x", data: evt }; }' },
      api,
    );
    const key = await before.post('/v1/event-keys', { name: 'moved', environment: 'production' }, api);
    expect([webhook.status, key.status]).to.deep.equal([201, 201]);
    await before.post('/v1/users', { email: 'a@example.com', role: 'member' }, api);
    const send = async (service: Service, name: string, extra: object = {}, path = service.eventPath) => {
      const { status, body } = await service.post(path, { name, data: {}, ...extra });
      expect(status, JSON.stringify(body)).to.equal(200);
      return body.ids[0] as string;
    };
    const sent: Record<string, string> = {};
    for (const id of Object.keys(HANDLERS)) {
      sent[id] = await send(before, `move/${id}`, { id: `once-${id}`, data: { n: 7 } });
    }
    const runOf = async (service: Service, id: string, isThere: (run: Loose) => unknown) => {
      const { body } = await service.waitFor(`/v1/events/${sent[id]}/runs`, ({ body }) => {
        return body.data?.length === 1 && Boolean(isThere(body.data[0]));
      });
      return body.data[0] as Loose;
    };
    const statuses = { ends: 'Completed', fails: 'Failed' } as Record<string, string>;
    for (const id of Object.keys(HANDLERS)) {
      await until(() => host.calls(id).length > 0, { describe: `${id} is called` });
      await runOf(before, id, ({ status }) => status === (statuses[id] ?? 'Running'));
    }
    for (const id of ['waits', 'waits-for-any', 'signaled', 'defers']) {
      const { run_id } = await runOf(before, id, () => true);
      await before.waitFor(`/v1/runs/${run_id}`, ({ body }) => {
        return body.data?.history.some(({ status }: Loose) => status === 'Waiting');
      });
    }

    const onOneRedis = new Redis(source.url);
    const keys = keyspace({ prefix: PREFIX });
    const offloaded = keys.partition(0).offloadedRuns('production');
    await until(async () => (await onOneRedis.hlen(offloaded)) === 2, {
      describe: 'runs are in Postgres',
      timeoutMs: 60_000,
    });

    // With a process at work nothing happens.
    const refused = move();
    expect(await refused.ended).to.equal(1);
    expect(refused.output()).to.match(/Stop all web and worker processes first/);
    expect((await before.get('/readyz')).status).to.equal(200);

    await before.workers[0]?.stop();
    // Accepted, and in no list.
    sent.late = await send(before, 'move/ends', { id: 'once-late' });
    const duplicate = { id: 'once-duplicate', data: { d: 1 } };
    sent.duplicate = await send(before, 'move/ends', duplicate);
    const listed = await lists(before);
    expect(listed['runs?limit=100'].data).to.have.length(Object.keys(HANDLERS).length);
    await before.webs[0]?.stop();

    await interruptMove(onOneRedis, keys);
    onOneRedis.disconnect();
    expect(await failure(onCluster())).to.match(/still being moved to this Redis/);
    expect(await failure(onSource())).to.match(/is being moved from this Redis/);
    expect(await failure(onSource(), 1)).to.match(/is being moved from this Redis/);

    const repeated = move();
    expect(await repeated.ended, repeated.output()).to.equal(0);
    expect(repeated.output())
      .to.match(/Moved to .* 32 partitions/)
      .and.not.match(/differ/);
    expect(await failure(onSource())).to.match(/was moved from this Redis/);
    const again = move();
    expect(await again.ended).to.equal(0);
    expect(again.output()).to.match(/has been moved to .* already/);

    await expectNoFormerNames(target, PREFIX);
    // In force soon, so that new events are in all partitions.
    const layoutKey = (await keysOf(target as never, PREFIX)).find((name) =>
      name.endsWith(':partition-layout'),
    ) as string;
    const versions = JSON.parse((await target.hget(layoutKey, 'versions')) as string) as Loose[];
    expect(versions.map(({ count }) => count)).to.deep.equal([1, 32]);
    await target.hset(layoutKey, 'versions', JSON.stringify([versions[0], { count: 32, since: Date.now() }]));

    const web = await start(onCluster(), 0);
    const listedAfter = await lists(web);
    for (const path of LISTS)
      expect(JSON.stringify(listedAfter[path], null, 1), path).to.equal(JSON.stringify(listed[path], null, 1));
    expect((await web.post(`/e/${key.body.data.secret}`, { name: 'move/none', data: {} })).status).to.equal(200);
    const hook = webhook.body.data.url.replace(/^https?:..[^/]*/, '');
    expect((await web.post(hook, { x: 1 })).status).to.be.below(300);
    // The same ID as before counts once.
    expect(await send(web, 'move/ends', duplicate)).to.equal(sent.duplicate);
    await web.startWorker();

    for (let n = 0; n < 40; n++) await send(web, 'move/new');
    await send(web, 'move/go', { data: { n: 7, met: true } });
    await send(web, 'move/any');
    await send(web, 'move/long', { data: { n: 7, met: 'in Postgres' } });
    const { run_id: asleep } = await runOf(web, 'sleeps-for-long', () => true);
    expect((await web.request('DELETE', `/v1/runs/${asleep}`, undefined, api)).status).to.equal(200);
    const signals = ['move/signal', 'move/defer'].map((signal) =>
      web.post('/v1/signals', { signal, data: { by: 1 } }, api),
    );
    expect((await Promise.all(signals)).map(({ status }) => status)).to.deep.equal([200, 200]);
    const outputs: Record<string, unknown> = {};
    for (const id of [...Object.keys(HANDLERS), 'late', 'duplicate']) {
      const run = await runOf(web, id, ({ ended_at }) => ended_at);
      outputs[id] = run.status === 'Completed' ? run.output : run.status;
    }
    expect(outputs).to.deep.include({
      sleeps: { data: { kept: 1 } },
      'sleeps-for-long': 'Cancelled',
      'waits-for-any': 'any',
      signaled: { by: 1 },
      retries: 'again',
      fails: 'Failed',
      ends: 'at once',
      defers: 'deferred',
      late: 'at once',
      duplicate: 'at once',
    });
    expect(outputs.waits).to.deep.include({ n: 7, met: true });
    expect(outputs['waits-for-long']).to.deep.include({ n: 7, met: 'in Postgres' });
    // The waits of a run that has ended are removed.
    const left = (await keysOf(target as never, PREFIX)).filter((key) => /:wait[^:]*:.*:move\/long$/.test(key));
    expect(left).to.deep.equal([]);
    await until(() => host.calls('later').length === 1 || host.calls('defers').length > 1, {
      describe: 'the deferred function',
    });
    expect(host.calls('ends')).to.have.length(3);
    const partitions = new Set(
      (await keysOf(target as never, PREFIX)).map((name) => /^\{moving:(\d\d)/.exec(name)?.[1]),
    );
    expect(partitions.size).to.be.above(10);
    await web.stop();
  });

  it('rejects what an overlooked process would accept, and can be undone', async () => {
    const own = await startOwnRedis();
    const redis = new Redis(own.url);
    const env = { MOVE_FROM_REDIS_URL: own.url, KEY_PREFIX: 'undone' };
    try {
      const service = await start({ REDIS_URL: own.url, KEY_PREFIX: 'undone' }, 0);
      const [web] = service.webs;
      const send = async (name: string, expected: number) => {
        const { status, body } = await service.post(service.eventPath, { name, data: {} });
        expect(status, JSON.stringify(body)).to.equal(expected);
      };
      await send('late/a', 200);
      const keys = keyspace({ prefix: 'undone' });
      // What it has seen last is that nothing moves.
      await raiseFence(redis, keys);
      await send('late/b', 503);
      const moved = move([], env);
      expect(await moved.ended, moved.output()).to.equal(1);
      expect(moved.output()).to.match(/Stop all web and worker/);
      await lowerFence(redis, keys);
      await send('late/c', 200);

      // Suspended, it has no heartbeats.
      process.kill(web?.pid as number, 'SIGSTOP');
      await until(async () => (await redis.exists('undone:processes')) === 0, {
        describe: 'its heartbeat expires',
      });
      await interruptMove(redis, keys, env);
      process.kill(web?.pid as number, 'SIGCONT');
      await until(() => !web?.running(), { describe: 'it sees the move, and ends' });
      const undone = move(['cancel'], env);
      expect(await undone.ended, undone.output()).to.equal(0);
      expect(await keysOf(target as never, 'undone')).to.deep.equal([]);
      const next = await start({ REDIS_URL: own.url, KEY_PREFIX: 'undone' });
      expect((await next.post(next.eventPath, { name: 'late/d', data: {} })).status).to.equal(200);
      const { body } = await next.waitFor('/v1/events', ({ body }) => body.data?.length === 3);
      expect(body.data.map(({ name }: Loose) => name)).to.deep.equal(['late/d', 'late/c', 'late/a']);
      await next.stop();
    } finally {
      redis.disconnect();
      await own.remove();
    }
  });
});

/** Times of the last use change, and the port of the service. */
function withoutUse(body: Loose): Loose {
  const text = JSON.stringify(body).replaceAll(/127\.0\.0\.1:\d+\/e\//g, 'host/e/');
  return JSON.parse(text, (name, value) => (/used|seen|latest|fetched/i.test(name) ? undefined : value));
}

/** No value has a name of a key as it was on one Redis. */
async function expectNoFormerNames(target: Cluster, prefix: string): Promise<void> {
  const former = new RegExp(`"${prefix}:|\\b${prefix}:(queue|run|waits|signals)`);
  for (const key of await keysOf(target as never, prefix)) {
    expect(key).to.match(/^\{moving[:}]/);
    const type = await target.type(key);
    const read: Record<string, () => Promise<unknown>> = {
      string: () => target.get(key),
      hash: () => target.hgetall(key),
      list: () => target.lrange(key, 0, -1),
      set: () => target.smembers(key),
      zset: () => target.zrange(key, 0, '-1'),
      stream: () => target.xrange(key, '-', '+'),
    };
    expect(JSON.stringify(await read[type]?.()).replaceAll('\\"', '"'), key).not.to.match(former);
  }
}
