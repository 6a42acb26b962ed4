import { expect } from 'chai';
import { FunctionLabels } from '../../../src/metrics/function-labels.ts';
import { FunctionMetrics } from '../../../src/metrics/functions.ts';
import { MetricsRegistry } from '../../../src/metrics/registry.ts';
import { type AppHost, startAppHost } from '../../support/app-host.ts';
import { parse, type Scrape, scrape } from '../../support/scrape.ts';
import { type Service, startService } from '../../support/service.ts';
import { until } from '../../support/until.ts';

const BACKLOG = 'tidegate_function_backlog';
const IN_FLIGHT = 'tidegate_function_calls_in_flight';
const THROTTLED = 'tidegate_function_starts_throttled_total';
const SKIPPED = 'tidegate_runs_skipped_total';
const HOUR_MS = 3_600_000;

describe('Metrics by function', () => {
  let nowMs: number;
  let metrics: FunctionMetrics;
  let read: (backlogs?: { env: string; functionId: string; waiting: number }[]) => Promise<Scrape>;
  beforeEach(() => {
    nowMs = 1_000_000;
    const registry = new MetricsRegistry('worker');
    metrics = new FunctionMetrics(registry, 'worker', new FunctionLabels(() => nowMs));
    read = async (backlogs) => {
      metrics.read(backlogs);
      return parse(await registry.scrape());
    };
  });

  const named = ({ series }: Scrape, name: string) => series.filter((sample) => sample.name === name);

  it('name at most 200 functions in each process, and count the others together', async () => {
    const backlogs = Array.from({ length: 1_000 }, (_, n) => ({ env: 'production', functionId: `f-${n}`, waiting: 2 }));
    for (const { env, functionId } of backlogs) {
      metrics.recorder.startThrottled(env, functionId);
      metrics.recorder.callInFlight(env, functionId, 1);
      metrics.recorder.runSkipped(env, functionId, 'debounced');
    }
    const found = await read(backlogs);
    for (const name of [BACKLOG, IN_FLIGHT, THROTTLED]) expect(named(found, name), name).to.have.length(201);
    const other = { environment: 'other', function: 'other' };
    expect(found.value(BACKLOG, other)).to.equal(1_600);
    expect(found.value(IN_FLIGHT, other)).to.equal(800);
    expect(found.value(THROTTLED, other)).to.equal(800);
    expect(found.value(SKIPPED, { ...other, reason: 'debounced' })).to.equal(800);
    expect(found.value(BACKLOG, { environment: 'production', function: 'f-0' })).to.equal(2);
  });

  it('drop the series of a function without records for an hour, to make room for others', async () => {
    for (let n = 0; n < 200; n++) metrics.recorder.runSkipped('production', `f-${n}`, 'rate_limited');
    metrics.recorder.callInFlight('production', 'f-0', 1);
    nowMs += HOUR_MS + 1;
    const found = await read([{ env: 'production', functionId: 'f-1', waiting: 3 }]);
    expect(named(found, BACKLOG).map(({ labels, value }) => [labels.function, value])).to.have.deep.members([
      ['f-0', 0],
      ['f-1', 3],
    ]);
    const skips = named(found, SKIPPED).filter(({ labels }) => labels.function !== 'other');
    expect(skips.map(({ labels }) => labels.function)).to.have.members(['f-0', 'f-1']);
    metrics.recorder.startThrottled('production', 'new');
    expect((await read([])).value(THROTTLED, { environment: 'production', function: 'new' })).to.equal(1);
  });

  it('show 0 once nothing waits, and no backlog while Redis is unavailable', async () => {
    const f = { environment: 'production', function: 'f' };
    expect((await read([{ env: 'production', functionId: 'f', waiting: 3 }])).value(BACKLOG, f)).to.equal(3);
    expect((await read([])).value(BACKLOG, f)).to.equal(0);
    expect((await read(undefined)).value(BACKLOG, f)).to.equal(undefined);
  });

  it('do not name a function just because it is paused or its expression was stopped', async () => {
    metrics.recorder.runSkipped('production', 'f', 'paused');
    metrics.recorder.runSkipped('production', 'f', 'not_evaluated');
    expect((await read([])).text).not.to.include('"f"');
  });
});

describe('Metrics by function of a service', () => {
  let service: Service;
  let host: AppHost;
  let respond = () => {};
  before(async () => {
    service = await startService({ env: { METRICS_PORT: '0' } });
    host = await startAppHost();
  });
  after(async () => {
    respond();
    await host.close();
    await service.stop();
  });

  it('show calls in flight, backlogs, throttled starts and skipped runs', async () => {
    const mayRespond = new Promise<void>((resolve) => {
      respond = resolve;
    });
    host.on('pay', async () => {
      await mayRespond;
      return {};
    });
    const limits = { throttle: { limit: 1, period: '1s' }, rateLimit: { limit: 1, period: '1h', key: 'event.data.n' } };
    await host.register(
      service,
      [
        { id: 'pay', triggers: [{ event: 'order/paid' }], concurrency: 1 },
        { id: 'ship', triggers: [{ event: 'order/shipped' }], ...limits },
        { id: 'plain', triggers: [{ event: 'order/paid' }] },
      ],
      { appName: 'shop' },
    );
    const of = (id: string) => ({ environment: 'production', function: `shop-${id}` });
    const eventually = (describe: string, condition: (found: Scrape) => boolean) =>
      until(async () => [await scrape(`http://127.0.0.1:${service.workers[0]?.metricsPort}`)].find(condition), {
        describe,
      });
    await service.post(
      service.eventPath,
      [1, 2, 3].map((n) => ({ name: 'order/paid', data: { n } })),
    );
    await service.post(
      service.eventPath,
      [1, 2, 2].map((n) => ({ name: 'order/shipped', data: { n } })),
    );
    const busy = await eventually(
      'one call is in flight, two wait',
      (one) => one.value(BACKLOG, of('pay')) === 2 && one.value(IN_FLIGHT, of('pay')) === 1,
    );
    expect(busy.text).not.to.include('shop-plain');
    await eventually(
      'one start was throttled, one run skipped',
      (one) =>
        one.value(THROTTLED, of('ship')) === 1 && one.value(SKIPPED, { ...of('ship'), reason: 'rate_limited' }) === 1,
    );
    respond();
    await eventually(
      'all is done',
      (one) => one.value(BACKLOG, of('pay')) === 0 && one.value(IN_FLIGHT, of('pay')) === 0,
    );
  });
});
