import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
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
