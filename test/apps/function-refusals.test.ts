import { expect } from 'chai';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const on = (event: string) => ({ triggers: [{ event }] });
const events = (count: number) => Array.from({ length: count }, (_, n) => ({ event: `many/${n}` }));

/** As the SDKs send them: each field of flow control, in two functions, because some exclude each other. */
const VALID = {
  single: {
    concurrency: [{ limit: 5, key: 'event.data.tenant' }],
    throttle: { limit: 1, period: '1m', burst: 1 },
    rateLimit: { limit: 1, period: '1m' },
    debounce: { period: '1m' },
    priority: { run: 'event.data.priority' },
    singleton: { mode: 'skip' },
    idempotency: 'event.data.order',
    timeouts: { finish: '1s' },
  },
  batched: { batchEvents: { maxSize: 2, timeout: '60s' }, concurrency: 1 },
};

describe('Refused functions', () => {
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService({ workers: 0 });
    host = await startAppHost();
  });
  after(async () => {
    await host.close();
    await service.stop();
  });

  const problemsOf = async (id: string): Promise<string[]> =>
    (await service.get(`/v1/functions/${id}`)).body.data.problems;

  it('do not include functions with valid flow control, which have no problems', async () => {
    const functions = Object.entries(VALID).map(([id, options]) => ({ id, ...on('valid/x'), ...options }));
    const { status, body } = await host.register(service, functions, { appName: 'valid' });
    expect([status, body]).to.deep.equal([200, { ok: true, modified: true }]);
    for (const id of Object.keys(VALID)) expect(await problemsOf(`valid-${id}`)).to.deep.equal([]);
    const { problems } = (await service.post('/v1/apps/valid/check')).body.data;
    expect(problems.filter(({ code }: { code: string }) => code === 'function_problem')).to.deep.equal([]);
  });

  it('include those whose ID, or the name of whose order, has control characters', async () => {
    const functions = [
      { id: 'fi\x1fne', ...on('control/x') },
      { id: 'ordered', ...on('control/x'), order: { name: 'a\x1fb', key: 'event.data.id' } },
    ];
    const { status, body } = await host.register(service, functions, { appName: 'control' });
    expect(status).to.equal(400);
    expect(body.functions.map(({ problem }: { problem: string }) => problem)).to.satisfy(
      ([id, name]: string[]) =>
        /an ID without control characters/.test(id ?? '') && /"order.name".*a name without/.test(name ?? ''),
      JSON.stringify(body),
    );
  });

  it('are reported with field, value and what is allowed; the others are registered', async () => {
    const functions = [
      { id: 'plain', ...on('refused/x') },
      { id: 'often', ...on('refused/x'), rateLimit: { limit: 1, period: '25h' } },
      { id: 'keyed', ...on('refused/x'), idempotency: 'event.data.' },
      { id: 'joined', ...on('refused/x'), ...VALID.batched, debounce: { period: '1s' } },
    ];
    const { status, body } = await host.register(service, functions, { appName: 'refused' });
    expect([status, body.code, body.registered]).to.deep.equal([400, 'registration_invalid', 1]);
    const problem = 'field "rateLimit.period": got the string "25h": a time string from 1s to 24h, such as "30s"';
    expect(body.error).to.include(`function "refused-often": ${problem}`);
    expect(body.functions[0]).to.deep.equal({ id: 'refused-often', problem });
    const ids = ['refused-often', 'refused-keyed', 'refused-joined'];
    expect(body.functions.map(({ id }: { id: string }) => id)).to.deep.equal(ids);

    const app = (await service.get('/v1/apps/refused')).body.data;
    expect(app.functions.map(({ id }: { id: string }) => id)).to.deep.equal(['refused-plain']);
    expect(app.refused_functions.map(({ id }: { id: string }) => id)).to.deep.equal(ids);
  });

  it('keep their earlier registration', async () => {
    const f = { id: 'f', ...on('kept/x'), throttle: { limit: 1, period: '1m' } };
    await host.register(service, [f], { appName: 'kept' });
    const changed = { ...f, throttle: { limit: 0, period: '1m' } };
    expect((await host.register(service, [changed], { appName: 'kept' })).status).to.equal(400);
    const { configuration, archived } = (await service.get('/v1/functions/kept-f')).body.data;
    expect([configuration.throttle, archived]).to.deep.equal([f.throttle, false]);
  });

  it('include those with more than 10 triggers or 5 cancel events', async () => {
    const functions = [
      { id: 'ten', triggers: events(10), cancel: events(5) },
      { id: 'eleven', triggers: events(11) },
      { id: 'six', ...on('many/x'), cancel: events(6) },
    ];
    const { body } = await host.register(service, functions, { appName: 'many' });
    expect([body.registered, body.functions]).to.deep.equal([
      1,
      [
        {
          id: 'many-eleven',
          problem:
            'field "triggers": got 11 entries: at most 10 (TRIGGERS_PER_FUNCTION_MAX). Use a wildcard, or several functions',
        },
        {
          id: 'many-six',
          problem:
            'field "cancel": got 6 entries: at most 5 (CANCEL_EVENTS_PER_FUNCTION_MAX). Use a wildcard, or several functions',
        },
      ],
    ]);
  });

  it('are accepted if settings allow them', async () => {
    const env = {
      BATCH_SIZE_MAX: '500',
      BATCH_TIMEOUT_MAX_SECONDS: '300',
      TRIGGERS_PER_FUNCTION_MAX: '20',
      CANCEL_EVENTS_PER_FUNCTION_MAX: '6',
    };
    const larger = await startService({ workers: 0, env });
    try {
      const batch = { id: 'batch', ...on('larger/x'), batchEvents: { maxSize: 500, timeout: '5m' } };
      const many = { id: 'many', triggers: events(20), cancel: events(6) };
      const { status } = await host.register(larger, [batch, many], { appName: 'larger' });
      expect(status).to.equal(200);
      const more = { ...batch, batchEvents: { maxSize: 501, timeout: '5m' } };
      const { body } = await host.register(larger, [more, many], { appName: 'larger' });
      expect(body.error).to.include('got the number 501: an integer from 2 to 500 (BATCH_SIZE_MAX)');
    } finally {
      await larger.stop();
    }
  });
});

describe('Problems of registered functions', () => {
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService({ workers: 0 });
    host = await startAppHost();
  });
  after(async () => {
    await host.close();
    await service.stop();
  });

  it('are logged only when a registration changes something', async () => {
    const functions = [{ id: 'f', triggers: [{ event: 'logged/x', expression: 'event.data.' }] }];
    const lines = () =>
      service
        .output()
        .split('\n')
        .filter((line) => line.includes('functions do not work as configured') && line.includes('"app":"logged"'));
    await host.register(service, functions, { appName: 'logged' });
    await host.register(service, functions, { appName: 'logged' });
    await host.register(service, [{ id: 'g', triggers: functions[0]?.triggers ?? [] }], { appName: 'logged' });
    // The last one has changed something: lines come in order.
    await until(async () => lines().some((line) => line.includes('"logged-g"')), { describe: 'the last line' });
    expect(lines()).to.have.length(2);
    expect(lines()[0]).to.include('triggers[0] never fires').and.include('"logged-f"');
  });

  it('are shown in the response, by the API and in the app check', async () => {
    const functions = [{ id: 'f', triggers: [{ event: 'told/x', expression: 'event.data.' }] }];
    const { status, body } = await host.register(service, functions, { appName: 'told' });
    const [{ id, problems }] = body.functions;
    expect([status, id, problems.length]).to.deep.equal([200, 'told-f', 1]);
    expect((await service.get(`/v1/functions/${id}`)).body.data.problems).to.deep.equal(problems);
    expect((await service.get('/v1/apps/told')).body.data.functions[0].problems).to.deep.equal(problems);
    expect((await service.get('/v1/functions?app=told')).body.data[0].problems).to.deep.equal(problems);
    const check = await service.post('/v1/apps/told/check');
    const found = check.body.data.problems.filter(({ code }: { code: string }) => code === 'function_problem');
    expect(found.map(({ message }: { message: string }) => message)).to.deep.equal([`told-f: ${problems[0]}`]);
  });
});
