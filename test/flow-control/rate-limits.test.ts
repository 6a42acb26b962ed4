import { expect } from 'chai';
import fc from 'fast-check';
import type { RunProposal } from '../../src/jobs/flow-control/run-proposal.ts';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { closeProcesses, functionWith, openProcesses, proposalOf } from '../support/flow-stages.ts';
import { findKeys, itOnSingleRedis } from '../support/redis.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { ingested, runsOf, sendAll, undecided } from './events.ts';

const MICROSECONDS = 1_000;

describe('A rate limit', () => {
  itOnSingleRedis('is never exceeded when jobs repeat, and each of 10,000 events has a run or a decision', async () => {
    const scenario = fc.record({
      limit: fc.integer({ min: 1, max: 150 }),
      partitions: fc.constantFrom(1, 4),
      keys: fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1_000, maxLength: 1_000 }),
      jobs: fc.integer({ min: 1, max: 20 }),
      repeats: fc.func(fc.boolean()),
    });
    await fc.assert(
      fc.asyncProperty(scenario, async ({ limit, partitions, keys, jobs, repeats }) => {
        const processes = await openProcesses(2, partitions);
        try {
          const fn = functionWith({ rateLimit: { limit, period: '24h', key: 'event.data.key' } });
          const proposals = keys.map((key) => proposalOf(fn, { key }));
          const admitted = new Map<string, RunProposal>();
          const size = Math.ceil(proposals.length / jobs);
          const work = Array.from({ length: jobs }, async (_, n) => {
            const job = proposals.slice(n * size, (n + 1) * size);
            const times = repeats(n) ? 2 : 1;
            for (let i = 0; i < times; i++) {
              const process = processes[(n + i) % 2] as (typeof processes)[number];
              const runs = await process.start(job.map((item) => ({ ...item, ...(i > 0 && { repeated: true }) })));
              const ids = new Set(runs.map(({ id }) => id));
              for (const one of job) {
                if (ids.has(one.id)) admitted.set(one.id, one);
                // What the first try admitted, the second does.
                if (i > 0) expect(ids.has(one.id)).to.equal(admitted.has(one.id));
              }
            }
          });
          await Promise.all(work);
          const decisions = processes.flatMap((process) => process.decisions);
          expect(decisions.filter(({ until = 0 }) => until <= Date.now())).to.deep.equal([]);
          const decided = new Set(decisions.map(({ eventId }) => eventId));
          for (const { id, event } of proposals) expect(admitted.has(id)).to.equal(!decided.has(event.internalId));
          for (const [key, some] of Map.groupBy(proposals, ({ event }) => JSON.parse(event.payload).data.key)) {
            const count = some.filter(({ id }) => admitted.has(id)).length;
            expect(count, `key ${key}`).to.equal(Math.min(limit, some.length));
          }
        } finally {
          await closeProcesses(processes);
        }
      }),
      { numRuns: 10 },
    );
  });

  itOnSingleRedis('is not exceeded in any window of its period, and says when the next run may start', async () => {
    const processes = await openProcesses(2);
    try {
      const [LIMIT, PERIOD_MS] = [20, 1_000];
      const fn = functionWith({ rateLimit: { limit: LIMIT, period: '1s' } });
      const end = Date.now() + 3_500;
      await Promise.all(
        processes.map(async (process) => {
          while (Date.now() < end) await process.start(Array.from({ length: 5 }, () => proposalOf(fn, {})));
        }),
      );
      const [first] = processes as [(typeof processes)[number]];
      const [log = ''] = await findKeys(first.store.redis, first.store.prefix, /^:rate-limit:/);
      const flat = await first.store.redis.zrange(log, 0, '-1', 'WITHSCORES');
      const times = flat.filter((_, i) => i % 2 === 1).map(Number);
      expect(times.length).to.be.within(3 * LIMIT, 4 * LIMIT);
      for (let i = LIMIT; i < times.length; i++) {
        expect((times[i] as number) - (times[i - LIMIT] as number)).to.be.at.least(PERIOD_MS * MICROSECONDS);
      }
      // The whole limit is used: the next run is admitted when the decision said.
      const untils = first.decisions.map(({ until = 0 }) => until);
      expect(Math.max(...untils) - Date.now()).to.be.at.most(PERIOD_MS);
    } finally {
      await closeProcesses(processes);
    }
  });

  itOnSingleRedis('does not apply to events whose key is missing, null or false, or cannot be evaluated', async () => {
    const processes = await openProcesses(1);
    try {
      const fn = functionWith({ rateLimit: { limit: 1, period: '1h', key: 'event.data.key' } });
      const failing = functionWith(
        { rateLimit: { limit: 1, period: '1h', key: 'event.data.key + {}' } },
        'app-failing',
      );
      expect(
        await processes[0]?.start([proposalOf(failing, { key: 1 }), proposalOf(failing, { key: 1 })]),
      ).to.have.length(2);
      const keys = [undefined, undefined, null, null, false, false, '', '', 0, 0, 'false', 'false'];
      const proposals = keys.map((key) => proposalOf(fn, { key }));
      const runs = await processes[0]?.start(proposals);
      const ids = new Set(runs?.map(({ id }) => id));
      expect(keys.filter((_, i) => ids.has(proposals[i]?.id ?? ''))).to.deep.equal([
        ...[undefined, undefined, null, null, false, false],
        ...['', 0, 'false'],
      ]);
    } finally {
      await closeProcesses(processes);
    }
  });
});

describe('A function with a rate limit', () => {
  let host: AppHost;
  let service: Service;
  beforeEach(async () => {
    host = await startAppHost();
  });
  afterEach(async () => {
    await service.stop();
    await host.close();
  });

  it('runs exactly as often as allowed for 10,000 events, with two workers of which one is killed', async () => {
    service = await startService({ processes: 'worker', workers: 2, env: { STALLED_AFTER_SECONDS: '1' } });
    const [LIMIT, KEYS, EVENTS] = [150, 10, 10_000];
    const rateLimit = { limit: LIMIT, period: '24h', key: 'event.data.key' };
    await host.register(service, [{ id: 'f', triggers: [{ event: 'rate/x' }], rateLimit }]);
    const sent = sendAll(service, EVENTS, (n) => ({ name: 'rate/x', data: { key: `k${n % KEYS}` } }));
    await until(() => host.calls('f').length > 0, { describe: 'the first run is on its way' });
    await service.killWorker(0);
    const ids = new Set(await sent);
    await until(async () => (await ingested(service, 'rate/x')) === EVENTS, {
      describe: 'all events are ingested',
      timeoutMs: 60_000,
    });
    const runs = await runsOf(service, 'test-app-f');
    for (const id of runs.keys()) expect(ids.has(id)).to.equal(true);
    expect(await undecided(service, runs, ids)).to.deep.equal([]);
    expect(runs.size).to.equal(LIMIT * KEYS);
    const called = () => new Set(host.calls('f').map(({ body }) => body.ctx.run_id as string));
    await until(() => called().size === LIMIT * KEYS, { describe: 'all runs are called' });
    const perKey = Map.groupBy(
      new Map(host.calls('f').map(({ body }) => [body.ctx.run_id, body.event.data.key])).values(),
      (key) => key,
    );
    expect([...perKey.values()].map((some) => some.length)).to.deep.equal(Array(KEYS).fill(LIMIT));
  });

  it('fails the step that invokes it once too often, and tells an invocation through the API when the next run may start', async () => {
    service = await startService();
    host.on('limited', () => ({ body: 'done' }));
    host.on('caller', ({ body, number }) => {
      if (number === 0) {
        const opts = { function_id: 'test-app-limited', payload: { data: {} } };
        return {
          status: 206,
          body: [{ id: 'a'.repeat(40), op: 'InvokeFunction', name: 'invoke', displayName: 'invoke', opts }],
        };
      }
      return { body: body.steps };
    });
    await host.register(service, [
      { id: 'limited', triggers: [{ event: 'limited/x' }], rateLimit: { limit: 1, period: '1h' } },
      { id: 'caller', triggers: [{ event: 'caller/x' }] },
    ]);
    const before = Date.now();
    const first = await service.post('/v1/functions/test-app-limited/invoke', { data: {} }, service.apiHeaders);
    expect(first.status).to.equal(201);

    const refused = await service.post('/v1/functions/test-app-limited/invoke', { data: {} }, service.apiHeaders);
    expect([refused.status, refused.body.code]).to.deep.equal([429, 'function_rate_limited']);
    expect(Date.parse(refused.body.until)).to.be.within(before + 3_590_000, Date.now() + 3_600_000);
    expect(Number(refused.headers.get('retry-after'))).to.be.within(3_500, 3_600);

    await service.post('/e/key', { name: 'caller/x', data: {} });
    await host.nextCall('caller');
    const { body } = await host.nextCall('caller');
    const { error } = body.steps['a'.repeat(40)];
    expect([error.name, error.message]).to.deep.equal([
      'RateLimited',
      `invoked function is rate limited until ${refused.body.until}`,
    ]);
  });

  it('uses its new limit from the moment it is registered', async () => {
    service = await startService();
    const register = (limit: number) =>
      host.register(service, [{ id: 'f', triggers: [{ event: 'deploy/x' }], rateLimit: { limit, period: '1h' } }]);
    const ids: string[] = [];
    const send = async () => {
      ids.push(...(await service.post('/e/key', { name: 'deploy/x', data: {} })).body.ids);
      await until(async () => (await ingested(service, 'deploy/x')) === ids.length, { describe: 'it is ingested' });
    };
    await register(1);
    await send();
    await send();
    await register(2);
    await send();
    await register(1);
    await send();
    const runs = await runsOf(service, 'test-app-f');
    expect(ids.map((id) => runs.has(id))).to.deep.equal([true, false, true, false]);
  });
});
