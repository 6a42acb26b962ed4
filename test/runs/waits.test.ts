import { expect } from 'chai';
import { newId } from '../../src/model/ids.ts';
import { indexWait } from '../../src/model/runs/wait-index.ts';
import { MAX_WAIT_MS } from '../../src/model/values/time.ts';
import type { NewWait } from '../../src/store/runs/waits.ts';
import { type AppHost, type Call, startAppHost } from '../support/app-host.ts';
import { type OwnStore, openStore } from '../support/own-store.ts';
import { findKeys, keysOf } from '../support/redis.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const HOUR_MS = 3_600_000;
/** What PTTL replies for a key that does not exist. */
const GONE = -2;
const STEP = 'a'.repeat(40);

describe('Waits for events', () => {
  describe('in a service', () => {
    let service: Service;
    let host: AppHost;
    before(async () => {
      service = await startService();
    });
    after(() => service.stop());
    beforeEach(async () => {
      host = await startAppHost();
    });
    afterEach(() => host.close());

    const send = async (name: string, data: object = {}) =>
      (await service.post('/e/key', { name, data })).body.ids[0] as string;

    const waitKeys = async () =>
      (await keysOf(service.redis, service.prefix)).filter((key) =>
        /:(waits|waits-by-value|wait-paths):|:waits$/.test(key),
      );

    const waitFor = (event: string, opts: object) => ({
      status: 206,
      body: [{ op: 'WaitForEvent', id: STEP, displayName: 'w', opts: { event, ...opts } }],
    });

    /** Continues with the result of its wait. */
    const waiting = (event: string, opts: object) => (call: Call) =>
      call.body.steps[STEP] === undefined ? waitFor(event, opts) : { body: { got: call.body.steps[STEP] } };

    const ended = async (eventId: string, count = 1) => {
      const { body } = await service.waitFor(
        `/v1/events/${eventId}/runs`,
        ({ body }) => body.data?.length === count && body.data.every((run: { ended_at: unknown }) => run.ended_at),
      );
      return body.data;
    };

    it('waits leave no key behind when they match, time out, or their run is cancelled or fails', async () => {
      const cancel = [
        { event: 'end/stop', if: 'async.data.order == event.data.order' },
        { event: 'end/stop-all', timeout: '1h' },
      ];
      const opts = { if: 'async.data.order == event.data.order && async.data.n > 1', timeout: '1h' };
      host.on('met', waiting('end/go', opts));
      host.on('cancelled', waiting('end/never', opts));
      host.on('stopped', waiting('end/never', { timeout: '1h' }));
      host.on('late', waiting('end/never', { timeout: '500ms' }));
      host.on('failed', (call) =>
        call.stepId === 'step' && call.number === 0
          ? {
              status: 206,
              body: [...waitFor('end/never', opts).body, { op: 'StepPlanned', id: 'b'.repeat(40), displayName: 'p' }],
            }
          : { status: 400, headers: { 'x-service-no-retry': 'true' }, body: { name: 'No', message: 'no' } },
      );
      const functions = ['met', 'cancelled', 'stopped', 'late', 'failed'].map((id) => ({
        id,
        triggers: [{ event: `end/${id}` }],
        cancel,
      }));
      await host.register(service, functions, { appName: 'end' });
      const sent = Object.fromEntries(
        await Promise.all(functions.map(async ({ id }) => [id, await send(`end/${id}`, { order: id })] as const)),
      );
      const has = async (part: string) => (await waitKeys()).some((key) => key.includes(part));
      await until(async () => (await has('end/go')) && (await has('end/never')), { describe: 'they wait' });
      for (const key of await waitKeys()) {
        // Keys of an active run end with it; all others have a TTL of their own. The run that waits for 500 ms may have ended since.
        const ttlMs = await service.redis.pttl(key);
        if (!key.endsWith(':waits') && ttlMs !== GONE) expect(ttlMs, key).to.be.greaterThan(HOUR_MS / 2);
      }
      const cancelled = await service.waitFor(
        `/v1/events/${sent.cancelled}/runs`,
        ({ body }) => body.data?.length === 1,
      );
      await service.request('DELETE', `/v1/runs/${cancelled.body.data[0].run_id}`);
      await send('end/go', { order: 'met', n: 1 });
      await send('end/go', { order: 'met', n: 2 });
      await send('end/stop', { order: 'stopped' });
      const statuses = await Promise.all(
        functions.map(async ({ id }) => [id, (await ended(sent[id] as string))[0].status]),
      );
      expect(Object.fromEntries(statuses)).to.deep.equal({
        met: 'Completed',
        cancelled: 'Cancelled',
        stopped: 'Cancelled',
        late: 'Completed',
        failed: 'Failed',
      });
      await until(async () => (await waitKeys()).length === 0, { describe: 'no key of a wait is left' });
    });

    it('waits find their event by value, of any type, on either side of the comparison', async () => {
      const values = ['text', 'A'.repeat(300), 'B'.repeat(5_000), 12, 2.5, true, null, '12', 'ü 🌊'];
      const orders = ['async.data["order"] == event.data.order', 'event.data.order == async.data.order'];
      for (const [i, expression] of orders.entries()) {
        host.on(`f${i}`, waiting('value/go', { if: `async.data.seen == false && ${expression}`, timeout: '1h' }));
      }
      const functions = orders.map((_, i) => ({ id: `f${i}`, triggers: [{ event: 'value/x' }] }));
      await host.register(service, functions, { appName: 'value' });
      const ids = await Promise.all(values.map((order) => send('value/x', { order })));
      const waitingNow = async () => {
        const keys = (await waitKeys()).filter((key) => key.includes('value/go'));
        const counts = await Promise.all(
          keys.filter((key) => key.includes('waits')).map((key) => service.redis.hlen(key)),
        );
        return counts.reduce((sum, count) => sum + count, 0) === 2 * values.length;
      };
      await until(waitingNow, { describe: 'all wait' });
      await send('value/go', { order: 'nobody', seen: false });
      await send('value/go', { order: values[0], seen: true });
      await service.post(
        '/e/key',
        values.map((order) => ({ name: 'value/go', data: { order, seen: false } })),
      );
      for (const [i, id] of ids.entries()) {
        for (const run of await ended(id, 2))
          expect(run.output.got.data).to.deep.equal({ order: values[i], seen: false });
      }
    });

    it('an event ends no wait, and cancels no run, of an order whose number is the same 64-bit float', async () => {
      const expression = 'async.data.order == event.data.order';
      const sendOrder = async (name: string, order: string) =>
        (await service.post('/e/key', `{"name":"${name}","data":{"order":${order}}}`)).body.ids[0] as string;
      host.on('f', waiting('long/go', { if: expression, timeout: '1h' }));
      host.on('after', () => ({}));
      const functions = [
        { id: 'f', triggers: [{ event: 'long/x' }], cancel: [{ event: 'long/stop', if: expression }] },
        { id: 'after', triggers: [{ event: 'long/after' }] },
      ];
      await host.register(service, functions, { appName: 'long' });
      const orders = ['1234567890123456789', '1234567890123456788'];
      const [stopped, met] = [
        await sendOrder('long/x', '1234567890123456790'),
        await sendOrder('long/x', orders[0] as string),
      ];
      await until(async () => host.calls('f').length === 2, { describe: 'both runs are called' });
      await until(
        async () => {
          const states = await Promise.all([stopped, met].map((id) => service.get(`/v1/events/${id}/runs`)));
          return states.every(({ body }) => body.data[0].state.kind === 'waiting_for_event');
        },
        { describe: 'both runs wait' },
      );
      for (const name of ['long/stop', 'long/go', 'long/after']) await sendOrder(name, orders[1] as string);
      await host.nextCall('after');
      expect(host.calls('f')).to.have.length(2);
      await sendOrder('long/stop', '1234567890123456790');
      await sendOrder('long/go', orders[0] as string);
      const [[cancelled], [completed]] = [await ended(stopped), await ended(met)];
      expect([cancelled.status, completed.status]).to.deep.equal(['Cancelled', 'Completed']);
    });

    it('an event ends no wait, and cancels no run, by a field that it and the run’s own event lack', async () => {
      const expression = 'async.data.order == event.data.order';
      const sendBoth = async (data: { at: string }) => {
        const events = ['lack/stop', 'lack/go'].map((name) => ({ name, data }));
        await service.post('/e/key', [...events, { name: 'lack/after', data }]);
        await until(async () => host.calls('after').some((call) => call.body.event.data.at === data.at), {
          describe: `the events at ${data.at} are matched`,
        });
      };
      host.on('f', async (call) => {
        // The wait looks back at these.
        if (call.body.steps[STEP] === undefined) await sendBoth({ at: 'the call' });
        return waiting('lack/go', { if: expression, timeout: '1h' })(call);
      });
      host.on('after', () => ({}));
      const cancel = [{ event: 'lack/stop', if: expression }];
      const functions = [{ id: 'f', triggers: [{ event: 'lack/x' }], cancel }];
      await host.register(service, [...functions, { id: 'after', triggers: [{ event: 'lack/after' }] }], {
        appName: 'lack',
      });
      const id = await send('lack/x', { other: 1 });
      await until(async () => (await waitKeys()).some((key) => key.includes('lack/go')), { describe: 'it waits' });
      await sendBoth({ at: 'the wait' });
      await send('lack/go', { order: null });
      const [run] = await ended(id);
      expect(run.status).to.equal('Completed');
      expect(run.output.got.data).to.deep.equal({ order: null });
      expect(run.output.got.user).to.deep.equal({});
    });

    it('a cancel trigger ignores events before the run’s own event, in the same batch or another', async () => {
      const barrier = Promise.withResolvers<void>();
      host.on('f', () => barrier.promise.then(() => ({})));
      const cancel = [{ event: 'latest/x' }, { event: 'latest/stop', if: 'async.data.order == event.data.order' }];
      await host.register(service, [{ id: 'f', triggers: [{ event: 'latest/x' }], cancel }], { appName: 'latest' });
      const stop = { name: 'latest/stop', data: { order: 3 } };
      const batch = [1, 2, 3].map((order) => ({ name: 'latest/x', data: { order } }));
      const { body } = await service.post('/e/key', [stop, ...batch]);
      for (const id of body.ids.slice(1, 3)) expect((await ended(id))[0].status).to.equal('Cancelled');
      const last = body.ids[3] as string;
      await send('latest/after');
      await service.waitFor('/v1/events?name=latest/after', ({ body }) => body.data?.length === 1);
      barrier.resolve();
      expect((await ended(last))[0].status).to.equal('Completed');
    });
  });

  describe('in a store', () => {
    let store: OwnStore;
    before(async () => {
      store = await openStore();
    });
    after(() => store.close());

    const env = 'production';
    const runIds = Array.from({ length: 2_000 }, (_, i) => `run-${String(i).padStart(4, '0')}`);

    /** Active runs that wait with the expression, each for another event. */
    async function storeWaits(expression: string | undefined, name: string): Promise<NewWait[]> {
      await store.runs.create(
        runIds.map((id) => ({ id, env, functionId: 'f', eventId: id, requestId: 'r', queuedAt: 1, reconcileAt: 1 })),
      );
      const waits = runIds.map((runId, n) => {
        const wait = { runId, functionId: 'f', eventId: runId, stepId: name, ...(expression && { expression }) };
        return {
          key: `${runId}/${name}`,
          eventName: name,
          ...indexWait(wait, { name: 'x', data: { n, order: `A${n}` } }),
        };
      });
      expect(await store.waits.add(env, waits, Date.now())).to.have.length(waits.length);
      return waits;
    }

    async function candidatesOf(name: string, ...events: object[]) {
      const incoming = events.map((data) => ({ name, data }));
      const found: string[] = [];
      let commands = 0;
      const send = store.redis.sendCommand;
      store.redis.sendCommand = function (...args) {
        commands++;
        return send.apply(this, args);
      };
      try {
        for await (const { waits } of store.possibleWaits.of(env, incoming, (event) => event)) {
          expect(waits.length).to.be.at.most(1_000);
          found.push(...waits.map(({ wait }) => wait.runId));
        }
      } finally {
        store.redis.sendCommand = send;
      }
      return { found: found.sort(), commands };
    }

    it('only waits with the same value are evaluated: one or none of two thousand', async () => {
      await storeWaits('async.data.order == event.data.order && async.data.n > 3', 'by/value');
      expect(await candidatesOf('by/value', { order: 'none' }, { order: 1 }, {})).to.deep.include({ found: [] });
      const { found, commands } = await candidatesOf('by/value', { order: 'A7' }, { order: 'A7' }, { order: 'A1999' });
      expect(found).to.deep.equal(['run-0007', 'run-1999']);
      expect(commands).to.be.at.most(10);
    });

    it('waits whose expression requires no value are all evaluated, in bounded batches', async () => {
      await storeWaits('async.data.n > event.data.n', 'by/nothing');
      const { found, commands } = await candidatesOf('by/nothing', { n: 1 }, { n: 2 });
      expect(new Set(found)).to.deep.equal(new Set(runIds));
      expect(commands).to.be.at.most(20);
    });

    it('waits are stored with the fields that their expression reads from the triggering event', async () => {
      const caused = {
        name: 'x',
        data: { n: 1, order: 'A1', large: 'x'.repeat(100_000), deep: { a: { b: 1, c: 2 } } },
      };
      const wait = { runId: 'r', functionId: 'f', eventId: 'e', stepId: 's' };
      const read = (expression: string) => indexWait({ ...wait, expression }, caused).wait.caused;
      expect(read('async.data.order == event.data.order')).to.deep.equal({ data: { order: 'A1' } });
      expect(read('event.data.deep.a.b == 1 && has(event.data.deep.z) && event["data"].n > 0')).to.deep.equal({
        data: { deep: { a: { b: 1 } }, n: 1 },
      });
      expect(read('event.data.deep.a.b == 1 && event.data.deep == async.data.deep')).to.deep.equal({
        data: { deep: caused.data.deep },
      });
      expect(read('[event].exists(e, e.name == "x")')).to.equal(undefined);
      expect(read('async.data.order == "A1"')).to.deep.equal({});
    });

    it('waits are kept for as long as a step may wait, for any number stored at once', async () => {
      const runId = 'run-long';
      await store.runs.create([
        { id: runId, env, functionId: 'f', eventId: runId, requestId: 'r', queuedAt: 1, reconcileAt: 1 },
      ]);
      const now = Date.now();
      const wait = { runId, functionId: 'f', eventId: 'e', until: now + MAX_WAIT_MS };
      const waits = Array.from({ length: 20_000 }, (_, n) => ({
        key: `${runId}/cancel-${n}`,
        eventName: 'by/long',
        ...indexWait(wait, undefined),
      }));
      expect(await store.waits.add(env, waits, now)).to.have.length(waits.length);
      const place = `${store.keys.homesOf(env, 'by/long')[0].prefix}:waits:${env}:by/long`;
      expect(await store.redis.hlen(place)).to.equal(waits.length);
      expect(await store.redis.pttl(place)).to.be.greaterThan(MAX_WAIT_MS);
      await store.runs.end(
        { env, id: runId, functionId: 'f' },
        { status: 'Cancelled', reason: { cause: 'request' } },
        now,
      );
      expect(await store.redis.exists(place)).to.equal(0);
    });

    it('waits store no large values and are not indexed by long texts', () => {
      let written = 0;
      const large = { text: 'x'.repeat(5_000), toJSON: () => written++ };
      const caused = { name: 'x', data: { large, code: 'A'.repeat(5_000) } };
      const wait = { runId: 'r', functionId: 'f', eventId: 'e', stepId: 's' };
      for (const expression of ['async.data.large == event.data.large', 'async.data.code == event.data.code']) {
        const found = indexWait({ ...wait, expression }, caused);
        expect([found.wait.caused, found.equality], expression).to.deep.equal([undefined, undefined]);
      }
      expect(written).to.equal(0);
    });

    it('waits are not stored for an ended run, and removed when their run ends', async () => {
      const [one, two] = await storeWaits('async.data.order == event.data.order', 'by/end');
      const ends = { env, id: runIds[0] as string, functionId: 'f' };
      await store.runs.end(ends, { status: 'Cancelled', reason: { cause: 'request' } }, Date.now());
      expect(await store.waits.add(env, [one, two] as NewWait[], Date.now())).to.deep.equal([two]);
      expect((await candidatesOf('by/end', { order: 'A0' })).found).to.deep.equal([]);
      expect((await candidatesOf('by/value', { order: 'A0' })).found).to.deep.equal([]);
      expect((await candidatesOf('by/nothing', {})).found).not.to.include(runIds[0]);
    });

    it('a wait that its run left in another partition leaves nothing when an event meets it', async () => {
      const own = await openStore(undefined, { PARTITIONS: '2' });
      try {
        const [home] = own.keys.homesOf(env, 'left/go');
        const runId = own.ids.inPartition(newId(), 1 - home.number);
        const run = { id: runId, env, functionId: 'f', eventId: runId, requestId: 'r', queuedAt: 1 };
        await own.runs.create([{ ...run, reconcileAt: Date.now() + HOUR_MS }]);
        const event = { name: 'left/go', data: { order: 'A1' } };
        const expression = 'async.data.order == event.data.order';
        const left = { runId, functionId: 'f', eventId: runId, stepId: STEP, until: Date.now() + HOUR_MS, expression };
        const added = { key: `${runId}/${STEP}`, eventName: event.name, ...indexWait(left, event) };
        expect(await own.waits.add(env, [added], Date.now())).to.have.length(1);
        // Its process died between the end of the run and the removal.
        await own.redis.del(own.keys.of(runId).waitsOfRun(env, runId));
        const found: { key: string }[] = [];
        for await (const { waits } of own.possibleWaits.of(env, [event], (event) => event)) {
          for (const { key, foundAt } of waits) {
            found.push({ key });
            await own.waits.remove(env, key, foundAt);
          }
        }
        expect(found).to.deep.equal([{ key: added.key }]);
        expect(await findKeys(own.redis, own.prefix, /wait/)).to.deep.equal([]);
      } finally {
        await own.close();
      }
    });
  });
});
