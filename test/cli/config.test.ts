import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { keyHeaders } from '../support/auth.ts';
import { cli, cliOk } from '../support/cli.ts';
import { type Service, startService } from '../support/service.ts';

const TRANSFORM = `function transform(evt) {
  // A comment: with "quotes", and a tab	here.
  return { name: 'github/push', data: evt };
}
`;
const SECRET = 'whsec_of_the_test_of_apply';

interface Named {
  name: string;
}

const variablesIn = (text: string) => [...text.matchAll(/env: (\w+)/g)].map((found) => found[1] as string);

describe('tidegate export, diff and apply', () => {
  let service: Service;
  let folder: string;
  const variables = {
    STRIPE_WEBHOOK_SECRET: SECRET,
    STRIPE_RECONCILIATION_KEY: 'rk_test_x',
    STAGING_CRM_AUTHORIZATION: 'Bearer s3cret',
    OPS_SLACK_URL: 'https://hooks.slack.com/services/s3cret',
    STAGING_NIGHT_PAGERDUTY_KEY: 's3cret-routing-key',
    ON_CALL_OPSGENIE_URL: 'https://api.eu.opsgenie.com/v2/alerts',
    ON_CALL_OPSGENIE_KEY: 's3cret-api-key',
    CHAT_WEBHOOK_URL: 'https://chat.example.com/s3cret',
  };

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tidegate-config-'));
    service = await startService({ dev: false, workers: 0 });
  });
  afterEach(async () => {
    rmSync(folder, { recursive: true });
    await service.stop();
  });

  const run = (...args: string[]) => cli(args, { service, cwd: folder, env: variables });
  const runOk = (...args: string[]) => cliOk(args, { service, cwd: folder, env: variables });
  const api = async (path: string) => (await service.get(path)).body.data;
  const write = (text: string, name = 'tidegate.yaml') => writeFileSync(join(folder, name), text);

  const EXAMPLE = `
environments:
  - name: staging
    event_max_bytes: 100000
apps:
  - name: shop
    environment: staging
    allowed_origins: ['HTTPS://shop.example.com:443/', 'https://shop-*-acme.example.app']
webhooks:
  - name: GitHub
    environment: staging
    filter: has(body.ref)
    methods: [POST, PUT]
    event_names: { mode: allow, items: [github/*] }
    transform: |
      function transform(evt) {
        return { name: 'github/push', data: evt };
      }
  - name: Stripe
    provider: stripe
    verify: true
    methods: [POST]
    secrets: [{ env: STRIPE_WEBHOOK_SECRET }]
    reconciliation: { account: { endpoint: we_1 }, key: { env: STRIPE_RECONCILIATION_KEY } }
destinations:
  - name: crm
    environment: staging
    url: http://127.0.0.1:9/crm
    webhook: GitHub
    body: request
    filter: event.data.ref == "main"
    headers: { authorization: { env: STAGING_CRM_AUTHORIZATION } }
    forward_headers: [x-github-event]
    flow: { throttle: { limit: 5, period: 1s }, concurrency: 2 }
event_keys:
  - name: Shop
    environment: staging
    max_bytes: 5000
api_keys:
  - name: CI
    access: write
`;

  it('apply creates what the file describes, shows secrets of new keys once, and changes nothing the second time', async () => {
    write(EXAMPLE);
    const before = await run('diff');
    expect(before.exitCode).to.equal(7);
    expect(before.stdout).to.include('+ webhook GitHub (staging)').and.include('7 to create, 0 to update');
    const asked = await run('apply');
    expect([asked.exitCode, (await api('/v1/webhooks')).length]).to.deep.equal([2, 0]);
    const { stdout } = await runOk('apply', '--yes');
    const [github, stripe] = await api('/v1/webhooks');
    expect(github).to.deep.include({ environment: 'staging', filter: 'has(body.ref)', methods: ['POST', 'PUT'] });
    expect(github.event_names).to.deep.equal({ mode: 'allow', items: ['github/*'] });
    expect(stripe).to.include({ provider: 'stripe', verify: true }).and.have.property('secrets').with.lengthOf(1);
    const origins = await service.get('/v1/allowed-origins', { ...service.apiHeaders, 'x-service-env': 'staging' });
    expect(origins.body.data).to.deep.equal([
      { app: 'shop', origins: ['https://shop.example.com', 'https://shop-*-acme.example.app'] },
    ]);
    const inStaging = { ...service.apiHeaders, 'x-service-env': 'staging' };
    const [crm] = (await service.get('/v1/destinations', inStaging)).body.data;
    expect(crm).to.deep.include({
      webhook: github.id,
      headers: ['authorization'],
      forward_headers: ['x-github-event'],
    });
    expect(stdout).to.match(/destination crm \(staging\): secret whsec_\S+ \(shown only now\)/);
    const staging = await api('/v1/environments/staging');
    expect(staging).to.include({ kind: 'named', event_max_bytes: 100_000 });
    expect(stdout)
      .to.include(github.url)
      .and.match(/event key Shop \(staging\): secret \S+ \(shown only now\)/);
    const secret = /API key CI: secret (\S+)/.exec(stdout)?.[1];
    const withKey = await service.get('/v1/environments', { authorization: `Bearer ${secret}` });
    expect(withKey.status).to.equal(200);
    expect(stdout).not.to.include(SECRET);
    const again = await runOk('apply', '--yes');
    expect(again.stdout).to.equal('No changes.\n');
    expect((await runOk('diff')).stdout).to.equal('No changes.\n');
    expect((await api('/v1/webhooks')).map(({ version }: { version: number }) => version)).to.deep.equal([1, 1]);
  });

  it('export writes a folder with transforms in files and without secrets, which apply accepts without changes', async () => {
    write(EXAMPLE.replace(/transform: [\s\S]*?\n {2}- name: Stripe/, 'transform: { file: push.js }\n  - name: Stripe'));
    write(TRANSFORM, 'push.js');
    await runOk('apply', '--yes');
    const odd = 'function transform() {\r\n  return null; // \u0007\u2028\r\n}';
    const onBranches = { name: 'Default', environment: 'branches', transform: odd };
    await service.post('/v1/webhooks', onBranches, service.apiHeaders);
    const verification = {
      scheme: 'hmac',
      algorithm: 'sha256',
      encoding: 'hex',
      signature: { at: 'header:x-sig' },
      signed: '{body}',
    };
    const own = { name: 'Own', provider: 'hmac', verification, secrets: ['a-secret-of-sixteen'], verify: false };
    const made = await service.post('/v1/webhooks', own, service.apiHeaders);
    expect(made.status, JSON.stringify(made.body)).to.equal(201);
    const exported = await runOk('export', 'git');
    expect(exported.stdout).to.include(join('git', 'transforms/staging-github.js'));
    const text = readFileSync(join(folder, 'git/tidegate.yaml'), 'utf8');
    expect(text).to.include('- env: STRIPE_WEBHOOK_SECRET').and.include('- env: OWN_WEBHOOK_SECRET');
    expect(text).to.include('env: STAGING_CRM_AUTHORIZATION').and.include('webhook: GitHub');
    expect(text).to.include('endpoint: we_1').and.include('env: STRIPE_RECONCILIATION_KEY');
    expect(text).not.to.match(/rk_test|whsec|a-secret|s3cret|\/e\/|hint/);
    expect(readFileSync(join(folder, 'git/transforms/staging-github.js'), 'utf8')).to.equal(TRANSFORM);
    expect((await runOk('diff', 'git')).stdout).to.equal('No changes.\n');
    const { stdout } = await runOk('export');
    write(stdout, 'one.yaml');
    expect(stdout).to.include('    transform: |');
    expect((await runOk('diff', 'one.yaml', '--prune')).stdout).to.equal('No changes.\n');
  });

  it('apply makes another installation identical to the first', async () => {
    write(EXAMPLE);
    await runOk('apply', '--yes');
    write((await runOk('export')).stdout);
    const other = await startService({ dev: false, workers: 0 });
    try {
      await cliOk(['apply', '--yes'], { service: other, cwd: folder, env: variables });
      const exported = await cliOk(['export'], { service: other });
      expect(exported.stdout).to.equal((await runOk('export')).stdout);
    } finally {
      await other.stop();
    }
  });

  it('apply updates only what differs, resets removed fields to their defaults, and deletes only with --prune', async () => {
    write(EXAMPLE);
    await runOk('apply', '--yes');
    await service.post('/v1/webhooks', { name: 'By hand' }, service.apiHeaders);
    const changed = EXAMPLE.replace('    filter: has(body.ref)\n', '')
      .replace('methods: [POST, PUT]', 'max_body_bytes: 1000')
      .replace("'github/push'", "'github/pushed'")
      .replace('max_bytes: 5000', 'max_bytes: 6000')
      .replace('{ throttle: { limit: 5, period: 1s }, concurrency: 2 }', '{ concurrency: 2 }')
      .replace('event_max_bytes: 100000', 'archived: true');
    write(changed);
    const { exitCode, stdout, stderr } = await run('diff');
    expect(exitCode).to.equal(7);
    expect(stdout).to.include('~ webhook GitHub (staging)').and.include('    filter: "has(body.ref)" → null');
    expect(stdout).to.match(
      /- {3}return \{ name: 'github\/push', data: evt \};\n.*\+ {3}return \{ name: 'github\/pushed'/,
    );
    expect(stderr).to.include('Not in the file, and left alone: webhook By hand (production)');
    await runOk('apply', '--yes');
    const [github, stripe] = await api('/v1/webhooks');
    expect(github).to.deep.include({ filter: null, methods: ['POST'], max_body_bytes: 1_000, version: 2 });
    expect([github.transform.includes('github/pushed'), stripe.version]).to.deep.equal([true, 1]);
    expect(await api('/v1/environments/staging'))
      .to.include({ event_max_bytes: null })
      .and.have.property('archived_at')
      .that.is.a('string');
    expect(stdout).to.include('flow: {"concurrency":2,"throttle":{"limit":5,"period":"1s"}} → {"concurrency":2}');
    expect((await api('/v1/event-keys'))[0]).to.include({ max_bytes: 6_000 });
    expect((await runOk('diff')).stdout).to.equal('No changes.\n');
    await runOk('apply', '--prune', '--yes');
    expect((await api('/v1/webhooks')).map(({ name }: { name: string }) => name)).to.deep.equal(['GitHub', 'Stripe']);
  });

  it('apply --prune deletes all that the file does not have, API keys last, but never the key that it uses', async () => {
    const { authorization } = (await keyHeaders(service, 'admin')) as { authorization: string };
    await keyHeaders(service, 'read');
    await service.post('/v1/event-keys', { name: 'old' }, service.apiHeaders);
    write('event_keys: []\napi_keys: []\n');
    const env = { TIDEGATE_API_KEY: authorization.replace('Bearer ', '') };
    const pruned = await cli(['apply', '--prune', '--yes'], { service, cwd: folder, env });
    expect(pruned.exitCode, pruned.stderr).to.equal(0);
    expect(pruned.stdout).to.include('- API key read').and.include('2 to delete.').and.include('Applied 2 changes.');
    expect(pruned.stderr).to.include('left alone: API key admin').and.include('(this command uses it)');
    const names = async (path: string) => (await api(path)).map(({ name }: Named) => name.trim());
    expect([await names('/v1/event-keys'), await names('/v1/api-keys')]).to.deep.equal([[], ['admin']]);
    const audited = (await api('/v1/audit?limit=2')).map(({ action }: { action: string }) => action);
    expect(audited).to.deep.equal(['DELETE /v1/api-keys/:id', 'DELETE /v1/event-keys/:id']);
    const { stdout } = await cliOk(['diff', '--prune'], { service, cwd: folder, env });
    expect(stdout).to.equal('No changes.\n');
  });

  it('apply changes nothing when a variable is missing, a field unknown, or a key would need another access', async () => {
    write(EXAMPLE.replace('STRIPE_WEBHOOK_SECRET', 'NOT_SET'));
    const missing = await run('apply', '--yes');
    expect([missing.exitCode, await api('/v1/webhooks')]).to.deep.equal([2, []]);
    expect(missing.stderr).to.include('not set: NOT_SET');
    for (const [from, to, message] of [
      ['filter:', 'fliter:', 'webhooks[0] (GitHub): fliter is unknown'],
      ['[{ env: STRIPE_WEBHOOK_SECRET }]', '[whsec_in_git]', 'secrets are written by reference'],
      ['{ env: STRIPE_RECONCILIATION_KEY }', 'rk_test_in_git', 'the key of reconciliation is written by reference'],
      ['{ env: STAGING_CRM_AUTHORIZATION }', 'whsec_in_git', 'values of headers are written by reference'],
      ['name: Stripe', 'name: GitHub\n    environment: staging', 'two have the name GitHub (staging)'],
      ['webhooks:', 'webhook:', 'webhook is unknown'],
      ['api_keys:', 'api_keys: [', 'tidegate.yaml: '],
    ] as const) {
      write(EXAMPLE.replace(from, to));
      const refused = await run('apply', '--yes');
      expect([refused.exitCode, refused.stdout], to).to.deep.equal([2, '']);
      expect(refused.stderr).to.include(message).and.not.include('whsec_in_git');
    }
    write(EXAMPLE);
    await runOk('apply', '--yes');
    write(EXAMPLE.replace('access: write', 'access: admin').replace('has(body.ref)', 'true'));
    const blocked = await run('apply', '--yes');
    expect(blocked.exitCode).to.equal(2);
    expect(blocked.stderr)
      .to.include('API key CI: the access of an API key cannot be changed')
      .and.include('Nothing was changed');
    expect((await api('/v1/webhooks'))[0].filter).to.equal('has(body.ref)');
  });

  const ALERTS = `
environments:
  - name: staging
alert_channels:
  - name: ops
    kind: slack
    url: { env: OPS_SLACK_URL }
    quiet_hours: { from: '22:00', to: '07:00', time_zone: Europe/Berlin }
  - name: chat
    kind: webhook
    url: { env: CHAT_WEBHOOK_URL }
  - name: on-call
    kind: opsgenie
    url: { env: ON_CALL_OPSGENIE_URL }
    key: { env: ON_CALL_OPSGENIE_KEY }
  - name: night
    environment: staging
    kind: pagerduty
    key: { env: STAGING_NIGHT_PAGERDUTY_KEY }
    messages_per_hour: 5
alert_rules:
  - name: redis_memory
    threshold: 70
    channels: [ops, on-call]
  - name: new_error
    environment: staging
    on: false
`;

  it('apply creates alert channels with secrets from variables, and changes rules of alerts; export writes both without secrets', async () => {
    write(ALERTS);
    const { stdout } = await runOk('apply', '--yes');
    expect(stdout)
      .to.match(/alert channel chat \(production\): secret whsec_\S+ \(shown only now\)/)
      .and.not.match(/s3cret|secret null/);
    const channels = await api('/v1/alert-channels');
    expect(channels.map(({ name, address }: Named & { address: string }) => [name, address])).to.deep.equal([
      ['chat', 'chat.example.com'],
      ['on-call', 'api.eu.opsgenie.com'],
      ['ops', 'hooks.slack.com'],
    ]);
    const rules: { rule: string }[] = await api('/v1/alert-rules');
    expect(rules.find(({ rule }) => rule === 'redis_memory')).to.deep.include({
      threshold: 70,
      channels: ['ops', 'on-call'],
      changed: ['threshold', 'channels'],
    });
    const exported = await runOk('export', '--only', 'alert_channels', 'alert_rules');
    expect(exported.stdout).not.to.include('s3cret');
    write(exported.stdout);
    for (const name of variablesIn(exported.stdout)) expect(variables).to.have.property(name);
    expect((await runOk('diff')).stdout).to.equal('No changes.\n');
  });

  it('apply changes an alert channel without its secret, sets rules back that --prune finds, and never changes a kind', async () => {
    write(ALERTS);
    await runOk('apply', '--yes');
    const withoutUrl = '    url: { env: ON_CALL_OPSGENIE_URL }\n';
    const changed = ALERTS.replace('messages_per_hour: 5', 'messages_per_hour: 6').replace(withoutUrl, '');
    write(changed.replace(/ {2}- name: redis_memory[\s\S]*?(?= {2}- name: new_error)/, ''));
    const { stdout } = await run('diff', '--prune');
    expect(stdout).to.include('messages_per_hour: 5 → 6').and.include('    url: removed');
    expect(stdout)
      .to.include('- alert rule redis_memory (production)')
      .and.include('0 to create, 2 to update, 1 to delete');
    const applied = await cli(['apply', '--prune', '--yes'], { service, cwd: folder, env: {} });
    expect(applied.exitCode, applied.stderr).to.equal(0);
    const channels: (Named & { address: string })[] = await api('/v1/alert-channels');
    expect(channels.find(({ name }) => name === 'on-call')?.address).to.equal('api.opsgenie.com');
    const rules: { changed: string[] }[] = await api('/v1/alert-rules');
    expect(rules.flatMap((rule) => rule.changed)).to.deep.equal([]);
    expect((await runOk('diff')).stdout).to.equal('No changes.\n');
    write(changed.replace('kind: slack', 'kind: discord'));
    const other = await run('apply', '--yes');
    expect(other.stderr).to.include('the kind of an alert channel cannot be changed');
    write(ALERTS.replace('{ env: OPS_SLACK_URL }', 'https://hooks.slack.com/services/in-git'));
    const inGit = await run('diff');
    expect([inGit.exitCode, inGit.stderr.includes('in-git')]).to.deep.equal([2, false]);
    expect(inGit.stderr).to.include('alert_channels[0] (ops): the url is written by reference');
  });

  it('--set-secrets sets secrets again; a section that is missing in the file stays unchanged', async () => {
    write('webhooks:\n  - name: Stripe\n    provider: stripe\n    secrets: [{ env: STRIPE_WEBHOOK_SECRET }]\n');
    await runOk('apply', '--yes');
    const [{ secrets: first }] = await api('/v1/webhooks');
    await runOk('apply', '--yes', '--set-secrets');
    const [{ secrets: second }] = await api('/v1/webhooks');
    expect(second[0].id).not.to.equal(first[0].id);
    const { authorization } = (await keyHeaders(service, 'write')) as { authorization: string };
    const env = { ...variables, TIDEGATE_API_KEY: authorization.replace('Bearer ', '') };
    const { json } = await cliOk(['diff', '--json'], { service, cwd: folder, env });
    expect(json).to.deep.equal({ changes: [], unmanaged: [] });
    expect(existsSync(join(folder, 'transforms'))).to.equal(false);
  });
});
