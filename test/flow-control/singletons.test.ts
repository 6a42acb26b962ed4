import { expect } from 'chai';
import fc from 'fast-check';
import { ulid } from 'ulid';
import { hasEnded } from '../../src/model/runs/run.ts';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { closeProcesses, type FlowProcess, functionWith, openProcesses, proposalOf } from '../support/flow-stages.ts';
import { findKeys, itOnSingleRedis } from '../support/redis.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { ingested, runsOf, sendAll, undecided } from './events.ts';

const RUNS = 10;
const EVENTS_OF_RUN = process.env.TEST_ALL ? 1_000 : 300;

async function withProcesses(count: number, work: (...processes: FlowProcess[]) => Promise<void>, partitions = 1) {
  const processes = await openProcesses(count, partitions);
  try {
    await work(...processes);
  } finally {
    await closeProcesses(processes);
  }
}

async function activeOf(process: FlowProcess, ids: readonly string[]): Promise<string[]> {
  const statuses = await process.store.runStatuses.of(ids.map((id) => ({ env: 'production', id })));
  return [...statuses].filter(([, status]) => !hasEnded({ status })).map(([id]) => id);
}

describe('A singleton', () => {
  for (const mode of ['skip', 'cancel'] as const) {
    itOnSingleRedis(
      `with the mode ${mode} has at most one active run a key, and each of ${RUNS * EVENTS_OF_RUN} events has a run or a decision`,
      async () => {
        const scenario = fc.record({
          partitions: fc.constantFrom(1, 4),
          keys: fc.array(fc.integer({ min: 0, max: 5 }), { minLength: EVENTS_OF_RUN, maxLength: EVENTS_OF_RUN }),
          jobs: fc.integer({ min: 5, max: 100 }),
          repeats: fc.func(fc.boolean()),
          ends: fc.func(fc.integer({ min: 0, max: 3 })),
        });
        await fc.assert(
          fc.asyncProperty(scenario, async ({ partitions, keys, jobs, repeats, ends }) => {
            await withProcesses(
              2,
              async (...processes) => {
                const [observer] = processes as [FlowProcess];
                const fn = functionWith({ singleton: { mode, key: 'event.data.key' } });
                const proposals = keys.map((key) => proposalOf(fn, { key }));
                const ids = proposals.map(({ id }) => id);
                const byKey = Map.groupBy(proposals.keys(), (i) => keys[i]);
                const checkActive = async () => {
                  const active = new Set(await activeOf(observer, ids));
                  for (const some of byKey.values()) {
                    const count = some.filter((i) => active.has(ids[i] as string)).length;
                    // A run that has just been replaced is cancelled by the job that replaced it.
                    expect(count).to.be.at.most(1);
                  }
                };
                const size = Math.ceil(proposals.length / jobs);
                for (let n = 0; n < jobs; n += 2) {
                  await Promise.all(
                    [n, n + 1].map(async (n) => {
                      const job = proposals.slice(n * size, (n + 1) * size);
                      for (let i = 0; i < (repeats(n) ? 2 : 1); i++) {
                        const process = processes[(n + i) % 2] as FlowProcess;
                        await process.start(job.map((item) => ({ ...item, ...(i > 0 && { repeated: true }) })));
                      }
                    }),
                  );
                  await checkActive();
                  for (const id of await activeOf(observer, ids)) if (ends(id) === 0) await observer.complete(id);
                }
                const statuses = await observer.store.runStatuses.of(ids.map((id) => ({ env: 'production', id })));
                const decisions = processes.flatMap(({ decisions }) => decisions);
                const decided = new Set(decisions.map(({ eventId }) => eventId));
                for (const { id, event } of proposals) {
                  expect(statuses.has(id) || decided.has(event.internalId), 'nothing is lost').to.equal(true);
                  if (mode === 'skip') expect(statuses.has(id) && decided.has(event.internalId)).to.equal(false);
                }
                expect(new Set(decisions.map(({ reason }) => reason))).to.deep.equal(new Set(['singleton']));
              },
              partitions,
            );
          }),
          { numRuns: RUNS },
        );
      },
    );
  }

  itOnSingleRedis('belongs to exactly one of two runs that two processes start at once', async () => {
    await withProcesses(2, async (one, other) => {
      if (!one || !other) throw new Error('unreachable');
      for (let i = 0; i < 100; i++) {
        const fn = functionWith({ singleton: { mode: i % 2 === 0 ? 'skip' : 'cancel' } }, `app-f${i}`);
        const pair = [proposalOf(fn, {}), proposalOf(fn, {})] as const;
        await Promise.all([one.start([pair[0]]), other.start([pair[1]])]);
        expect(
          await activeOf(
            one,
            pair.map(({ id }) => id),
          ),
        ).to.have.length(1);
      }
    });
  });

  itOnSingleRedis(
    'with the mode cancel creates only the last of several runs that are requested together',
    async () => {
      await withProcesses(1, async (process) => {
        const fn = functionWith({ singleton: { mode: 'cancel' } });
        const before = proposalOf(fn, {});
        await process.start([before]);
        const proposals = Array.from({ length: 10 }, () => proposalOf(fn, {}));
        const last = proposals.at(-1)?.id;
        expect((await process.start(proposals)).map(({ id }) => id)).to.deep.equal([last]);
        expect(process.decisions.map(({ runId }) => runId)).to.deep.equal(Array(9).fill(last));
        expect((await process.store.runs.read('production', before.id))?.status).to.equal('Cancelled');
      });
    },
  );

  itOnSingleRedis('cancels the previous run even if the process that replaced it died', async () => {
    await withProcesses(2, async (died, next) => {
      if (!died || !next) throw new Error('unreachable');
      const fn = functionWith({ singleton: { mode: 'cancel' } });
      // Runs of one millisecond have no order.
      const at = (ms: number) => proposalOf(fn, {}, ulid(Date.now() + ms, Math.random));
      const [first, second, third] = [at(0), at(1), at(2)];
      const [{ keys } = {}] = await next.start([first]);
      const digest = keys?.singleton as string;
      // Dies between taking over and cancelling.
      await died.store.singletonHolders.claim([{ env: 'production', digest, runId: second.id, from: first.id }]);
      await next.start([third]);
      expect((await next.store.runs.read('production', first.id))?.status).to.equal('Cancelled');
      // The job of the one that died is repeated.
      expect(await next.start([{ ...second, repeated: true }])).to.deep.equal([]);
      expect(await activeOf(next, [first.id, second.id, third.id])).to.deep.equal([third.id]);
    });
  });

  itOnSingleRedis(
    'belongs to an admitted run before it is created, and is released when nobody creates it for a minute',
    async () => {
      await withProcesses(2, async (died, next) => {
        if (!died || !next) throw new Error('unreachable');
        const fn = functionWith({ singleton: { mode: 'skip' } });
        const [lost, early, late] = [proposalOf(fn, {}), proposalOf(fn, {}), proposalOf(fn, {})];
        const runs = await died.decide([lost]);
        expect(await next.start([early])).to.deep.equal([]);
        // A minute later.
        const [holder = ''] = await findKeys(next.store.redis, next.store.prefix, /^:singleton:/);
        await next.store.redis.set(holder, `${lost.id} ${Date.now() - 61_000}`);
        expect((await next.start([late])).map(({ id }) => id)).to.deep.equal([late.id]);
        // The process was not dead, only slow.
        await died.create(runs);
        expect(await activeOf(next, [lost.id, early.id, late.id])).to.deep.equal([late.id]);
      });
    },
  );

  itOnSingleRedis(
    'still skips an event that an earlier attempt of its job skipped, even if the key is free now',
    async () => {
      await withProcesses(2, async (died, next) => {
        if (!died || !next) throw new Error('unreachable');
        const fn = functionWith({ singleton: { mode: 'skip' } });
        const [active, skipped] = [proposalOf(fn, {}), proposalOf(fn, {})];
        await died.start([active, skipped]);
        await died.complete(active.id);
        expect(await next.start([{ ...skipped, repeated: true }])).to.deep.equal([]);
        expect(await activeOf(next, [active.id, skipped.id])).to.deep.equal([]);
      });
    },
  );

  itOnSingleRedis('is taken from a run that ended without releasing it', async () => {
    await withProcesses(1, async (process) => {
      const fn = functionWith({ singleton: { mode: 'skip' } });
      const [ended, next] = [proposalOf(fn, {}), proposalOf(fn, {})];
      await process.start([ended]);
      const run = await process.store.runs.read('production', ended.id);
      if (!run) throw new Error('it is stored');
      await process.store.runs.end(run, { status: 'Completed', output: 'null' }, Date.now());
      expect((await process.start([next])).map(({ id }) => id)).to.deep.equal([next.id]);
    });
  });

  itOnSingleRedis('leaves no key behind when its runs have ended', async () => {
    await withProcesses(1, async (process) => {
      const fn = functionWith({ singleton: { mode: 'cancel', key: 'event.data.key' } });
      for (let i = 0; i < 3; i++) await process.start([proposalOf(fn, { key: 1 }, ulid(Date.now() + i))]);
      const [holder = ''] = await findKeys(process.store.redis, process.store.prefix, /^:singleton:/);
      // Without the runs that are cancelled.
      const [runId = '', since, ...replaced] = ((await process.store.redis.get(holder)) ?? '').split(' ');
      expect([Number(since) > 0, replaced]).to.deep.equal([true, []]);
      await process.complete(runId);
      expect(await findKeys(process.store.redis, process.store.prefix, /^:singleton:/)).to.deep.equal([]);
    });
  });
});

describe('A function that is a singleton', () => {
  let host: AppHost;
  let service: Service;
  beforeEach(async () => {
    host = await startAppHost();
  });
  afterEach(async () => {
    await service.stop();
    await host.close();
  });

  const EVENTS = process.env.TEST_ALL ? 10_000 : 3_000;
  it(`runs once at a time for each key for ${EVENTS} events, with two workers of which one is killed`, async () => {
    service = await startService({ processes: 'worker', workers: 2, env: { STALLED_AFTER_SECONDS: '1' } });
    const KEYS = 20;
    const active = new Map<string, Set<string>>();
    let most = 0;
    host.on('f', async ({ body }) => {
      const runs = active.get(body.event.data.key) ?? new Set<string>();
      active.set(body.event.data.key, runs.add(body.ctx.run_id));
      most = Math.max(most, runs.size);
      await new Promise((resolve) => setTimeout(resolve, 20));
      // A call that is repeated because its worker was killed is of the same run.
      runs.delete(body.ctx.run_id);
      return { body: null };
    });
    const singleton = { mode: 'skip', key: 'event.data.key' };
    await host.register(service, [{ id: 'f', triggers: [{ event: 'single/x' }], singleton }]);
    const sent = sendAll(service, EVENTS, (n) => ({ name: 'single/x', data: { key: `k${n % KEYS}` } }));
    await until(() => host.calls('f').length > 0, { describe: 'the first run is on its way' });
    await service.killWorker(0);
    const ids = new Set(await sent);
    await until(async () => (await ingested(service, 'single/x')) === EVENTS, {
      describe: 'all events are ingested',
      timeoutMs: 60_000,
    });
    const runs = await runsOf(service, 'test-app-f');
    for (const id of runs.keys()) expect(ids.has(id)).to.equal(true);
    expect(await undecided(service, runs, ids)).to.deep.equal([]);
    expect(most).to.equal(1);
    expect(runs.size).to.be.at.least(KEYS);
    await service.waitFor('/v1/runs?status=Completed&limit=1', ({ body }) => body.data.length === 1);
    await until(async () => (await findKeys(service.redis, service.prefix, /^:singleton:/)).length === 0, {
      describe: 'no run holds a key',
    });
  });

  it('cancels its active run when a new one starts', async () => {
    service = await startService();
    const release = Promise.withResolvers<void>();
    host.on('f', async ({ number }) => {
      if (number === 0) await release.promise;
      return { body: null };
    });
    await host.register(service, [{ id: 'f', triggers: [{ event: 'single/y' }], singleton: { mode: 'cancel' } }]);
    const invoke = () => service.post('/v1/functions/test-app-f/invoke', { data: {} }, service.apiHeaders);
    const first = (await invoke()).body.data.run_id;
    await host.nextCall('f');
    const second = (await invoke()).body.data.run_id;
    await service.waitFor(`/v1/runs/${first}`, ({ body }) => body.data.status === 'Cancelled');
    await service.waitFor(`/v1/runs/${second}`, ({ body }) => body.data.status === 'Completed');
    release.resolve();
  });

  for (const [ending, end] of [
    ['completed', () => ({ body: null })],
    [
      'failed',
      () => ({ status: 400, headers: { 'x-service-no-retry': 'true' }, body: { name: 'Error', message: 'no' } }),
    ],
  ] as const) {
    it(`tells its invoker which run is active, and runs again when that run has ${ending}`, async () => {
      service = await startService();
      const release = Promise.withResolvers<void>();
      host.on('f', async () => {
        await release.promise;
        return end();
      });
      await host.register(service, [
        { id: 'f', triggers: [{ event: 'single/z' }], retries: 0, singleton: { mode: 'skip' } },
      ]);
      const invoke = () => service.post('/v1/functions/test-app-f/invoke', { data: {} }, service.apiHeaders);
      const { run_id } = (await invoke()).body.data;
      const refused = await invoke();
      expect([refused.status, refused.body.code, refused.body.run_id]).to.deep.equal([
        409,
        'function_singleton',
        run_id,
      ]);
      release.resolve();
      await service.waitFor(`/v1/runs/${run_id}`, ({ body }) => ['Completed', 'Failed'].includes(body.data.status));
      await until(async () => (await invoke()).status === 201, { describe: 'it can be invoked' });
    });
  }

  it('runs again when its active run was cancelled', async () => {
    service = await startService();
    host.on('f', () => ({ status: 206, body: [{ id: 'a'.repeat(40), op: 'Sleep', name: '1h', displayName: 'long' }] }));
    await host.register(service, [{ id: 'f', triggers: [{ event: 'single/c' }], singleton: { mode: 'skip' } }]);
    const invoke = () => service.post('/v1/functions/test-app-f/invoke', { data: {} }, service.apiHeaders);
    const { run_id } = (await invoke()).body.data;
    await service.waitFor(`/v1/runs/${run_id}`, ({ body }) => body.data.status === 'Running');
    expect((await invoke()).status).to.equal(409);
    expect((await service.request('DELETE', `/v1/runs/${run_id}`, undefined, service.apiHeaders)).status).to.equal(200);
    expect((await invoke()).status).to.equal(201);
  });
});
