import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { cli, cliOk } from '../support/cli.ts';
import { request } from '../support/http.ts';
import { type Service, startService } from '../support/service.ts';

describe('tidegate replay', () => {
  let service: Service;
  let host: AppHost;
  let folder: string;

  before(async () => {
    service = await startService({ dev: false });
    host = await startAppHost();
    folder = mkdtempSync(join(tmpdir(), 'tidegate-cli-'));
    host.on('receipt', ({ number }) =>
      number < 3 ? { status: 400, body: { name: 'Bug', message: 'not fixed yet' } } : {},
    );
    await host.register(service, [{ id: 'receipt', triggers: [{ event: 'order/paid' }], retries: 0 }], {
      appName: 'shop',
    });
    const events = Array.from({ length: 3 }, (_, n) => ({ name: 'order/paid', data: { n } }));
    await service.post(service.eventPath, events);
    await service.waitFor('/v1/runs?status=Failed', ({ body }) => body.data.length === 3);
  });
  after(async () => {
    rmSync(folder, { recursive: true });
    await service.stop();
    await host.close();
  });

  const ARGS = ['replay', 'events', '--since', '1h', '--status', 'Failed', '--name', 'order/*'];

  it('counts the runs that events would start, and starts none without --yes', async () => {
    const { stdout } = await cliOk([...ARGS, '--dry-run'], { service });
    expect(stdout)
      .to.match(/^shop-receipt +3 +3 Failed$/m)
      .and.include('3 events meet the filter, 3 of them match.');
    const asked = await cli(ARGS, { service });
    expect(asked.exitCode).to.equal(2);
    expect(asked.stderr).to.include('Start 3 runs in production? Add --yes to say so');
    expect((await cliOk(['replay', 'list', '--json'], { service })).json).to.deep.equal([]);
    const none = await cliOk([...ARGS, '--search', 'data.n > 100'], { service });
    expect(none.stdout).to.include('No runs would start.');
  });

  it('starts them, follows the replay to its end, and lists its results', async () => {
    const { json: replay } = await cliOk([...ARGS, '--yes', '--label', 'fixed', '--json'], { service });
    expect(replay).to.deep.include({ status: 'done', name: 'fixed' });
    expect(replay.progress.started).to.equal(3);
    const list = await cliOk(['replay', 'list'], { service });
    expect(list.stdout).to.match(new RegExp(`^${replay.id}  done +.* 3 +.* fixed$`, 'm'));
    const results = await cliOk(['replay', 'results', replay.id, '--outcome', 'started', '--json'], { service });
    expect(results.json).to.have.lengthOf(3);
    expect((await cliOk(['replay', 'get', replay.id], { service })).stdout).to.match(/^status +done$/m);
    const ended = await cli(['replay', 'cancel', replay.id], { service });
    expect([ended.exitCode, ended.stderr.includes('(replay_ended)')]).to.deep.equal([1, true]);
  });

  it('processes requests of a webhook again with another transform', async () => {
    const broken = join(folder, 'broken.js');
    const fixed = join(folder, 'fixed.js');
    writeFileSync(broken, 'function transform(evt) { throw new Error("broken"); }');
    writeFileSync(fixed, 'function transform(evt) { return { name: "hook/fixed", data: evt }; }');
    const created = await cliOk(['webhooks', 'create', 'Any', '--transform', broken, '--json'], { service });
    const { id, url } = created.json;
    await request('POST', service.url + new URL(url).pathname, { body: { n: 1 } });
    await service.waitFor(`/v1/webhooks/${id}/requests`, ({ body }) => body.data.length === 1);
    const args = ['replay', 'requests', id, '--outcome', 'rejected', '--transform', fixed];
    const { stdout } = await cliOk([...args, '--dry-run'], { service });
    expect(stdout)
      .to.match(/ rejected +accepted +hook\/fixed/)
      .and.include('1 requests in all');
    const { json: replay } = await cliOk([...args, '--yes', '--json'], { service });
    expect(replay).to.include({ state: 'done', done: 1, failed: 0 });
    await service.waitFor('/v1/events?name=hook/fixed', ({ body }) => body.data.length === 1);
  });
});
