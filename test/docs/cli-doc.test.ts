import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { EXIT } from '../../cli/src/exit-codes.ts';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { cliOk, PROGRAM, variablesOf } from '../support/cli.ts';
import { type Service, startService } from '../support/service.ts';
import { blocksOf, pageOf } from './examples.ts';

const run = promisify(execFile);
const FILES = {
  'order.json': '{"orderId": "A1", "total": 120}',
  'events.ndjson': '{"name": "order/paid", "data": {"total": 1}}\n{"name": "order/paid", "data": {"total": 2}}\n',
  'transform.js': 'function transform(evt) { return { name: "webhook/any", data: evt }; }',
  'secret.txt': 'whsec_0123456789abcdef0123456789abcdef\n',
};

describe('docs/cli.md', function () {
  this.timeout(600_000);
  let service: Service;
  let host: AppHost;
  let folder: string;
  const page = pageOf('cli.md');

  before(async () => {
    service = await startService();
    host = await startAppHost();
    folder = mkdtempSync(join(tmpdir(), 'tidegate-cli-'));
    for (const [name, text] of Object.entries(FILES)) writeFileSync(join(folder, name), text);
    writeFileSync(join(folder, 'tidegate'), `#!/bin/sh\nexec ${process.execPath} ${PROGRAM} "$@"\n`);
    chmodSync(join(folder, 'tidegate'), 0o755);
    await host.register(service, [{ id: 'send-receipt', triggers: [{ event: 'order/paid' }] }], { appName: 'shop' });
  });
  after(async () => {
    rmSync(folder, { recursive: true });
    await service.stop();
    await host.close();
  });

  /** IDs for the examples. */
  async function variables(): Promise<Record<string, string>> {
    const [eventId] = (await service.post('/e/key', { name: 'order/paid' })).body.ids;
    const path = `/v1/events/${eventId}/runs`;
    const { body } = await service.waitFor(path, ({ body }) => body.data?.[0]?.status === 'Completed');
    const webhook = await service.post('/v1/webhooks', { name: 'Any', transform: FILES['transform.js'] });
    const ids = { EVENT_ID: eventId, RUN_ID: body.data[0].run_id, WEBHOOK_ID: webhook.body.data.id };
    return { ...ids, APP_URL: host.url };
  }

  it('has examples that work one after another', async () => {
    const PATH = `${folder}:${process.env.PATH}`;
    const env = { ...process.env, ...variablesOf(service), ...(await variables()), PATH };
    const examples = blocksOf(page).filter(({ info }) => info === 'sh');
    expect(examples).not.to.be.empty;
    for (const { code } of examples) {
      await run('sh', ['-ec', code], { cwd: folder, env }).catch((error) => {
        throw new Error(`${code}\n${error.stdout}${error.stderr}`);
      });
    }
  });

  it('docs/production.md has commands that work as they are written', async () => {
    const lines = pageOf('production.md')
      .split('\n')
      .filter((line) => line.startsWith('tidegate ') && !line.includes('tail'));
    expect(lines).to.have.length(4);
    const env = { ...process.env, ...variablesOf(service), PATH: `${folder}:${process.env.PATH}` };
    for (const line of lines) await run('sh', ['-ec', line], { cwd: folder, env });
  });

  it('has an example or the name of every command', async () => {
    const { stdout } = await cliOk(['completion', 'zsh']);
    const routes = [...stdout.matchAll(/^ {4}'(tidegate(?: [a-z][a-z-]*)+)'\) compadd/gm)].map(
      ([, route]) => route as string,
    );
    const isLeaf = (route: string) => !routes.some((other) => other.startsWith(`${route} `));
    for (const route of routes.filter(isLeaf)) {
      const [, group, name] = route.split(' ');
      expect(
        page.includes(route) || page.includes(`\`${name ?? group}\``) || page.includes(`\`${group} ${name}`),
        route,
      ).to.equal(true);
    }
  });

  it('lists the exit codes', () => {
    const listed = [...page.matchAll(/^\| (\d+) \|/gm)].map(([, code]) => Number(code));
    expect(listed).to.deep.equal(Object.values(EXIT));
  });
});
