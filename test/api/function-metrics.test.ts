import { expect } from 'chai';
import { FunctionBuffer, STEP_NAMES_MAX } from '../../src/store/telemetry/function-buffer.ts';
import { timeStepOf } from '../../src/store/telemetry/function-series.ts';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { type OwnStore, openStore } from '../support/own-store.ts';
import { keysOf } from '../support/redis.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** The start of a day. */
const DAY = Date.UTC(2026, 10, 3);

const step = (name: string, more: object = {}) => ({ id: name.padEnd(40, '0'), op: 'StepRun', name, data: 1, ...more });

describe('Metrics of a function', () => {
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService({ env: { RETRY_SCALE: '0.0005' }, workers: 2 });
    host = await startAppHost();
  });
  after(async () => {
    await service.stop();
    await host.close();
  });

  // biome-ignore lint/suspicious/noExplicitAny: tests say what they expect of it
  type Data = any;
  const metricsOf = async (id: string, condition: (data: Data) => boolean, query = ''): Promise<Data> =>
    (await service.waitFor(`/v1/functions/${id}/metrics${query}`, ({ body }) => condition(body.data), 20_000)).body
      .data;
  const send = (name: string, count = 1) =>
    service.post(
      '/e/key',
      Array.from({ length: count }, () => ({ name, data: {} })),
    );

  it('GET /v1/functions/:id/metrics counts runs, failed attempts and steps, with percentiles of their durations', async () => {
    host.on('steps', ({ body, number }) => {
      if (number === 0)
        return { status: 206, body: [{ ...step('charge'), op: 'StepError', error: { name: 'E', message: 'no' } }] };
      const at = body.ctx.stack.current;
      return at < 2 ? { status: 206, body: [step(at === 0 ? 'charge' : 'mail')] } : {};
    });
    await host.register(service, [{ id: 'steps', triggers: [{ event: 'm/steps' }] }], { appName: 'm' });
    await send('m/steps', 3);
    const data = await metricsOf(
      'm-steps',
      ({ total, steps }) => total.started === 3 && total.completed === 3 && steps.length === 2,
      '?step=mail',
    );
    expect(data.total).to.deep.include({ started: 3, completed: 3, failed: 0, cancelled: 0, attempts_failed: 1 });
    const { body: listed } = await service.get('/v1/runs?function_id=m-steps');
    const took = listed.data
      .map((run: Data) => Date.parse(run.ended_at) - Date.parse(run.run_started_at))
      .sort((a: number, b: number) => a - b);
    expect(data.total.duration_ms, 'exact').to.deep.equal({ p50: took[1], p95: took[2], p99: took[2] });
    const [charge, mail] = data.steps;
    expect(charge).to.deep.include({ name: 'charge', count: 4, failed: 1 });
    expect(charge).to.not.have.property('series');
    expect(mail).to.deep.include({ name: 'mail', count: 3, failed: 0 });
    expect(mail.duration_ms).to.have.keys('p50', 'p95', 'p99');
    expect(mail.series.reduce((sum: number, { count }: { count: number }) => sum + count, 0)).to.equal(3);
    expect(data.deploys.map(({ app, first }: Data) => [app, first])).to.deep.equal([['m', true]]);
    expect(data.step_seconds).to.equal(300);
    const minutes = await metricsOf('m-steps', () => true, `?from=${Date.now() - HOUR_MS}`);
    expect(minutes.step_seconds).to.equal(60);
    expect(minutes.points.map(({ completed }: Data) => completed).reduce((a: number, b: number) => a + b)).to.equal(3);
    expect((await service.get('/v1/functions/nobody/metrics')).status).to.equal(404);
    expect((await service.get('/v1/functions/m-steps/metrics?from=5&to=4')).status).to.equal(400);
  });

  it('GET /v1/functions/:id/metrics counts the attempts of a step that fails its run, but not the call that the step ends', async () => {
    const error = { name: 'CardError', message: 'card refused' };
    host.on('fails', ({ body }) => {
      if (body.ctx.stack.current === 0) return { status: 206, body: [{ ...step('charge'), op: 'StepError', error }] };
      return { status: 400, headers: { 'x-service-no-retry': 'true' }, body: { ...error, name: 'StepError' } };
    });
    const spec = { id: 'fails', triggers: [{ event: 'm/fails' }], retries: 1 };
    await host.register(service, [spec], { appName: 'm2' });
    await send('m/fails');
    // Two workers may have called it, each of which tells its counts by itself.
    const isCounted = ({ total }: Data) => total.failed === 1 && total.attempts_failed >= 2;
    const { total, steps } = await metricsOf('m2-fails', isCounted);
    expect(total).to.deep.include({ started: 1, failed: 1, attempts_failed: 2 });
    expect(steps[0]).to.deep.include({ name: 'charge', count: 2, failed: 2 });
  });

  it('the counts of two workers add up, even when one stops and another starts', async () => {
    await host.register(service, [{ id: 'many', triggers: [{ event: 'm/many' }] }], { appName: 'two' });
    await send('m/many', 40);
    // What a worker has counted and not sent is sent when it shuts down.
    await service.workers.shift()?.stop();
    await service.startWorker();
    await send('m/many', 10);
    const { total } = await metricsOf('two-many', ({ total }) => total.completed >= 50);
    expect(total).to.deep.include({ started: 50, completed: 50 });
  });

  it('each environment has its own metrics', async () => {
    await service.post('/v1/environments', { name: 'staging' });
    const register = async (env?: string) =>
      service.post(
        '/fn/register',
        host.registration([{ id: 'both', triggers: [{ event: 'm/both' }] }], { appName: 'env' }),
        {
          'x-service-sdk': 'test:v1.0.0',
          ...(env && { 'x-service-env': env }),
        },
      );
    await register();
    await register('staging');
    await service.post('/e/key', { name: 'm/both', data: {} }, { 'x-service-env': 'staging' });
    await send('m/both', 2);
    expect((await metricsOf('env-both', ({ total }) => total.completed >= 2)).total.completed).to.equal(2);
    const ofStaging = async () => {
      const { body } = await service.get('/v1/functions/env-both/metrics', { 'x-service-env': 'staging' });
      return body.data.total.completed;
    };
    await until(async () => (await ofStaging()) > 0, { describe: 'the run of the other environment is counted' });
    expect(await ofStaging()).to.equal(1);
  });

  it('an app that gives every step a new name gets 50 names a day, and its other steps are counted together', async () => {
    const named = (n: number) => step(`${n}`.padEnd(1_000, '\ud800x'), { id: `step-${n}` });
    host.on('names', ({ body }) =>
      body.ctx.stack.current === 0 ? { status: 206, body: Array.from({ length: 80 }, (_, n) => named(n)) } : {},
    );
    await host.register(service, [{ id: 'names', triggers: [{ event: 'm/names' }] }], { appName: 'hostile' });
    await send('m/names');
    const { steps } = await metricsOf('hostile-names', ({ steps }) => steps.length > 0);
    expect(steps).to.have.length(STEP_NAMES_MAX + 1);
    expect(steps.at(-1)).to.deep.include({ name: null, count: 30 });
    for (const { name } of steps.slice(0, -1)) expect(name.length).to.be.at.most(100);
    const keys = (await keysOf(service.redis, service.prefix)).filter((key) =>
      /:(function|step)-(series|numbers):/.test(key),
    );
    expect(keys).to.have.length.above(5);
    for (const key of keys) expect(await service.redis.pttl(key), key).to.be.within(6 * HOUR_MS, 10 * DAY_MS);
  });

  describe('as they are stored', () => {
    let store: OwnStore;
    before(async () => {
      store = await openStore();
    });
    after(() => store.close());

    const add = async (nowMs: number, fill: (buffer: FunctionBuffer) => void) => {
      const buffer = new FunctionBuffer();
      fill(buffer);
      await store.functionSeries.add(buffer, nowMs);
      expect([...buffer.entries()]).to.deep.equal([]);
    };

    it('each interval of a minute, 5 minutes or an hour has the counts of that time', async () => {
      for (const at of [DAY + 1, DAY + 3 * MINUTE_MS, DAY + HOUR_MS, DAY + 5 * HOUR_MS]) {
        await add(at, (buffer) => {
          buffer.count('e', 'f', 'started');
          buffer.timeRun('e', 'f', 100);
        });
      }
      const counts = async (stepMs: number) =>
        (await store.functionSeries.runs('e', 'f', DAY, DAY + 6 * HOUR_MS, stepMs)).flatMap(
          ({ at, counts, durations }) =>
            counts.started > 0 ? [[at - DAY, counts.started, [...durations.values()][0]]] : [],
        );
      expect(await counts(MINUTE_MS)).to.deep.equal([
        [0, 1, 1],
        [3 * MINUTE_MS, 1, 1],
        [HOUR_MS, 1, 1],
        [5 * HOUR_MS, 1, 1],
      ]);
      expect((await counts(5 * MINUTE_MS))[0]).to.deep.equal([0, 2, 2]);
      expect(await counts(HOUR_MS)).to.deep.equal([
        [0, 2, 2],
        [HOUR_MS, 1, 1],
        [5 * HOUR_MS, 1, 1],
      ]);
    });

    it('a step keeps its name over all days, although its number differs from day to day', async () => {
      await add(DAY + 1, (buffer) => buffer.timeStep('e', 's', 'first', 10, false));
      await add(DAY + 2, (buffer) => buffer.timeStep('e', 's', 'second', 10, false));
      await add(DAY + DAY_MS, (buffer) => buffer.timeStep('e', 's', 'second', 10, true));
      const found = await store.functionSeries.steps('e', 's', DAY, DAY + 2 * DAY_MS, HOUR_MS);
      const points = Object.fromEntries(found.map(({ name, points }) => [name, points.map(({ at }) => at - DAY)]));
      expect(points).to.deep.equal({ first: [0], second: [0, DAY_MS] });
    });

    it('the interval fits the range and what is still kept', () => {
      const now = DAY + 3 * HOUR_MS;
      expect(timeStepOf(now - HOUR_MS, now, now)).to.equal(MINUTE_MS);
      expect(timeStepOf(now - 20 * HOUR_MS, now - 19 * HOUR_MS, now)).to.equal(5 * MINUTE_MS);
      expect(timeStepOf(now - 24 * HOUR_MS, now, now)).to.equal(5 * MINUTE_MS);
      expect(timeStepOf(now - 2 * DAY_MS, now - DAY_MS, now)).to.equal(HOUR_MS);
    });
  });
});
