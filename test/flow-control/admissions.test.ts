import { expect } from 'chai';
import { type AppHost, type Call, type HostResponse, startAppHost } from '../support/app-host.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const SOON = { STALLED_AFTER_SECONDS: '1', RETRY_SCALE: '0.0005' };
const RUNS = 2_000;
const KEYS = 50;
const BATCH = 100;
const STEP = (name: string) => name.padEnd(40, '0');

describe('Admission', () => {
  let host: AppHost;
  let service: Service;
  beforeEach(async () => {
    host = await startAppHost();
  });
  afterEach(async () => {
    // Ends calls in flight, which would keep a worker.
    await host.close();
    await service.stop();
  });

  const sendAll = async (events: object[]) => {
    for (let n = 0; n < events.length; n += BATCH) {
      const { status } = await service.post(service.eventPath, events.slice(n, n + BATCH));
      expect(status).to.equal(200);
    }
  };
  const numberOf = async (fnId: string, status: string) => {
    const path = `/v1/runs?function_id=test-app-${fnId}&status=${status}&limit=100`;
    return (await service.get(path)).body.data.length;
  };

  it('keeps the limits of 50 keys over 2,000 runs with steps, and each run ends once, when a worker is killed', async function () {
    this.timeout(600_000);
    service = await startService({ processes: 'worker', env: SOON, workers: 2 });
    const open = new Map<string, Set<string>>();
    const ends = new Map<string, number>();
    const exceeded: string[] = [];
    const work = (limit: number) => async (call: Call) => {
      const key = `${limit}/${call.body.event.data.key}`;
      // Another worker repeats a call of the dead one, which the app may not have noticed.
      const id = `${call.body.ctx.run_id} ${call.stepId} ${call.body.ctx.stack.stack.length}`;
      const now = open.get(key) ?? new Set();
      open.set(key, now.add(id));
      if (now.size > limit) exceeded.push(`calls of ${key}: ${[...now]} at ${ends.size} ends`);
      await new Promise((resolve) => setTimeout(resolve, 1));
      now.delete(id);
      const response = responseOf(call);
      if (response.status === undefined) ends.set(call.body.ctx.run_id, (ends.get(call.body.ctx.run_id) ?? 0) + 1);
      return response;
    };
    const limits = [1, 2, 3];
    for (const limit of limits) host.on(`at-most-${limit}`, work(limit));
    await host.register(
      service,
      limits.map((limit) => ({
        id: `at-most-${limit}`,
        triggers: [{ event: `stress/${limit}` }],
        concurrency: [{ limit, key: 'event.data.key' }],
      })),
    );
    const events = Array.from({ length: RUNS }, (_, n) => ({
      name: `stress/${limits[n % 3]}`,
      data: { key: `k${n % KEYS}`, work: ['plain', 'plain', 'sleep', 'parallel'][Math.floor(n / 3) % 4] },
    }));
    await sendAll(events);
    await until(() => ends.size > RUNS / 10, { describe: 'runs are on their way', timeoutMs: 60_000 });
    await service.killWorker(0);
    await until(() => ends.size === RUNS, { describe: 'all runs end', timeoutMs: 150_000 });
    expect(exceeded).to.deep.equal([]);
    for (const limit of limits) {
      await until(async () => (await numberOf(`at-most-${limit}`, 'Running')) === 0, {
        describe: 'none is left',
      });
      expect(await numberOf(`at-most-${limit}`, 'Failed')).to.equal(0);
    }
    // The worker that was killed had some calls whose responses are lost.
    const again = [...ends.values()].filter((count) => count > 1).length;
    expect(again).to.be.below(RUNS / 10);
  });

  it('passes the permits of a call whose job is lost to the next call, and the lost call runs later', async () => {
    service = await startService({ env: { ...SOON, RUN_CONCURRENCY: '1', PARTITIONS: '1' } });
    const held = Promise.withResolvers<void>();
    host.on('busy', async () => {
      await held.promise;
      return {};
    });
    await host.register(service, [
      { id: 'busy', triggers: [{ event: 'busy/x' }] },
      { id: 'lost', triggers: [{ event: 'lost/x' }], concurrency: 1 },
    ]);
    await sendAll([{ name: 'busy/x' }]);
    await host.nextCall('busy');
    await sendAll([0, 1, 2].map((n) => ({ name: 'lost/x', data: { n } })));
    // The first has a job in the queue, behind the call that keeps the worker busy.
    const lost = await until(waitingJob, { describe: 'the first run is admitted' });
    await removeJob(lost);
    await until(async () => (await waitingJob()) ?? false, {
      describe: 'the next is admitted without an end of the first',
    });
    held.resolve();
    await until(() => host.calls('lost').length === 3, { describe: 'all runs are called' });
    await until(async () => (await numberOf('lost', 'Completed')) === 3, { describe: 'all runs end' });
    expect(host.calls('lost').map(({ body }) => body.ctx.run_id)).to.have.length(3);
    expect(new Set(host.calls('lost').map(({ body }) => body.ctx.run_id)).size).to.equal(3);
  });

  it('starts the next run of a throttle whose timer is lost', async () => {
    service = await startService({ env: SOON });
    await host.register(service, [
      { id: 'paced', triggers: [{ event: 'paced/x' }], throttle: { limit: 1, period: '2s' } },
    ]);
    await sendAll([0, 1].map((n) => ({ name: 'paced/x', data: { n } })));
    await until(() => host.calls('paced').length === 1, { describe: 'the first run starts' });
    const keys = service.keys;
    await until(
      async () => {
        for (const { queues } of keys.all()) {
          const [id] = await service.redis.zrange(`${queues}:timers:delayed`, 0, '0');
          if (!id?.startsWith('throttle')) continue;
          await service.redis.del(`${queues}:timers:${id}`);
          return (await service.redis.zrem(`${queues}:timers:delayed`, id)) === 1;
        }
        return false;
      },
      { describe: 'its timer is lost' },
    );
    await until(() => host.calls('paced').length === 2, { describe: 'the second run starts' });
  });

  async function waitingJob(): Promise<string | undefined> {
    for (const { queues } of service.keys.all()) {
      const [id] = await service.redis.lrange(`${queues}:runs:wait`, 0, 0);
      if (id) return id;
    }
    return undefined;
  }

  async function removeJob(id: string): Promise<void> {
    for (const { queues } of service.keys.all()) {
      await service.redis.lrem(`${queues}:runs:wait`, 0, id);
      await service.redis.del(`${queues}:runs:${id}`);
    }
  }
});

/** A run with one call; one that sleeps; or one with two parallel steps. */
function responseOf({ body, stepId }: Call): HostResponse {
  const done = body.ctx.stack.stack.length;
  if (body.event.data.work === 'plain') return { body: 'done' };
  if (body.event.data.work === 'sleep') {
    if (done > 0) return { body: 'done' };
    const op = { id: STEP('sleep'), op: 'Sleep', name: 's', displayName: 's', opts: { duration: '20ms' } };
    return { status: 206, body: [op] };
  }
  if (stepId && stepId !== 'step') return { status: 206, body: [{ id: stepId, op: 'StepRun', name: 's', data: 1 }] };
  if (done === 2) return { body: 'done' };
  const planned = [STEP('a'), STEP('b')].map((id) => ({ id, op: 'StepPlanned', name: 's', displayName: 's' }));
  return { status: 206, body: planned.filter(({ id }) => !body.ctx.stack.stack.includes(id)) };
}
