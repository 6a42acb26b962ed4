import { expect } from 'chai';
import { eventRow, runRow } from '../support/own-archive.ts';
import { type Service, startService } from '../support/service.ts';
import { openServiceArchive } from './service-archive.ts';

const HOUR_MS = 3_600_000;

describe('Search by GET /v1/events and GET /v1/runs', () => {
  let service: Service;
  const old = Date.now() - 48 * HOUR_MS;
  const archivedEvent = eventRow({ at: old, name: 'order/paid', data: { customer: { id: 'c_1' }, total: 120 } });
  const archivedRun = runRow({
    at: old + 1,
    eventId: archivedEvent.id,
    status: 'Failed',
    functionId: 'shop-charge',
    error: 'CardError: the card of Ada was declined',
    output: '{"code": "declined"}',
  });
  let hotId = '';

  before(async () => {
    service = await startService({ archive: true, env: { HOT_HOURS: '1' } });
    const archive = openServiceArchive(service);
    const fields = {
      ...JSON.parse(archivedRun.record),
      s: 'Failed',
      error: JSON.stringify({ name: 'CardError', message: 'the card of Ada was declined' }),
    };
    await archive.shipments.ship({
      events: [archivedEvent, eventRow({ at: old + 2, name: 'user/seen', data: { total: 1 } })],
      runs: [{ ...archivedRun, record: JSON.stringify(fields) }, runRow({ at: old + 3, functionId: 'shop-mail' })],
    });
    await archive.database.close();
    const { body } = await service.post('/e/key', {
      name: 'order/sent',
      id: 'sent-1',
      data: { customer: { id: 'c_1' }, total: 7 },
    });
    hotId = body.ids[0];
    await service.waitFor('/v1/events?name=order/sent', ({ body: { data } }) => data.length === 1);
  });
  after(() => service.stop());

  async function search(path: string, parameters: Record<string, string>) {
    const { status, body } = await service.get(`${path}?${new URLSearchParams(parameters)}`);
    expect(status, JSON.stringify(body)).to.equal(200);
    return body as {
      data: { internal_id: string; run_id: string }[];
      metadata: { cursor?: string; stopped_early?: string };
    };
  }
  const eventsOf = async (parameters: Record<string, string>) =>
    (await search('/v1/events', parameters)).data.map(({ internal_id }) => internal_id);
  const runsOf = async (parameters: Record<string, string>) =>
    (await search('/v1/runs', parameters)).data.map(({ run_id }) => run_id);

  it('finds events by content, whether hot or archived, newest first', async () => {
    expect(await eventsOf({ search: 'data.customer.id == "c_1"' })).to.deep.equal([hotId, archivedEvent.id]);
    expect(await eventsOf({ search: 'data.total > 100' })).to.deep.equal([archivedEvent.id]);
    expect(await eventsOf({ search: 'data.customer.id == "c_1"', name: 'order/sent' })).to.deep.equal([hotId]);
  });

  it('continues from a cursor, across the border between Redis and Postgres', async () => {
    const first = await search('/v1/events', { search: 'has(data.customer)', limit: '1' });
    expect(first.data.map(({ internal_id }) => internal_id)).to.deep.equal([hotId]);
    expect(
      await eventsOf({ search: 'has(data.customer)', limit: '1', cursor: first.metadata.cursor ?? '' }),
    ).to.deep.equal([archivedEvent.id]);
  });

  it('finds events by the beginning of their name or ID', async () => {
    expect(await eventsOf({ name: 'order/*' })).to.deep.equal([hotId, archivedEvent.id]);
    expect(await eventsOf({ id_prefix: hotId.slice(0, 12) })).to.deep.equal([hotId]);
    expect(await eventsOf({ id_prefix: archivedEvent.id.slice(0, 14).toLowerCase() })).to.deep.equal([
      archivedEvent.id,
    ]);
    expect(await eventsOf({ id: hotId, search: 'data.total > 100' })).to.deep.equal([]);
  });

  it('finds runs by error, output, event, status and beginnings', async () => {
    const { id } = archivedRun;
    expect(await runsOf({ error: 'CARD OF ada' })).to.deep.equal([id]);
    expect(await runsOf({ error: 'carderror: the' })).to.deep.equal([id]);
    expect(await runsOf({ search: 'output.code == "declined"' })).to.deep.equal([id]);
    expect(await runsOf({ search: 'event.data.customer.id == "c_1"' })).to.deep.equal([id]);
    expect(await runsOf({ search: 'event.data.customer.id == "c_2"' })).to.deep.equal([]);
    expect(await runsOf({ status: 'Failed,Cancelled' })).to.deep.equal([id]);
    expect(await runsOf({ function_id: 'shop-*', search: 'status == "Failed"' })).to.deep.equal([id]);
    expect(await runsOf({ id_prefix: id.slice(0, 13) })).to.deep.equal([id]);
    expect(await runsOf({ event_id: archivedEvent.id, search: 'error.contains("Ada")' })).to.deep.equal([id]);
  });

  it('says where a search is wrong', async () => {
    const { status, body } = await service.get(`/v1/events?search=${encodeURIComponent('data.total = 1')}`);
    expect([status, body.code, body.field, body.position]).to.deep.equal([400, 'input_invalid', 'search', 11]);
    expect(body.error).to.contain('equality is ==');
    const bare = await service.get('/v1/events?search=c_1');
    expect([bare.status, bare.body.code]).to.deep.equal([400, 'input_invalid']);
    expect(bare.body.error).to.contain('/v1/search?text=');
    expect((await service.get('/v1/runs?status=Failed,Nope')).body).to.include({
      code: 'input_invalid',
      field: 'status',
    });
  });

  it('lists the possible values of a string', async () => {
    const kinds = async (text: string) => {
      const { body } = await service.get(`/v1/search?text=${encodeURIComponent(text)}`);
      return Object.fromEntries(
        body.data.map(({ kind, hits }: { kind: string; hits: { id?: string; name: string }[] }) => [
          kind,
          hits.map(({ id, name }) => id ?? name),
        ]),
      );
    };
    expect(await kinds(archivedEvent.id)).to.deep.equal({ event: [archivedEvent.id] });
    expect(await kinds(archivedRun.id.slice(0, 14))).to.deep.include({ runs_by_prefix: [archivedRun.id] });
    expect(await kinds('sent-1')).to.deep.equal({ deduplication_id: [hotId] });
    expect(await kinds('declined')).to.deep.equal({ error: [archivedRun.id] });
    expect((await kinds('order/*')).event_name).to.include('order/sent');
    expect((await kinds('c_1')).payload).to.deep.equal([hotId, archivedEvent.id]);
    expect((await kinds('7')).payload).to.deep.equal([hotId]);
    // Senders choose the names of fields, and a text may be long.
    const wide = Array.from({ length: 5 }, (_, n) => [`field${n}`.repeat(10), 'odd']);
    const odd = { ['k'.repeat(2_000)]: 'odd', 'a"b\\': 'odd', list: [[['odd']]], ...Object.fromEntries(wide) };
    const sent = await service.post('/e/key', { name: 'order/odd', data: odd });
    await service.stored(sent.body.ids[0]);
    expect((await kinds('c_1')).payload).to.deep.equal([hotId, archivedEvent.id]);
    expect((await service.get(`/v1/search?text=${'x'.repeat(512)}`)).status).to.equal(200);
    const { body } = await service.get('/v1/search?text=c_1');
    const list = body.data.find(({ kind }: { kind: string }) => kind === 'payload').list;
    expect((await service.get(list)).body.data).to.have.length(2);
  });

  it('lists the fields of recent events', async () => {
    const { body } = await service.get('/v1/search/fields?of=events&name=order/sent');
    expect(body.data).to.deep.include({ path: 'received_at', type: 'time' });
    expect(body.data).to.deep.include({ path: 'data.customer.id', type: 'text', sample: 'c_1' });
    const ofRuns = await service.get('/v1/search/fields?of=runs&name=order/sent');
    expect(ofRuns.body.data).to.deep.include({ path: 'event.data.total', type: 'number', sample: 7 });
  });

  it('responds with 429 to more searches at once than allowed', async () => {
    const responses = await Promise.all(
      Array.from({ length: 12 }, () => service.get(`/v1/events?search=${encodeURIComponent('has(data.nothing)')}`)),
    );
    const refused = responses.filter(({ status }) => status === 429);
    expect(refused).not.to.have.length(0);
    expect(refused[0]?.body.code).to.equal('searches_full');
    expect(refused[0]?.headers.get('retry-after')).to.equal('1');
  });
});
