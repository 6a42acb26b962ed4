import { expect } from 'chai';
import { startOwnRedis } from '../../support/own-redis.ts';
import { findKeys } from '../../support/redis.ts';
import { startService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { type App, type Loose, SDK_ADAPTERS, type SdkAdapter, startApp } from './sdk-adapters.ts';
import { SOON } from './step-bed.ts';

const OURS = SDK_ADAPTERS[0] as SdkAdapter;

/** Thousands of calls take minutes on a busy machine. */
const LONG_MS = 600_000;

describe('The durability of runs', () => {
  const RUNS = process.env.TEST_ALL ? 500 : 100;
  it(`${RUNS} runs of ten steps, some parallel, survive workers killed at random`, async () => {
    const KILLS = 5;
    const CONCURRENCY = 20;
    const service = await startService({
      processes: 'worker',
      workers: 2,
      env: { ...SOON, RUN_CONCURRENCY: String(CONCURRENCY) },
    });
    let app: App | undefined;
    try {
      const effects = new Map<string, number>();
      const client = OURS.client(service, 'survivor');
      const ten = client.createFunction(
        { id: 'ten', triggers: [{ event: 'survive/x' }] },
        async ({ step, event }: Loose) => {
          const run = (id: string) =>
            step.run(id, () => {
              const key = `${event.data.n}/${id}`;
              effects.set(key, (effects.get(key) ?? 0) + 1);
              return event.data.n;
            });
          const sums = [await run('a'), await run('b'), await run('c')];
          sums.push(...(await Promise.all(['d', 'e', 'f', 'g'].map(run))));
          sums.push(await run('h'), await run('i'), await run('j'));
          return sums.reduce((a: number, b: number) => a + b, 0);
        },
      );
      app = await startApp(OURS.serve(client, [ten]));
      const ids: string[] = [];
      for (let n = 0; n < RUNS; n += 100) {
        const events = Array.from({ length: 100 }, (_, i) => ({ name: 'survive/x', data: { n: n + i } }));
        ids.push(...(await service.post('/e/key', events)).body.ids);
      }
      for (let kill = 1; kill <= KILLS; kill++) {
        const enough = (kill * RUNS * 10) / (KILLS + 2);
        await until(() => effects.size >= enough, { describe: `${enough} steps are done`, timeoutMs: 240_000 });
        await service.killWorker(Math.random() < 0.5 ? service.workers.length - 1 : service.workers.length - 2);
        await service.startWorker();
      }
      for (const [n, id] of ids.entries()) {
        const { body } = await service.waitFor(`/v1/events/${id}/runs`, ({ body }) => body.data?.[0]?.ended_at, 60_000);
        expect([body.data[0].status, body.data[0].output], JSON.stringify(body.data[0].error)).to.deep.equal([
          'Completed',
          n * 10,
        ]);
      }
      const repeated = [...effects.values()].filter((count) => count > 1).length;
      console.log(`      ${RUNS * 10} steps, ${KILLS} workers killed: ${repeated} steps ran more than once`);
      expect(effects.size).to.equal(RUNS * 10);
      // Only what was in flight in a worker when it was killed.
      expect(repeated).to.be.at.most(KILLS * CONCURRENCY);
    } finally {
      await app?.close();
      await service.stop();
    }
  }).timeout(LONG_MS);

  it('runs survive the loss of all jobs: the reconciler finds and continues them', async () => {
    const service = await startService({ processes: 'worker', env: SOON });
    let app: App | undefined;
    try {
      const client = OURS.client(service, 'found');
      const child = client.createFunction(
        { id: 'child', triggers: [{ event: 'found/none' }] },
        async ({ step }: Loose) => {
          await step.sleep('nap', '2s');
          return 'child';
        },
      );
      const parent = client.createFunction(
        { id: 'parent', triggers: [{ event: 'found/x' }] },
        async ({ step }: Loose) =>
          Promise.all([
            step.invoke('invoke', { function: child, data: {} }),
            step.sleep('sleep', '2s').then(() => 'slept'),
            step.waitForEvent('wait', { event: 'found/never', timeout: '2s' }),
          ]),
      );
      app = await startApp(OURS.serve(client, [child, parent]));
      const { body } = await service.post('/e/key', { name: 'found/x', data: {} });
      const runs = `/v1/events/${body.ids[0]}/runs`;
      const runId = (await service.waitFor(runs, ({ body }) => body.data?.length === 1)).body.data[0].run_id;
      await service.waitFor(`/v1/runs/${runId}`, ({ body }) => waiting(body) === 3);
      const invoked = '/v1/events?name=inngest/function.invoked';
      const { body: list } = await service.waitFor(invoked, ({ body }) => body.data.length === 1);
      // The event of an invocation is listed before its run starts.
      await service.waitFor(`/v1/events/${list.data[0].internal_id}/runs`, ({ body }) => body.data?.length === 1);
      await service.killWorker();
      const jobs = await findKeys(service.redis, service.prefix, /^:queue:runs:/);
      for (const job of jobs) await service.redis.del(job);
      await service.startWorker();
      const { body: done } = await service.waitFor(`/v1/runs/${runId}`, ({ body }) => body.data?.ended_at);
      expect([done.data.status, done.data.output]).to.deep.equal(['Completed', ['child', 'slept', null]]);
    } finally {
      await app?.close();
      await service.stop();
    }
  });

  it('sleeping runs survive a restart of everything, Redis included', async () => {
    const redis = await startOwnRedis();
    const env = { ...SOON, REDIS_URL: redis.url, KEY_PREFIX: 'restart' };
    let service = await startService({ processes: true, env });
    let app: App | undefined;
    try {
      const client = OURS.client(service, 'restart');
      const fn = client.createFunction({ id: 'f', triggers: [{ event: 'restart/x' }] }, async ({ step }: Loose) => {
        const before = await step.run('before', () => 'before');
        await step.sleep('sleep', '3s');
        return `${before} and after`;
      });
      app = await startApp(OURS.serve(client, [fn]));
      const { body } = await service.post('/e/key', { name: 'restart/x', data: {} });
      const runs = `/v1/events/${body.ids[0]}/runs`;
      const runId = (await service.waitFor(runs, ({ body }) => body.data?.length === 1)).body.data[0].run_id;
      await service.waitFor(`/v1/runs/${runId}`, ({ body }) => waiting(body) === 1);
      await service.killWorker();
      await service.killWeb();
      await redis.stop();
      await redis.start();
      await service.stop();
      service = await startService({ processes: true, env });
      const { body: done } = await service.waitFor(`/v1/runs/${runId}`, ({ body }) => body.data?.ended_at);
      expect([done.data.status, done.data.output]).to.deep.equal(['Completed', 'before and after']);
    } finally {
      await app?.close();
      await service.stop();
      await redis.remove();
    }
  });
});

function waiting(body: Loose): number {
  return body.data.history.filter((entry: Loose) => entry.status === 'Waiting').length;
}
