import { expect } from 'chai';
import { type AppHost, type AppOptions, type FunctionSpec, startAppHost } from '../support/app-host.ts';
import { request } from '../support/http.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const on = (event: string) => ({ triggers: [{ event }] });
const IGNORED = 'the service does not have this option, and ignores it';

/** Each field that acts, as SDKs send them, and the empty ones that they send for what is not configured. */
const ALL_ACT: FunctionSpec[] = [
  {
    id: 'single',
    description: 'What it does',
    group: 'Orders',
    triggers: [{ event: 'all/x', expression: 'event.data.a == 1' }],
    cancel: [{ event: 'all/y', if: 'async.data.a == event.data.a', timeout: '1h' }],
    concurrency: [{ limit: 5, key: 'event.data.tenant', scope: 'env' }],
    throttle: { limit: 1, period: '1m', burst: 1, key: 'event.data.a' },
    rateLimit: { limit: 1, period: '1m', key: 'event.data.a' },
    debounce: { period: '1m', timeout: '5m', key: 'event.data.a' },
    priority: { run: 'event.data.priority' },
    Singleton: { mode: 'skip', key: 'event.data.a' },
    idempotency: 'event.data.order',
    timeouts: { start: '1s', finish: '1s' },
    retries: 2,
    checkpoint: { BufferedSteps: 1 },
  },
  { id: 'lists', ...on('all/x'), concurrency: { fn: [{ limit: 1 }], step: [{ limit: 2, key: 'event.data.a' }] } },
  { id: 'batched', ...on('all/x'), batchEvents: { maxSize: 2, timeout: '60s', key: 'event.data.a', if: 'true' } },
  { id: 'empty', ...on('all/x'), rollout: null, region: '', replicas: 0, tags: [], sticky: {}, debug: false },
  { id: 'ticks', triggers: [{ cron: '0 9 * * 1' }] },
];

const NEWER: FunctionSpec[] = [
  {
    id: 'newer',
    triggers: [{ event: 'newer/x', jitter: '1m' } as { event: string }],
    rateLimits: { limit: 1, period: '1m' },
    throttle: { limit: 1, period: '1m', smooth: true },
    concurrency: [{ limit: 1, group: 'a' }],
    region: 'eu',
  },
];
const NEWER_FIELDS = [
  ['rateLimits', `${IGNORED}; did you mean "rateLimit"?`],
  ['throttle.smooth', IGNORED],
  ['region', IGNORED],
  ['concurrency.0.group', IGNORED],
  ['triggers.0.jitter', 'only a trigger with "cron" has a jitter'],
].map(([field, message]) => ({ function: 'newer-newer', field, message }));

describe('Fields of a registration that the service does not act on', () => {
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService({ workers: 0, env: { LOG_LEVEL: 'info' } });
    host = await startAppHost();
  });
  after(async () => {
    await host.close();
    await service.stop();
  });

  const register = (functions: FunctionSpec[], appName: string, options: AppOptions = {}) =>
    host.register(service, functions, { appName, ...options });
  const sorted = (fields: { field: string }[]) => fields.toSorted((a, b) => (a.field < b.field ? -1 : 1));

  it('include no field that the service documents', async () => {
    const { status, body } = await register(ALL_ACT, 'all');
    expect([status, body]).to.deep.equal([200, { ok: true, modified: true }]);
    const { unsupported, unsupported_count: count } = (await service.get('/v1/apps/all')).body.data;
    expect([unsupported, count]).to.deep.equal([[], 0]);
  });

  it('are listed in the response to either kind of registration, by the API and in the log line', async () => {
    const { status, body } = await register(NEWER, 'newer');
    expect([status, body.unsupported_count]).to.deep.equal([200, NEWER_FIELDS.length]);
    expect(sorted(body.unsupported)).to.deep.equal(sorted(NEWER_FIELDS as { field: string }[]));
    const asked = await service.post('/v1/apps', { url: host.url });
    expect(asked.body.data).to.deep.include({
      unsupported: body.unsupported,
      unsupported_count: body.unsupported_count,
    });
    const { data } = (await service.get('/v1/apps/newer')).body;
    expect(data.unsupported).to.deep.equal(body.unsupported);
    const listed = (await service.get('/v1/apps')).body.data.find(({ name }: { name: string }) => name === 'newer');
    expect(listed.unsupported_count).to.equal(NEWER_FIELDS.length);
    const [line] = await logged('newer');
    expect(line).to.include({ level: 'info', env: 'production', by: 'app', sdk: 'test:v1.0.0', modified: true });
    expect(line).to.include({ functions: 1, unsupportedCount: NEWER_FIELDS.length });
    expect(line?.unsupported).to.include('newer-newer: rateLimits');
  });

  it('disappear when the app registers without them; each registration has one line in the log', async () => {
    await register([{ id: 'f', ...on('gone/x'), region: 'eu' }], 'gone');
    await register([{ id: 'f', ...on('gone/x') }], 'gone');
    await register([{ id: 'f', ...on('gone/x') }], 'gone');
    expect((await service.get('/v1/apps/gone')).body.data).to.deep.include({ unsupported: [], unsupported_count: 0 });
    const lines = await until(async () => (await logged('gone')).length === 3 && logged('gone'), {
      describe: 'three lines',
    });
    expect(lines.map(({ modified }) => modified)).to.deep.equal([true, true, false]);
  });

  it('may belong to the app, to its steps and to what an expression reads', async () => {
    const registration = host.registration([{ id: 'f', triggers: [{ cron: '@daily' }] }], { appName: 'parts' });
    const [fn] = registration.functions as unknown as [Record<string, unknown>];
    const { step } = fn.steps as { step: { runtime: object } };
    const given = {
      ...registration,
      tenant: 'a',
      functions: [
        {
          ...fn,
          triggers: [{ cron: '@daily', expression: 'event.data.a' }],
          steps: { step: { ...step, runtime: { ...step.runtime, type: 'lambda' } }, other: step },
        },
      ],
    };
    const { body } = await request('POST', `${service.url}/fn/register`, { body: given });
    expect(body.unsupported.map(({ function: id, field }: { function: string; field: string }) => [id, field]))
      .to.deep //
      .equal([
        [null, 'tenant'],
        ['parts-f', 'steps.other'],
        ['parts-f', 'steps.step.runtime.type'],
        ['parts-f', 'triggers.0.expression'],
      ]);
  });

  it('are limited in number and length', async () => {
    const many = Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`${'x'.repeat(200)}${n}`, 1]));
    const { body } = await register([{ id: 'f', ...on('many/x'), ...many }], 'many');
    expect([body.unsupported.length, body.unsupported_count]).to.deep.equal([100, 300]);
    expect(JSON.stringify(body.unsupported).length).to.be.below(40_000);
  });

  it('cause a rejection if UNSUPPORTED is reject, and nothing is registered', async () => {
    const strict = await startService({ workers: 0, env: { UNSUPPORTED: 'reject' } });
    try {
      const { status, body } = await host.register(strict, NEWER, {
        appName: 'newer',
        headers: { 'x-service-env': 'strict-branch' },
      });
      expect([status, body.code, body.unsupported_count]).to.deep.equal([400, 'registration_invalid', 5]);
      expect(body.error).to.include('the field "rateLimits" of the function "newer-newer"').and.include('and 4 more');
      expect((await strict.get('/v1/apps')).body.data).to.deep.equal([]);
      const branches = (await strict.get('/v1/environments')).body.data.map(({ name }: { name: string }) => name);
      expect(branches).to.not.include('strict-branch');

      expect((await host.register(strict, ALL_ACT, { appName: 'all' })).status).to.equal(200);
      expect((await host.register(strict, NEWER, { appName: 'all' })).status).to.equal(400);
      const { function_count: count, last_sync: sync } = (await strict.get('/v1/apps/all')).body.data;
      expect([count, sync.succeeded]).to.deep.equal([ALL_ACT.length, false]);
      expect(sync.error).to.include('UNSUPPORTED is reject');
    } finally {
      await strict.stop();
    }
  });

  it('include triggers that no event can match, as problems of the function', async () => {
    const never = [
      { event: 'order/*/paid' },
      { event: '*' },
      { event: 'inngest/function.started' },
      { event: 'service/internal.tick' },
      { event: 'order/paid', expression: '1 == 2' },
    ];
    const some = [
      { event: 'order/*' },
      { event: 'inngest/*' },
      { event: 'inngest/function.failed' },
      { event: 'order/paid', expression: '1 == 1' },
      { event: 'order/paid', expression: 'event.data.total > 10' },
    ];
    const { body } = await register(
      [
        { id: 'never', triggers: never, cancel: [{ event: 'order*' }] },
        { id: 'some', triggers: some, cancel: [{ event: 'order/*', if: 'async.data.a == event.data.a' }] },
      ],
      'matches',
    );
    expect(body.functions.map(({ id }: { id: string }) => id)).to.deep.equal(['matches-never']);
    const [{ problems }] = body.functions;
    const starts = [...never.map((_, n) => `triggers[${n}] never fires: `), 'cancel[0] cancels no run: '];
    expect(problems.map((problem: string) => starts.find((start) => problem.startsWith(start)))).to.deep.equal(starts);
  });

  async function logged(app: string): Promise<Record<string, unknown>[]> {
    const lines = () =>
      service
        .output()
        .split('\n')
        .filter((line) => line.includes('"app registered"') && line.includes(`"app":"${app}"`))
        .map((line) => JSON.parse(line) as Record<string, unknown>);
    await until(async () => lines().length > 0, { describe: `a line about ${app}` });
    return lines();
  }
});
