import { expect } from 'chai';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

describe('throttle', () => {
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService({ env: { STALLED_AFTER_SECONDS: '1' }, workers: 2 });
  });
  after(() => service.stop());
  beforeEach(async () => {
    host = await startAppHost();
  });
  afterEach(() => host.close());

  const numbered = (name: string, count: number, data: (n: number) => object = () => ({})) =>
    Array.from({ length: count }, (_, n) => ({ name, data: { n, ...data(n) } }));

  /** Start times of runs as the service stored them, in their order. */
  async function starts(fnId: string, count: number, of = service): Promise<number[]> {
    const { body } = await of.waitFor(
      `/v1/runs?function_id=test-app-${fnId}&status=Completed&limit=100`,
      (response) => response.body.data?.length === count,
    );
    return body.data
      .map((run: { run_started_at: string }) => Date.parse(run.run_started_at))
      .sort((a: number, b: number) => a - b);
  }

  it('starts limit and burst at once, then one run in each part of the period, in order; none is dropped', async () => {
    const own = await startService({ env: { RUN_CONCURRENCY: '1' } });
    try {
      host.on('even', ({ body }) => ({ body: body.event.data.n }));
      // One every 200 ms.
      const throttle = { limit: 5, period: '1s', burst: 2 };
      await host.register(own, [{ id: 'even', triggers: [{ event: 'even/x' }], throttle }]);
      await own.post(own.eventPath, numbered('even/x', 12));
      const times = await starts('even', 12, own);
      // The first seven at once; the nth after those not before n intervals. They were admitted after they were received.
      const received = Date.parse((await own.get('/v1/events?name=even/x')).body.data[0].received_at);
      for (let n = 7; n < 12; n++) expect((times[n] as number) - received).to.be.at.least((n - 6) * 200);
      const order = host.calls('even').map(({ body }) => body.event.data.n);
      expect(order).to.deep.equal([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    } finally {
      await own.stop();
    }
  });

  it('throttles each value of its key separately', async () => {
    host.on('each', ({ body }) => ({ body: body.event.data.n }));
    const throttle = { limit: 1, period: '60s', key: 'event.data.customer' };
    await host.register(service, [{ id: 'each', triggers: [{ event: 'each/x' }], throttle }]);
    await service.post(
      service.eventPath,
      numbered('each/x', 4, (n) => ({ customer: n % 2 })),
    );
    await until(() => host.calls('each').length === 2, { describe: 'one run of each starts' });
    const { body } = await service.get('/v1/runs?function_id=test-app-each&status=Queued');
    expect(body.data).to.have.length(2);
  });

  it('counts starts of runs, not their further calls', async () => {
    const stepId = 'step'.padEnd(40, '0');
    host.on('steps', ({ body }) => {
      if (Object.keys(body.steps).length > 0) return { body: body.event.data.n };
      return { status: 206, body: [{ id: stepId, op: 'StepRun', name: 's', displayName: 's', data: 1 }] };
    });
    const throttle = { limit: 2, period: '60s' };
    await host.register(service, [{ id: 'steps', triggers: [{ event: 'steps/x' }], throttle }]);
    await service.post(service.eventPath, numbered('steps/x', 2));
    expect(await starts('steps', 2)).to.have.length(2);
  });

  it('affects waiting runs when a deploy raises or removes it', async () => {
    host.on('raised', ({ body }) => ({ body: body.event.data.n }));
    const register = (throttle?: object) =>
      host.register(service, [{ id: 'raised', triggers: [{ event: 'raise/x' }], ...(throttle ? { throttle } : {}) }]);
    await register({ limit: 1, period: '1h' });
    await service.post(service.eventPath, numbered('raise/x', 6));
    await until(() => host.calls('raised').length === 1, { describe: 'one run starts' });
    await register({ limit: 1, period: '1h', burst: 2 });
    await until(() => host.calls('raised').length === 3, { describe: 'those of the burst start' });
    await register();
    await until(() => host.calls('raised').length === 6, { describe: 'all runs start' });
  });

  it('continues after the worker that would have started the next run was killed', async () => {
    const own = await startService({ processes: 'worker', env: { STALLED_AFTER_SECONDS: '1' } });
    try {
      host.on('orphan', ({ body }) => ({ body: body.event.data.n }));
      const throttle = { limit: 2, period: '1s' };
      await host.register(own, [{ id: 'orphan', triggers: [{ event: 'orphan/x' }], throttle }]);
      await own.post(own.eventPath, numbered('orphan/x', 8));
      await until(() => host.calls('orphan').length >= 3, { describe: 'some runs have started' });
      await own.killWorker();
      await own.startWorker();
      await until(() => host.calls('orphan').length >= 8, { describe: 'all runs start' });
    } finally {
      await own.stop();
    }
  });
});

describe('priority', () => {
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService({ env: { RUN_CONCURRENCY: '1' } });
  });
  after(() => service.stop());
  beforeEach(async () => {
    host = await startAppHost();
  });
  afterEach(() => host.close());

  for (const [what, options] of Object.entries({
    'with a limit': { concurrency: 1 },
    'without a limit, when workers are busy': {},
  })) {
    it(`makes a run start as if it had been queued that many seconds earlier, ${what}`, async () => {
      let open: () => void = () => {};
      const isOpen = new Promise<void>((resolve) => {
        open = resolve;
      });
      host.on('ordered', async ({ body }) => {
        await isOpen;
        return { body: body.event.data.n };
      });
      const priority = { run: 'event.data.vip ? 120 : event.data.late ? -120 : 0' };
      await host.register(service, [{ id: 'ordered', triggers: [{ event: 'order/x' }], priority, ...options }]);
      await service.post(service.eventPath, { name: 'order/x', data: { n: 'first' } });
      await until(() => host.calls('ordered').length === 1, { describe: 'a call is in flight' });
      const names = ['late', 'plain', 'vip', 'plain again', 'vip again'];
      for (const n of names) {
        await service.post(service.eventPath, {
          name: 'order/x',
          data: { n, vip: n.startsWith('vip'), late: n === 'late' },
        });
      }
      await service.waitFor(
        '/v1/runs?function_id=test-app-ordered&status=Queued',
        ({ body }) => body.data?.length === 5,
      );
      open();
      await until(() => host.calls('ordered').length === 6, { describe: 'all runs have started' });
      const order = host.calls('ordered').map(({ body }) => body.event.data.n);
      expect(order).to.deep.equal(['first', 'vip', 'vip again', 'plain', 'plain again', 'late']);
    });
  }
});
