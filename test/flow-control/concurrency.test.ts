import { expect } from 'chai';
import { type AppHost, type Call, startAppHost } from '../support/app-host.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

/** Another worker takes over a dead worker's jobs after this time. */
const SOON = { STALLED_AFTER_SECONDS: '1', RETRY_SCALE: '0.0005' };

describe('concurrency', () => {
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService({ env: SOON, workers: 2 });
  });
  after(() => service.stop());
  beforeEach(async () => {
    host = await startAppHost();
  });
  afterEach(() => host.close());

  async function send(events: object[]): Promise<string[]> {
    const { status, body } = await service.post(service.eventPath, events);
    expect(status).to.equal(200);
    return body.ids;
  }

  const numbered = (name: string, count: number, data: (n: number) => object = () => ({})) =>
    Array.from({ length: count }, (_, n) => ({ name, data: { n, ...data(n) } }));

  /** Calls of the function that have no response yet, by a key. */
  function inFlight(fnId: string, keyOf: (call: Call) => string = () => '') {
    const now = new Map<string, number>();
    const most = new Map<string, number>();
    const held: (() => void)[] = [];
    let isOpen = false;
    host.on(fnId, async (call) => {
      const key = keyOf(call);
      const count = (now.get(key) ?? 0) + 1;
      now.set(key, count);
      most.set(key, Math.max(most.get(key) ?? 0, count));
      if (!isOpen) await new Promise<void>((resolve) => held.push(resolve));
      else await new Promise((resolve) => setImmediate(resolve));
      now.set(key, (now.get(key) ?? 1) - 1);
      return { body: call.body.event.data.n };
    });
    return {
      now,
      most,
      /** Ends the oldest call. */
      endOne: () => held.shift()?.(),
      open: () => {
        isOpen = true;
        for (const end of held.splice(0)) end();
      },
    };
  }

  const allCompleted = (fnId: string, count: number) =>
    service.waitFor(
      `/v1/runs?function_id=test-app-${fnId}&status=Completed&limit=100`,
      ({ body }) => body.data?.length === Math.min(count, 100),
    );

  it('no more calls than the limit are in flight, and a call that ends lets the next start, in order', async () => {
    const calls = inFlight('limited');
    await host.register(service, [{ id: 'limited', triggers: [{ event: 'limit/x' }], concurrency: 2 }]);
    await send(numbered('limit/x', 6));
    await until(() => calls.now.get('') === 2, { describe: 'two calls are in flight' });
    for (let ended = 1; ended <= 4; ended++) {
      calls.endOne();
      await until(() => host.calls('limited').length === 2 + ended, { describe: 'the next call starts' });
      expect(calls.now.get('')).to.equal(2);
    }
    calls.open();
    await allCompleted('limited', 6);
    const order = host.calls('limited').map(({ body }) => body.event.data.n);
    // Two workers make the first two calls at the same time.
    expect([...order.slice(0, 2).sort(), ...order.slice(2)]).to.deep.equal([0, 1, 2, 3, 4, 5]);
    expect(calls.most.get('')).to.equal(2);
  });

  it('each value of a key has its own limit', async () => {
    const calls = inFlight('keyed', ({ body }) => body.event.data.customer);
    const concurrency = [{ limit: 1, key: 'event.data.customer' }];
    await host.register(service, [{ id: 'keyed', triggers: [{ event: 'keyed/x' }], concurrency }]);
    await send(numbered('keyed/x', 12, (n) => ({ customer: `c${n % 3}` })));
    await until(() => [0, 1, 2].every((n) => calls.now.get(`c${n}`) === 1), {
      describe: 'a call of each is in flight',
    });
    expect(host.calls('keyed')).to.have.length(3);
    calls.open();
    await allCompleted('keyed', 12);
    expect([...calls.most.values()]).to.deep.equal([1, 1, 1]);
  });

  it('a call gets the permits of all of its limits or none: a waiting call holds no permit of another limit', async () => {
    const calls = inFlight('both', ({ body }) => body.event.data.customer);
    const concurrency = [{ limit: 2 }, { limit: 1, key: 'event.data.customer' }];
    await host.register(service, [{ id: 'both', triggers: [{ event: 'both/x' }], concurrency }]);
    await send([
      ...numbered('both/x', 10, () => ({ customer: 'busy' })),
      ...numbered('both/x', 1, () => ({ customer: 'quiet' })),
    ]);
    await until(() => calls.now.get('quiet') === 1 && calls.now.get('busy') === 1, {
      describe: 'both customers have a call',
    });
    expect(host.calls('both')).to.have.length(2);
    calls.open();
    await allCompleted('both', 11);
    expect(calls.most.get('busy')).to.equal(1);
  });

  it('functions share a limit of the environment by the value of its key', async () => {
    const calls = { a: inFlight('shared-a'), b: inFlight('shared-b') };
    const concurrency = [{ limit: 1, key: '"shared"', scope: 'env' }];
    await host.register(service, [
      { id: 'shared-a', triggers: [{ event: 'shared/x' }], concurrency },
      { id: 'shared-b', triggers: [{ event: 'shared/x' }], concurrency },
    ]);
    await send(numbered('shared/x', 2));
    for (let ended = 1; ended <= 3; ended++) {
      await until(() => (calls.a.now.get('') ?? 0) + (calls.b.now.get('') ?? 0) === 1, {
        describe: 'one call is in flight',
      });
      expect(host.calls()).to.have.length(ended);
      calls.a.endOne();
      calls.b.endOne();
      await until(() => host.calls().length === ended + 1, { describe: 'the next call starts' });
    }
    calls.a.open();
    calls.b.open();
    await allCompleted('shared-a', 2);
    await allCompleted('shared-b', 2);
  });

  it('a sleeping run holds no permit, and waits for one when it continues', async () => {
    const stepId = 'sleep'.padEnd(40, '0');
    let calls = 0;
    let most = 0;
    let begun = 0;
    const begunAtWakes: number[] = [];
    host.on('sleeping', async ({ body }) => {
      most = Math.max(most, ++calls);
      await new Promise((resolve) => setImmediate(resolve));
      calls--;
      if (Object.keys(body.steps).length > 0) {
        begunAtWakes.push(begun);
        return { body: 'done' };
      }
      begun++;
      const op = { id: stepId, op: 'Sleep', name: 'sleep', displayName: 'sleep', opts: { duration: '3s' } };
      return { status: 206, body: [op] };
    });
    await host.register(service, [{ id: 'sleeping', triggers: [{ event: 'sleep/x' }], concurrency: 1 }]);
    await send(numbered('sleep/x', 5));
    await allCompleted('sleeping', 5);
    expect(begunAtWakes, 'runs that had begun when one had slept enough').to.deep.equal([5, 5, 5, 5, 5]);
    expect(most).to.equal(1);
  });

  it('a retry gives its permit to others while it waits', async () => {
    host.on('failing', ({ body }) =>
      body.ctx.attempt === 0 ? { status: 500, body: { name: 'E', message: 'no' } } : { body: 'ok' },
    );
    await host.register(service, [{ id: 'failing', triggers: [{ event: 'fail/x' }], concurrency: 1, retries: 2 }]);
    await send(numbered('fail/x', 10));
    await allCompleted('failing', 10);
    expect(host.calls('failing')).to.have.length(20);
  });

  it('entries of `fn` count whole runs: a sleeping run keeps its permit', async () => {
    const stepId = 'sleep'.padEnd(40, '0');
    const active = new Set<string>();
    let most = 0;
    host.on('whole', ({ body }) => {
      if (Object.keys(body.steps).length > 0) {
        active.delete(body.ctx.run_id);
        return { body: 'done' };
      }
      active.add(body.ctx.run_id);
      most = Math.max(most, active.size);
      const op = { id: stepId, op: 'Sleep', name: 'sleep', displayName: 'sleep', opts: { duration: '50ms' } };
      return { status: 206, body: [op] };
    });
    const concurrency = { fn: [{ limit: 2 }] };
    await host.register(service, [{ id: 'whole', triggers: [{ event: 'whole/x' }], concurrency }]);
    await send(numbered('whole/x', 9));
    await allCompleted('whole', 9);
    expect(most).to.equal(2);
  });

  it('a run that is cancelled while it waits is skipped', async () => {
    const calls = inFlight('cancelled');
    await host.register(service, [{ id: 'cancelled', triggers: [{ event: 'cancel/x' }], concurrency: 1 }]);
    const ids = await send(numbered('cancel/x', 3));
    await until(() => calls.now.get('') === 1, { describe: 'one call is in flight' });
    const { body } = await service.waitFor(`/v1/events/${ids[1]}/runs`, (response) => response.body.data?.length === 1);
    expect((await service.request('DELETE', `/v1/runs/${body.data[0].run_id}`)).status).to.equal(200);
    calls.open();
    await allCompleted('cancelled', 2);
    expect(host.calls('cancelled').map((call) => call.body.event.data.n)).to.deep.equal([0, 2]);
  });

  it('a deploy that changes the limit affects waiting runs', async () => {
    const calls = inFlight('deployed');
    const register = (concurrency?: unknown) =>
      host.register(service, [
        { id: 'deployed', triggers: [{ event: 'deploy/x' }], ...(concurrency ? { concurrency } : {}) },
      ]);
    await register(1);
    await send(numbered('deploy/x', 10, (n) => ({ customer: n % 2 })));
    await until(() => calls.now.get('') === 1, { describe: 'one call is in flight' });
    await register(3);
    await until(() => calls.now.get('') === 3, { describe: 'three calls are in flight' });
    // A new key: what waits is divided anew.
    await register([{ limit: 1, key: 'event.data.customer' }]);
    await until(() => calls.now.get('') === 5, { describe: 'a call of each customer is in flight beside the three' });
    await register();
    await until(() => calls.now.get('') === 10, { describe: 'all calls are in flight' });
    calls.open();
    await allCompleted('deployed', 10);
  });

  it('the permits of a killed worker are released, and the limit holds', async () => {
    const own = await startService({ processes: 'worker', env: SOON, workers: 2 });
    try {
      let open = 0;
      let most = 0;
      const done = new Set<string>();
      host.on('killed', async ({ body }) => {
        most = Math.max(most, ++open);
        await new Promise((resolve) => setTimeout(resolve, 5));
        open--;
        done.add(body.ctx.run_id);
        return { body: null };
      });
      await host.register(own, [{ id: 'killed', triggers: [{ event: 'kill/x' }], concurrency: 3 }]);
      const { body } = await own.post(own.eventPath, numbered('kill/x', 300));
      expect(body.ids).to.have.length(300);
      await until(() => done.size > 30, { describe: 'runs are on their way' });
      await own.killWorker(0);
      await until(() => done.size === 300, { describe: 'all runs are done' });
      // The calls of the dead worker end by themselves in the app, within 5 ms; their permits are given back a second later.
      expect(most).to.be.at.most(3);
    } finally {
      await own.stop();
    }
  });
});
