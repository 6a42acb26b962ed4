import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { expressionOf } from '../../cli/src/hookdeck/filter.ts';
import { compile } from '../../src/model/expressions/expression.ts';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { cli, cliOk } from '../support/cli.ts';
import { type Service, startService } from '../support/service.ts';

describe('tidegate import inngest', () => {
  let service: Service;
  let host: AppHost;
  let folder: string;

  before(async () => {
    host = await startAppHost();
    service = await startService({ dev: false, workers: 0 });
  });
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tidegate-import-'));
    mkdirSync(join(folder, 'node_modules/x'), { recursive: true });
    write('.env', 'INNGEST_SIGNING_KEY=signkey-prod-s3cret\nINNGEST_EVENT_KEY=s3cret\nINNGEST_OTHER=1\n');
    write(
      'app.ts',
      "import { Inngest } from 'inngest';\nconst key = process.env.INNGEST_EVENT_KEY;\nfetch('https://inn.gs/e/x');\n",
    );
    write('package.json', '{"dependencies": {"inngest": "^4.24.0"}}');
    write('node_modules/x/index.js', 'process.env.INNGEST_STREAMING');
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  after(async () => {
    await host.close();
    await service.stop();
  });

  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);

  it('says what to set, where the app has it now, and what is hard-coded, but never shows a value', async () => {
    const { stdout, stderr } = await cliOk(['import', 'inngest', folder], { service });
    expect(stdout).to.include(`INNGEST_BASE_URL=${service.url}\n`).and.include('# INNGEST_EVENT_KEY=');
    expect(stdout).to.match(/^INNGEST_SIGNING_KEY +the signing key of this service +\.env:1$/m);
    expect(stdout).to.match(/^INNGEST_EVENT_KEY +an event key of this service +\.env:2, app\.ts:2$/m);
    expect(stdout).to.match(/^INNGEST_OTHER +of the app itself/m);
    expect(stdout).to.include('inn.gs is written into app.ts:3').and.include('SDK: inngest ^4.24.0 (package.json)');
    expect(stdout + stderr).not.to.match(/s3cret|STREAMING/);
  });

  it('--create --write makes an event key, and writes it with the signing key to a file that others cannot read', async () => {
    const args = ['import', 'inngest', folder, '--create', '--write'];
    const { stdout } = await cliOk(args, { service });
    const file = join(folder, '.env.tidegate');
    const text = readFileSync(file, 'utf8');
    expect(statSync(file).mode & 0o077).to.equal(0);
    const [, key = ''] = /^INNGEST_EVENT_KEY=(\S+)$/m.exec(text) ?? [];
    expect(text).to.include(`INNGEST_SIGNING_KEY=${service.env.SIGNING_KEY}\n`);
    expect(stdout).not.to.include(key).and.not.include(service.env.SIGNING_KEY);
    expect((await service.post(`/e/${key}`, { name: 'imported/x', data: {} })).status).to.equal(200);
    const again = await cli(args, { service });
    expect([again.exitCode, readFileSync(file, 'utf8')]).to.deep.equal([2, text]);
    expect((await service.get('/v1/event-keys')).body.data).to.have.lengthOf(1);
  });

  it('registers the app, and exits with 7 if it uses something that the service does not act on', async () => {
    await host.register(service, [{ id: 'f', triggers: [{ event: 'x/y' }] }]);
    const fine = await cliOk(['import', 'inngest', folder, '--app', host.url], { service });
    expect(fine.stdout).not.to.include('.env.tidegate:');
    expect(fine.stdout)
      .to.include(`Registered ${host.url}`)
      .and.include('The service acts on all of its configuration');
    await host.register(service, [{ id: 'f', triggers: [{ event: 'x/y' }], holograms: 3 }]);
    const { exitCode, json } = await cli(['import', 'inngest', folder, '--app', host.url, '--json'], { service });
    expect([exitCode, json.app.unsupported_count]).to.deep.equal([7, 1]);
    expect(json.app.unsupported[0]).to.include({ field: 'holograms' });
  });

  it('makes webhooks of transforms that were copied from Inngest', async () => {
    write(
      'github.js',
      "function transform(evt, headers, queryParams, raw) { return { name: 'github/push', data: evt }; }",
    );
    const given = `GitHub=${join(folder, 'github.js')}`;
    const { stdout } = await cliOk(['import', 'inngest', folder, '--webhook', given], { service });
    const [webhook] = (await service.get('/v1/webhooks')).body.data;
    expect(stdout).to.include(`Created the webhook GitHub: give the provider ${webhook.url}`);
    write('broken.js', 'function transform( {');
    const broken = await cli(['import', 'inngest', folder, '--webhook', `B=${join(folder, 'broken.js')}`], { service });
    expect([broken.exitCode, existsSync(join(folder, '.env.tidegate'))]).to.deep.equal([1, false]);
    expect(broken.stderr).to.include('The webhook B: ').and.include('transform_invalid');
  });

  it('prints only the address for a service in dev mode, which needs no keys', async () => {
    const dev = await startService({ workers: 0 });
    const { stdout } = await cliOk(['import', 'inngest', folder], { service: dev });
    await dev.stop();
    expect(stdout).to.include(`INNGEST_DEV=${dev.url}\n`).and.not.include('INNGEST_BASE_URL=');
  });
});

describe('tidegate import hookdeck', () => {
  let service: Service;
  let folder: string;
  before(async () => {
    service = await startService({ dev: false, workers: 0 });
    folder = mkdtempSync(join(tmpdir(), 'tidegate-hookdeck-'));
  });
  after(async () => {
    rmSync(folder, { recursive: true });
    await service.stop();
  });

  const source = { name: 'Stripe prod', type: 'STRIPE', config: {} };
  const destination = (config: object) => ({
    name: 'crm',
    type: 'HTTP',
    config: { url: 'https://crm.example.com/hooks', ...config },
  });
  const CONNECTIONS = {
    models: [
      {
        name: 'invoices',
        full_name: 'Stripe prod -> invoices',
        source,
        destination: destination({ rate_limit: 5, rate_limit_period: 'second', auth_type: 'BEARER_TOKEN', auth: {} }),
        rules: [
          { type: 'retry', strategy: 'linear', interval: 60_000, count: 50 },
          {
            type: 'filter',
            body: { type: { $startsWith: 'invoice.' }, data: { object: { total: { $gte: 100 } } } },
            headers: { 'X-Mode': { $or: ['live', 'test'] } },
          },
        ],
      },
      {
        name: null,
        full_name: 'Stripe prod -> all',
        source,
        destination: destination({ auth_type: 'HOOKDECK_SIGNATURE' }),
        rules: [{ type: 'delay', delay: 1_000 }],
      },
      { name: 'odd', full_name: 'odd', source, destination: destination({}), rules: [{ type: 'transform' }] },
      {
        name: 'cli',
        full_name: 'cli',
        source,
        destination: { name: 'c', type: 'CLI', config: { path: '/' } },
        rules: [],
      },
    ],
  };

  it('writes webhooks and destinations that apply creates, and says what is not taken over', async () => {
    writeFileSync(join(folder, 'connections.json'), JSON.stringify(CONNECTIONS));
    const variables = { STRIPE_PROD_WEBHOOK_SECRET: 'whsec_s3cret', CRM_AUTHORIZATION: 'Bearer s3cret' };
    const options = { service, cwd: folder, env: variables };
    const { exitCode, stdout, stderr } = await cli(['import', 'hookdeck', '@connections.json', 'out'], options);
    expect([exitCode, stdout.trim().split('\n')], stderr).to.deep.equal([
      7,
      [join('out', 'transforms/stripe-prod.js'), join('out', 'tidegate.yaml')],
    ]);
    expect(stderr)
      .to.include('Stripe prod -> invoices: not taken over: the times of its retries: 20 retries')
      .and.include('Stripe prod -> all: not taken over: its rule delay')
      .and.include('odd: left out: its transformation')
      .and.include('cli: left out: the destination type CLI');
    await cliOk(['apply', 'out', '--yes'], options);
    const [webhook] = (await service.get('/v1/webhooks')).body.data;
    expect(webhook).to.include({ name: 'Stripe prod', provider: 'stripe' });
    const destinations = (await service.get('/v1/destinations')).body.data;
    expect(destinations).to.have.length(2);
    expect(destinations[0]).to.deep.include({
      name: 'invoices',
      webhook: webhook.id,
      body: 'request',
      headers: ['authorization'],
      forward_headers: ['*'],
      retries: 20,
      flow: { throttle: { limit: 5, period: '1s' } },
    });
    const event = (type: string, total: number, mode: string) => ({
      event: { data: { body: { type, data: { object: { total } } }, headers: { 'x-mode': mode } } },
    });
    const { evaluate } = compile(destinations[0].filter);
    expect(evaluate(event('invoice.paid', 100, 'live')).result).to.equal('met');
    for (const other of [
      event('charge.paid', 100, 'live'),
      event('invoice.paid', 99, 'live'),
      event('invoice.paid', 100, 'x'),
    ])
      expect(evaluate(other).result).to.equal('not_met');
    expect((await cliOk(['diff', 'out'], options)).stdout).to.equal('No changes.\n');
  });

  const FILTERS: [filter: unknown, met: unknown[], others: unknown[]][] = [
    [{ tags: 'gift' }, [{ tags: ['gift', 'new'] }, { tags: 'gift' }], [{ tags: ['new'] }, {}]],
    [{ tags: ['a', 'b'] }, [{ tags: ['b', 'a'] }], [{ tags: ['a'] }]],
    [{ state: { $neq: 'draft' } }, [{ state: 'open' }, {}], [{ state: 'draft' }]],
    [{ n: { $gt: 1, $lte: 3 } }, [{ n: 2 }, { n: 3 }], [{ n: 1 }, {}]],
    [{ id: { $in: [1, 2] } }, [{ id: 2 }], [{ id: 3 }]],
    [{ id: { $nin: [1, 2] } }, [{ id: 3 }, {}], [{ id: 2 }]],
    [{ a: { $exist: true }, b: { $exist: false } }, [{ a: 1 }], [{ a: 1, b: 1 }, {}]],
    [{ $or: [{ a: 'x' }, { 'b-c': 1 }] }, [{ a: 'x' }, { a: 'y', 'b-c': 1 }], [{ a: 'y' }]],
    [{ $not: { a: 'x' } }, [{ a: 'y' }, {}], [{ a: 'x' }]],
    [{ a: null }, [{ a: null }, {}], [{ a: 1 }]],
  ];
  for (const [filter, met, others] of FILTERS) {
    it(`writes the filter ${JSON.stringify(filter)} as an expression`, () => {
      const { evaluate } = compile(expressionOf(filter, 'event.data.body'));
      const resultOf = (body: unknown) => evaluate({ event: { data: { body } } }).result;
      for (const body of met) expect(resultOf(body), JSON.stringify(body)).to.equal('met');
      for (const body of others) expect(resultOf(body), JSON.stringify(body)).to.equal('not_met');
    });
  }

  it('leaves out a connection whose filter it does not know', async () => {
    const rules = [{ type: 'filter', body: { a: { $regex: 'x' } } }];
    const text = JSON.stringify([{ name: 'a', full_name: 'a', source, destination: destination({}), rules }]);
    const { exitCode, stdout } = await cli(['import', 'hookdeck', text, '--json'], { service });
    expect([exitCode, JSON.parse(stdout).differences]).to.deep.equal([
      7,
      [{ connection: 'a', left_out: true, what: 'its filter: the operator $regex is not known' }],
    ]);
  });
});
