import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { cli, cliOk } from '../support/cli.ts';
import { ConnectedInstance, startConnection } from '../support/connected-app.ts';
import { request } from '../support/http.ts';
import { type Service, startService } from '../support/service.ts';

describe('tidegate apps, functions, webhooks, keys and environments', () => {
  let service: Service;
  let host: AppHost;
  let folder: string;

  before(async () => {
    service = await startService({ dev: false, env: { PUBLIC_URL: 'https://events.example.com' } });
    host = await startAppHost();
    folder = mkdtempSync(join(tmpdir(), 'tidegate-cli-'));
    host.offer(service, [{ id: 'receipt', triggers: [{ event: 'order/paid', expression: 'event.data.total > 10' }] }], {
      appName: 'shop',
    });
  });
  after(async () => {
    rmSync(folder, { recursive: true });
    await service.stop();
    await host.close();
  });

  const run = (...args: string[]) => cliOk(args, { service });
  const json = async (...args: string[]) => (await cliOk([...args, '--json'], { service })).json;

  it('shows, confirms and rejects held registrations, and allows origins', async () => {
    await run('apps', 'sync', host.url);
    const url = host.url.replace('127.0.0.1', 'localhost');
    const body = { appName: 'shop', url, functions: [] };
    const hold = async () => (await service.post('/fn/register', body, service.appHeaders)).body.held;
    const id = await hold();
    const held = (await run('apps', 'held')).stdout;
    expect(held).to.match(new RegExp(`^${id} +shop +${url} +${new URL(url).origin} +${host.url} `, 'm'));
    expect((await run('apps', 'list')).stdout).to.match(/ 1 +http/);
    const doctor = await cli(['doctor', '--no-apps'], { service });
    expect(doctor.stdout).to.match(/^warning +registrations +production: 1 held, such as shop at http:\/\/localhost:/m);
    expect((await run('apps', 'reject', id)).stdout).to.equal(`Rejected ${id}.\n`);
    expect((await cli(['apps', 'confirm', id], { service })).exitCode).to.equal(3);
    await hold();
    const { stdout } = await run('apps', 'confirm', id, '--allow', 'https://shop-*-acme.example.app');
    expect(stdout).to.equal(`Registered ${url}.\n`);
    expect((await run('apps', 'held')).stdout).not.to.include(id);
    const allow = (...args: string[]) => json('apps', 'allow', 'shop', ...args).then(({ origins }) => origins);
    const first = new URL(host.url).origin;
    const allowed = [first, 'https://shop-*-acme.example.app', new URL(url).origin];
    expect(await allow()).to.deep.equal(allowed);
    expect(await allow('https://shop.example.com')).to.deep.equal([...allowed, 'https://shop.example.com']);
    expect((await cli(['apps', 'allow', 'shop', 'https://*.com'], { service })).stderr).to.include(
      'one "*" in a label',
    );
    expect(await allow('--only')).to.deep.equal([]);
  });

  it('registers, lists, shows, diagnoses and deletes an app', async () => {
    const { stdout } = await run('apps', 'sync', host.url);
    expect(stdout).to.include(`Registered ${host.url}: 1 function.`);
    expect((await run('apps', 'list')).stdout).to.match(/^shop +1 /m);
    expect((await run('apps', 'get', 'shop')).stdout).to.match(/^shop-receipt +order\/paid if … *$/m);
    const check = await cli(['apps', 'check', 'shop'], { service });
    expect(check.exitCode).to.equal(7);
    expect(check.stdout).to.match(/^- The app is in dev mode, the service in production mode\n {2}Unset SERVICE_DEV/m);
    expect((await cli(['apps', 'delete', 'shop'], { service })).stderr).to.include('Add --yes');
    expect((await run('apps', 'delete', 'shop', '--yes')).stdout).to.equal('Deleted shop.\n');
    expect((await cli(['apps', 'get', 'shop'], { service })).exitCode).to.equal(3);
  });

  it('lists the connections of an app, and ends one', async () => {
    const { start } = await startConnection(service.url, service.appHeaders);
    const gateway = `${service.url.replace('http', 'ws')}/v0/connect`;
    const instance = await ConnectedInstance.open(gateway, start.connectionId);
    await instance.register(start, { app: 'mill', functions: [{ id: 'saw', triggers: [{ event: 'tree/felled' }] }] });
    expect((await run('apps', 'connections', 'mill')).stdout).to.match(
      new RegExp(`^${instance.id} +host-1 +ready +0 `, 'm'),
    );
    const closed = once(instance.socket, 'close');
    expect((await run('apps', 'disconnect', 'mill', instance.id, '--yes')).stdout).to.equal(`Ended ${instance.id}.\n`);
    expect((await run('apps', 'connections', 'mill')).stdout).to.include('No connections.');
    await closed;
  });

  it('lists, shows, pauses and resumes functions', async () => {
    await run('apps', 'sync', host.url);
    expect((await json('functions', 'list', '--app', 'shop')).map(({ id }: { id: string }) => id)).to.deep.equal([
      'shop-receipt',
    ]);
    await run('functions', 'pause', 'shop-receipt', '--queued-runs', 'hold');
    expect((await run('functions', 'list')).stdout).to.match(/^shop-receipt .* paused, holds runs/m);
    await run('functions', 'resume', 'shop-receipt');
    expect((await json('functions', 'get', 'shop-receipt')).paused_at).to.equal(null);
    expect((await run('functions', 'get', 'shop-receipt')).stdout).to.include('"event": "order/paid"');
  });

  it('keeps control characters in names from the terminal', async () => {
    const name = 'till\x1b]0;owned\x07\u009b2J';
    const { body: key } = await service.post('/v1/event-keys', { name }, service.apiHeaders);
    for (const args of [
      ['keys', 'delete', key.data.id],
      ['keys', 'delete', key.data.id, '--yes'],
    ]) {
      const { stdout, stderr } = await cli(args, { service });
      expect(stdout + stderr, args.join(' ')).to.include('till\\u001b]0;owned');
      expect((stdout + stderr).replaceAll('\n', ''), args.join(' ')).not.to.match(/\p{Cc}/u);
    }
  });

  it('shows the secret of a new key once, and never again', async () => {
    const event = await run('keys', 'create', 'event', 'till 1');
    const secret = event.stdout.trim();
    expect(event.stderr).to.include('This is the only time that its secret is shown').and.not.include(secret);
    const sent = await request('POST', `${service.url}/e/${secret}`, { body: { name: 'till/opened' } });
    expect(sent.status).to.equal(200);
    const api = await json('keys', 'create', 'api', 'reports', '--access', 'read', '--env', 'production');
    expect(api).to.include({ access: 'read', environment: 'production' });
    const list = await run('keys', 'list');
    expect(list.stdout)
      .to.match(/^event .* till 1 /m)
      .and.match(/^api .* reports +production +read /m);
    expect(list.stdout).not.to.include(secret).and.not.include(api.secret);
    await run('keys', 'delete', api.id, '--yes');
    expect(await json('keys', 'list', '--kind', 'api')).to.deep.equal([]);
    expect((await cli(['keys', 'delete', api.id, '--yes'], { service })).exitCode).to.equal(3);
  });

  it('shows the signing key only on request', async () => {
    const key = service.env.SIGNING_KEY as string;
    expect((await run('keys', 'signing', 'get')).stdout)
      .to.include(`…${key.slice(-4)}`)
      .and.not.include(key);
    expect((await run('keys', 'signing', 'get', '--show')).stdout).to.equal(`${key}\n`);
    await run('environments', 'create', 'staging');
    const rotated = await json('keys', 'signing', 'rotate', '--yes', '--env', 'staging');
    expect(rotated.current).to.match(/^signkey-/);
    expect(rotated.fallback).to.match(/^….{4}$/);
  });

  it('creates, changes, pauses, rotates and deletes a webhook, whose URL it prints once', async () => {
    writeFileSync(
      join(folder, 'transform.js'),
      'function transform(evt) { return { name: "stripe/any", data: evt }; }',
    );
    const args = [
      'webhooks',
      'create',
      'Stripe',
      '--provider',
      'stripe',
      '--transform',
      'transform.js',
      '--secret-stdin',
    ];
    const secret = 'whsec_0123456789abcdef0123456789abcdef';
    const created = await cliOk(args, { service, cwd: folder, input: `${secret}\n` });
    const url = created.stdout.trim();
    expect(url).to.match(/^https:\/\/events\.example\.com\/e\/[\w-]+/);
    const [{ id }] = await json('webhooks', 'list');
    for (const list of [['list'], ['list', '--json'], ['get', id], ['get', id, '--json']]) {
      expect((await run('webhooks', ...list)).stdout)
        .not.to.include(url)
        .and.not.include(secret);
    }
    expect((await json('webhooks', 'get', id, '--show-url')).url).to.equal(url);
    await run('webhooks', 'update', id, '--filter', 'body.type == "x"', '--no-verify', '--name', 'Payments');
    expect(await json('webhooks', 'get', id)).to.include({
      name: 'Payments',
      filter: 'body.type == "x"',
      verify: false,
      provider: 'stripe',
    });
    const account = ['--account', 'endpoint=we_1', '--account-key-stdin'];
    await cliOk(['webhooks', 'update', id, ...account], { service, input: 'rk_test_x\n' });
    expect((await json('webhooks', 'get', id)).reconciliation.account).to.deep.equal({ endpoint: 'we_1' });
    const elsewhere = { reconciliation: { api_url: 'http://127.0.0.1:1' } };
    const refused = await service.request('PATCH', `/v1/webhooks/${id}`, elsewhere, service.apiHeaders);
    expect(refused.body.code, 'the key goes to the provider alone').to.equal('dev_mode_only');
    await run('webhooks', 'pause', 'Payments');
    expect((await run('webhooks', 'list')).stdout).to.match(/Payments .* paused /);
    await run('webhooks', 'resume', id);
    expect((await run('webhooks', 'rotate', id)).stdout.trim())
      .to.match(/^https:/)
      .and.not.equal(url);
    expect((await run('webhooks', 'delete', 'Payments', '--yes')).stdout).to.equal('Deleted Payments.\n');
    expect(await json('webhooks', 'list')).to.deep.equal([]);
  });

  it('creates, changes, tests, pauses and deletes a destination, whose secret it prints once', async () => {
    const to = ['--to', 'http://127.0.0.1:9/crm', '--headers', '{"x-key":"s3cret"}', '--event', 'a', 'b/*'];
    const { stdout, stderr } = await run('destinations', 'create', 'crm', ...to);
    expect(stdout).to.match(/^whsec_\S+\n$/);
    expect(stderr).to.include('shown only now');
    expect((await run('destinations', 'list')).stdout).to.match(/^crm +a, b\/\* +http:\/\/127.0.0.1:9\/crm/m);
    await run('destinations', 'update', 'crm', '--retries', '0', '--flow', '{"concurrency": 3}', '--filter', 'true');
    const shown = await json('destinations', 'get', 'crm');
    expect(shown).to.deep.include({ retries: 0, flow: { concurrency: 3 }, filter: 'true', headers: ['x-key'] });
    const tested = await json('destinations', 'test', 'crm', '--data', '{"n": 1}');
    await service.waitFor(`/v1/runs/${tested.run_id}`, ({ body }) => body.data.status === 'Failed');
    expect((await run('destinations', 'pause', 'crm', '--queued-runs', 'hold')).stdout).to.equal('Paused crm.\n');
    await run('destinations', 'resume', 'crm');
    expect((await run('destinations', 'rotate', 'crm')).stdout).to.match(/^whsec_/);
    expect((await cli(['destinations', 'delete', 'crm'], { service })).exitCode).to.equal(2);
    await run('destinations', 'delete', 'crm', '--yes');
    expect((await cli(['destinations', 'get', 'crm'], { service })).exitCode).to.equal(3);
  });

  it('lists alerts, their rules and channels, and sends a test to a channel, which fails where its server does not accept it', async () => {
    const given = { name: 'ops', kind: 'slack', url: `${service.url}/livez` };
    expect((await service.post('/v1/alert-channels', given, service.apiHeaders)).status).to.equal(201);
    await run('alerts', 'list');
    expect(await json('alerts', 'list', '--past')).to.deep.equal([]);
    expect((await run('alerts', 'rules')).stdout).to.match(/^held_events +yes +1 events +all/m);
    expect((await run('alerts', 'channels')).stdout).to.match(/^ops +slack +127\.0\.0\.1:\d+/m);
    const failed = await cli(['alerts', 'test', 'ops'], { service });
    expect(failed.exitCode).to.equal(1);
    expect(failed.stderr).to.match(/ops did not accept the test: 4\d\d/);
  });

  it('lists, shows and re-runs requests of a webhook', async () => {
    const url = (await run('webhooks', 'create', 'Any')).stdout.trim();
    const [{ id }] = await json('webhooks', 'list');
    const path = new URL(url).pathname;
    await request('POST', service.url + path, {
      body: { hello: 'world' },
      headers: { authorization: 'Bearer secret-token' },
    });
    await service.waitFor(`/v1/webhooks/${id}/requests`, ({ body }) => body.data.length === 1);
    const [{ id: requestId }] = await json('webhooks', 'requests', 'list', 'Any', '--outcome', 'accepted,rejected');
    const { stdout } = await run('webhooks', 'requests', 'get', id, requestId);
    expect(stdout)
      .to.match(/^body +\{"hello":"world"\}$/m)
      .and.not.include('secret-token');
    const dry = await json('webhooks', 'requests', 'rerun', id, requestId, '--dry-run');
    expect([dry.dry_run, dry.ids, dry.events.length]).to.deep.equal([true, [], 1]);
    expect((await json('webhooks', 'requests', 'rerun', id, requestId)).ids).to.have.lengthOf(1);
  });

  it('creates, archives and deletes environments', async () => {
    expect((await run('environments', 'create', 'feature-x', '--branch')).stdout).to.match(/^kind +branch$/m);
    await run('environments', 'archive', 'feature-x');
    expect((await run('envs', 'list')).stdout).to.match(/^feature-x +branch .* archived /m);
    await run('environments', 'unarchive', 'feature-x');
    await run('environments', 'limit', 'feature-x', '--event-max-bytes', '2000');
    expect(await json('environments', 'get', 'feature-x')).to.include({ event_max_bytes: 2_000, archived_at: null });
    await run('environments', 'delete', 'feature-x', '--yes');
    expect((await cli(['environments', 'get', 'nowhere'], { service })).exitCode).to.equal(3);
  });
});
