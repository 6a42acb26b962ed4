import { expect } from 'chai';
import { cli, cliOk } from '../support/cli.ts';
import { type Service, startService } from '../support/service.ts';

describe('tidegate events', () => {
  let service: Service;
  let ids: string[];

  before(async () => {
    service = await startService({ dev: false });
    const events = [
      { name: 'order/paid', data: { total: 120 } },
      { name: 'order/refunded', data: { total: 5 } },
      { name: 'hostile/\x1b[31mname\u009b', data: { text: '\x1b]0;title\x07' } },
    ];
    ids = (await service.post(service.eventPath, events)).body.ids;
    await service.waitFor('/v1/events', ({ body }) => body.data.length === events.length);
  });
  after(() => service.stop());

  it('lists events as a table, or with --json as one document', async () => {
    const { stdout } = await cliOk(['events', 'list', '--name', 'order/*'], { service });
    expect(stdout.split('\n')[0]).to.match(/^ID +NAME +RECEIVED +SOURCE +RUNS$/);
    expect(stdout).to.include(`${ids[0]}  order/paid `).and.include(ids[1]).and.not.include(ids[2]);
    const { json } = await cliOk(['events', 'list', '--search', 'data.total > 100', '--json'], { service });
    expect(json.map(({ internal_id }: { internal_id: string }) => internal_id)).to.deep.equal([ids[0]]);
  });

  it('lists as many as --limit says, over several pages', async () => {
    const many = Array.from({ length: 130 }, (_, n) => ({ name: 'many/x', data: { n } }));
    await service.post(service.eventPath, many);
    await service.waitFor('/v1/events?name=many/x&limit=100', ({ body }) => body.data.length === 100);
    const { json } = await cliOk(['events', 'list', '--name', 'many/x', '--limit', '120', '--json'], { service });
    expect(json).to.have.lengthOf(120);
  });

  it('shows an event with its runs', async () => {
    const { stdout } = await cliOk(['events', 'get', ids[0] as string], { service });
    expect(stdout)
      .to.match(/^name +order\/paid$/m)
      .and.match(/"total": 120/)
      .and.match(/^No runs\.$/m);
  });

  it('keeps control characters of senders from the terminal', async () => {
    const list = await cliOk(['events', 'list', '--name', 'hostile/*'], { service });
    const one = await cliOk(['events', 'get', ids[2] as string], { service });
    const json = await cliOk(['events', 'get', ids[2] as string, '--json'], { service });
    for (const { stdout } of [list, one, json]) expect(stdout.replaceAll('\n', '')).not.to.match(/\p{Cc}/u);
    expect(json.json.name).to.equal('hostile/\x1b[31mname\u009b');
  });

  it('exits with 3 for an event that does not exist, and with 4 without a key', async () => {
    const missing = await cli(['events', 'get', '01ARZ3NDEKTSV4RRFFQ69G5FAV'], { service });
    expect([missing.exitCode, missing.stdout]).to.deep.equal([3, '']);
    expect(missing.stderr).to.include(
      'there is no event with the internal ID "01ARZ3NDEKTSV4RRFFQ69G5FAV" (not_found)',
    );
    const unauthorized = await cli(['events', 'list'], { service, env: { TIDEGATE_API_KEY: '' } });
    expect(unauthorized.exitCode).to.equal(4);
    expect(unauthorized.stderr).to.include('Set TIDEGATE_API_KEY');
  });
});
