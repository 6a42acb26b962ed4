import { expect } from 'chai';
import fc from 'fast-check';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { closeProcesses, functionWith, openProcesses, proposalOf } from '../support/flow-stages.ts';
import { findKeys, itOnSingleRedis } from '../support/redis.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { ingested, runsOf, sendAll, undecided } from './events.ts';

/** Claims a value, and then skips its run while another is active. */
const SKIPS_WHILE_ACTIVE = {
  idempotency: 'event.data.value',
  singleton: { mode: 'skip' },
  rateLimit: { limit: 2, period: '1h' },
};
const DAY_MS = 86_400_000;

interface Explained {
  outcome: string;
  reason: string | null;
}

describe('An idempotency key', () => {
  itOnSingleRedis(
    'has one run for each value when jobs repeat, and each of 10,000 events has a run or a decision',
    async () => {
      const scenario = fc.record({
        partitions: fc.constantFrom(1, 4),
        values: fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 1_000, maxLength: 1_000 }),
        jobs: fc.integer({ min: 1, max: 20 }),
        repeats: fc.func(fc.boolean()),
      });
      await fc.assert(
        fc.asyncProperty(scenario, async ({ partitions, values, jobs, repeats }) => {
          const processes = await openProcesses(2, partitions);
          try {
            const fn = functionWith({ idempotency: 'event.data.value' });
            const proposals = values.map((value) => proposalOf(fn, { value }));
            const ran = new Map<string, Set<string>>();
            const size = Math.ceil(proposals.length / jobs);
            await Promise.all(
              Array.from({ length: jobs }, async (_, n) => {
                const job = proposals.slice(n * size, (n + 1) * size);
                for (let i = 0; i < (repeats(n) ? 2 : 1); i++) {
                  const process = processes[(n + i) % 2] as (typeof processes)[number];
                  await process.start(job.map((item) => ({ ...item, ...(i > 0 && { repeated: true }) })));
                }
              }),
            );
            const [first] = processes as [(typeof processes)[number]];
            const statuses = await first.store.runStatuses.of(proposals.map(({ id }) => ({ env: 'production', id })));
            const holders = new Map(
              processes.flatMap(({ decisions }) => decisions.map(({ eventId, runId }) => [eventId, runId as string])),
            );
            for (const [i, { id, event }] of proposals.entries()) {
              expect(statuses.has(id)).to.equal(!holders.has(event.internalId));
              const runs = ran.get(String(values[i])) ?? new Set();
              ran.set(String(values[i]), runs.add(holders.get(event.internalId) ?? id));
            }
            // Every decision names the one run of its value.
            for (const runs of ran.values()) expect(runs.size).to.equal(1);
            expect(statuses.size).to.equal(new Set(values).size);
          } finally {
            await closeProcesses(processes);
          }
        }),
        { numRuns: 10 },
      );
    },
  );

  itOnSingleRedis('is kept for 24 hours, as a digest, and does not apply to events without a value', async () => {
    const processes = await openProcesses(1);
    try {
      const [process] = processes as [(typeof processes)[number]];
      const fn = functionWith({ idempotency: 'event.data.value' });
      const values = ['secret', 'secret', undefined, undefined, null, false, false];
      const proposals = values.map((value) => proposalOf(fn, { value }));
      const runs = await process.start(proposals);
      expect(runs.map(({ id }) => id).sort()).to.deep.equal(
        proposals
          .filter((_, i) => i !== 1)
          .map(({ id }) => id)
          .sort(),
      );
      const keys = await findKeys(process.store.redis, process.store.prefix, /^:idempotency:/);
      expect(keys).to.have.length(1);
      expect(keys[0]).not.to.include('secret');
      expect(await process.store.redis.pttl(keys[0] as string)).to.be.within(DAY_MS - 60_000, DAY_MS);
    } finally {
      await closeProcesses(processes);
    }
  });

  itOnSingleRedis(
    'is free again when its run was not created, because another run of the singleton is active',
    async () => {
      const processes = await openProcesses(1);
      try {
        const [process] = processes as [(typeof processes)[number]];
        const fn = functionWith(SKIPS_WHILE_ACTIVE);
        const [active, skipped, again] = ['a', 'b', 'b'].map((value) => proposalOf(fn, { value }));
        if (!active || !skipped || !again) throw new Error('unreachable');
        await process.start([active]);
        expect(await process.start([skipped])).to.deep.equal([]);
        await process.complete(active.id);
        expect((await process.start([again])).map(({ id }) => id)).to.deep.equal([again.id]);
        expect(process.decisions.map(({ reason, runId }) => [reason, runId])).to.deep.equal([['singleton', active.id]]);
      } finally {
        await closeProcesses(processes);
      }
    },
  );

  for (const dies of [false, true]) {
    const title = dies ? ', and the process dies before it takes the value back' : '';
    itOnSingleRedis(`is free again when its event waited, and a singleton then skips its run${title}`, async () => {
      const processes = await openProcesses(1);
      try {
        const [process] = processes as [(typeof processes)[number]];
        const fn = functionWith(SKIPS_WHILE_ACTIVE);
        const [active, held, again] = ['a', 'b', 'b'].map((value) => proposalOf(fn, { value }));
        if (!active || !held || !again) throw new Error('unreachable');
        await process.start([active]);
        process.held.add(held.id);
        expect(await process.start([held])).to.deep.equal([]);
        if (dies) {
          const { idempotencyClaims } = process.store;
          idempotencyClaims.release = () => Promise.reject(new Error('the process dies'));
          const error = await process.resume([held]).catch((thrown) => thrown);
          expect(error.message).to.equal('the process dies');
          Reflect.deleteProperty(idempotencyClaims, 'release');
          // The repeat leaves the run skipped, although the singleton is free now.
          await process.complete(active.id);
        }
        expect(await process.resume([held])).to.deep.equal([]);
        await process.complete(active.id);
        expect((await process.start([again])).map(({ id }) => id)).to.deep.equal([again.id]);
        expect(process.decisions.map(({ reason, runId }) => [reason, runId])).to.deep.equal([['singleton', active.id]]);
      } finally {
        await closeProcesses(processes);
      }
    });
  }
});

describe('A function with an idempotency key', () => {
  let host: AppHost;
  let service: Service;
  beforeEach(async () => {
    host = await startAppHost();
  });
  afterEach(async () => {
    await service.stop();
    await host.close();
  });

  it('runs once for each value of 10,000 events, with two workers of which one is killed', async () => {
    service = await startService({ processes: 'worker', workers: 2, env: { STALLED_AFTER_SECONDS: '1' } });
    const [VALUES, EVENTS] = [1_000, 10_000];
    await host.register(service, [{ id: 'f', triggers: [{ event: 'once/x' }], idempotency: 'event.data.order' }]);
    const sent = sendAll(service, EVENTS, (n) => ({ name: 'once/x', data: { order: n % VALUES } }));
    await until(() => host.calls('f').length > 0, { describe: 'the first run is on its way' });
    await service.killWorker(0);
    const ids = new Set(await sent);
    await until(async () => (await ingested(service, 'once/x')) === EVENTS, {
      describe: 'all events are ingested',
      timeoutMs: 60_000,
    });
    const runs = await runsOf(service, 'test-app-f');
    for (const id of runs.keys()) expect(ids.has(id)).to.equal(true);
    expect(await undecided(service, runs, ids)).to.deep.equal([]);
    expect(runs.size).to.equal(VALUES);
    const values = () => new Map(host.calls('f').map(({ body }) => [body.ctx.run_id, body.event.data.order]));
    await until(() => values().size === VALUES, { describe: 'all runs are called' });
    expect(new Set(values().values()).size).to.equal(VALUES);
  });

  it('runs for a value whose debounced event its singleton skipped', async () => {
    service = await startService();
    const ends = Promise.withResolvers<void>();
    host.on('f', async ({ body }) => {
      if (body.event.data.order === 'a') await ends.promise;
      return { body: null };
    });
    const config = {
      idempotency: 'event.data.order',
      singleton: { mode: 'skip' },
      debounce: { period: '1s', key: 'event.data.order' },
    };
    await host.register(service, [{ id: 'f', triggers: [{ event: 'once/z' }], ...config }]);
    const send = async (order: string) => {
      const id = (await service.post('/e/key', { name: 'once/z', data: { order } })).body.ids[0] as string;
      await service.stored(id);
      return id;
    };
    await send('a');
    await host.nextCall('f');
    const skipped = await send('b');
    await service.waitFor(`/v1/events/${skipped}/decisions`, ({ body }) => body.data[0]?.reason === 'singleton');
    ends.resolve();
    const path = '/v1/runs?status=Completed&function_id=test-app-f';
    await service.waitFor(path, ({ body }) => body.data.length === 1);
    const again = await send('b');
    await service.waitFor(`/v1/events/${again}/decisions`, ({ body }) => body.data[0]?.outcome === 'ran');
  });

  it('runs for each of the orders whose numbers are the same 64-bit float', async () => {
    service = await startService();
    const functions = [
      { id: 'f', triggers: [{ event: 'once/long' }], idempotency: 'event.data.order' },
      { id: 'text', triggers: [{ event: 'once/long' }], idempotency: '"order-" + event.data.order' },
      { id: 'if', triggers: [{ event: 'once/long', expression: 'event.data.order == 1234567890123456789' }] },
    ];
    await host.register(service, functions);
    const orders = ['1234567890123456789', '1234567890123456788', '1234567890123456789', '1234567890123456768'];
    const found: object[] = [];
    for (const order of [...orders, '1234567890123456800']) {
      const { body } = await service.post('/e/key', `{"name":"once/long","data":{"order":${order}}}`);
      const path = `/v1/events/${body.ids[0]}/decisions`;
      const decided = await service.waitFor(
        path,
        ({ body }) => body.data?.length === 3 && body.data.every(({ outcome }: Explained) => outcome !== 'pending'),
      );
      found.push(decided.body.data.map(({ reason }: Explained) => reason));
      if (order !== '1234567890123456788') continue;
      const text = await (await fetch(service.url + path, { headers: service.apiHeaders })).text();
      expect(text).to.include(`{"path":"event.data.order","value":${order},`);
    }
    expect(found).to.deep.equal([
      [null, null, null],
      [null, 'expression_false', null],
      ['idempotent', null, 'idempotent'],
      [null, 'expression_false', null],
      [null, 'expression_false', null],
    ]);
  });

  it('returns the run of the same value to an invocation', async () => {
    service = await startService();
    await host.register(service, [{ id: 'f', triggers: [{ event: 'once/y' }], idempotency: 'event.data.order' }]);
    const invoke = (order: string) =>
      service.post('/v1/functions/test-app-f/invoke', { data: { order } }, service.apiHeaders);
    const first = await invoke('a');
    expect(first.status).to.equal(201);
    const repeat = await invoke('a');
    expect([repeat.status, repeat.body.code, repeat.body.run_id]).to.deep.equal([
      409,
      'function_idempotent',
      first.body.data.run_id,
    ]);
    expect((await invoke('b')).status).to.equal(201);
  });
});
