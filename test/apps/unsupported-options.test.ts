import { expect } from 'chai';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const on = (event: string) => ({ triggers: [{ event }] });

/** As the SDKs send them. */
const OPTIONS = {
  concurrency: [{ limit: 5, key: 'event.data.tenant' }],
  throttle: { limit: 1, period: '1m', burst: 1 },
  rateLimit: { limit: 1, period: '1m' },
  debounce: { period: '1m' },
  batchEvents: { maxSize: 2, timeout: '60s' },
  priority: { run: 'event.data.priority' },
  singleton: { mode: 'skip' },
  idempotency: 'event.data.order',
  timeouts: { finish: '1s' },
};

describe('options that the service does not act on', () => {
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

  it('each option is told in the answer of the registration, by the API and in the app check', async () => {
    const limited = { id: 'limited', ...on('limits/x'), ...OPTIONS };
    const functions = [limited, { id: 'plain', ...on('limits/x') }];
    const { status, body } = await host.register(service, functions, { appName: 'limits' });
    expect([status, body.ok, body.functions.length]).to.deep.equal([200, true, 1]);
    const [{ id, problems }] = body.functions;
    expect(id).to.equal('limits-limited');
    const subjects = problems.map((problem: string) => problem.replace(/ (is|are) not supported: .+/, ''));
    expect(subjects).to.deep.equal(Object.keys(OPTIONS));
    expect(problems).to.include('concurrency is not supported: every event starts a run at once');

    expect(await problemsOf('limits-limited')).to.deep.equal(problems);
    expect(await problemsOf('limits-plain')).to.deep.equal([]);
    const shown = (await service.get('/v1/apps/limits')).body.data.functions;
    expect(shown.find((fn: { id: string }) => fn.id === id).problems).to.deep.equal(problems);
    const listed = (await service.get('/v1/functions?app=limits')).body.data;
    expect(listed.find((fn: { id: string }) => fn.id === id).problems).to.deep.equal(problems);

    const check = await service.post('/v1/apps/limits/check');
    const found = check.body.data.problems.filter(({ code }: { code: string }) => code === 'unsupported_option');
    expect(found.map(({ message }: { message: string }) => message)).to.deep.equal(
      problems.map((problem: string) => `limits-limited: ${problem}`),
    );
  });

  it('a registration that changes something is logged with the options, one that changes nothing is not', async () => {
    const functions = [{ id: 'f', ...on('logged/x'), throttle: OPTIONS.throttle }];
    const lines = () =>
      service
        .output()
        .split('\n')
        .filter((line) => line.includes('functions do not work as configured') && line.includes('"app":"logged"'));
    await host.register(service, functions, { appName: 'logged' });
    await host.register(service, functions, { appName: 'logged' });
    await host.register(service, [{ ...functions[0], id: 'g', ...on('logged/x') }], { appName: 'logged' });
    // The last one has changed something: lines come in order.
    await until(async () => lines().some((line) => line.includes('"logged-g"')), { describe: 'the last line' });
    expect(lines()).to.have.length(2);
    expect(lines()[0]).to.include('throttle is not supported').and.include('"logged-f"');
  });

  it('an option in the form of another SDK is told too, and one without a value is not', async () => {
    const spellings = {
      grouped: { concurrency: { step: [{ limit: 1, scope: 'fn' }] } },
      number: { concurrency: 3 },
      empty: {
        concurrency: [],
        priority: { run: null },
        idempotency: '',
        timeouts: {},
        throttle: null,
        debounce: false,
      },
      unlimited: { concurrency: 0 },
    };
    const functions = Object.entries(spellings).map(([id, options]) => ({ id, ...on('spelled/x'), ...options }));
    const { status, body } = await host.register(service, functions as never, { appName: 'spelled' });
    expect(status).to.equal(200);
    expect(body.functions.map(({ id }: { id: string }) => id)).to.deep.equal(['spelled-grouped', 'spelled-number']);
  });
});
