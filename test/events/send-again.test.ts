import { expect } from 'chai';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { type Service, startService } from '../support/service.ts';
import { storedText } from '../support/stored-event.ts';

describe('An event that is sent again', () => {
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService();
    host = await startAppHost();
    await host.register(service, [{ id: 'f', triggers: [{ event: 'again/*' }] }]);
  });
  after(async () => {
    await host.close();
    await service.stop();
  });

  async function stored(id: string) {
    return (await service.stored(id)).body.data;
  }

  it('is a new event with the current time and the same name, data, user and v, and triggers its functions', async () => {
    const sent = { name: 'again/x', data: { n: 1 }, id: 'once', ts: 1_500_000_000_000, user: { a: 'b' }, v: '2' };
    const { body } = await service.post('/e/key', sent);
    await host.nextCall('f');
    const [first] = body.ids;
    const before = Date.now();
    const response = await service.post(`/v1/events/${first}/send-again`);
    expect(response.status).to.equal(201);
    const { internal_id } = response.body.data;
    expect(internal_id).not.to.equal(first);
    const call = await host.nextCall('f');
    expect(call.body.event).to.deep.include({ name: 'again/x', data: { n: 1 }, user: { a: 'b' }, v: '2' });
    const { id, ts, source, request_id } = await stored(internal_id);
    expect({ id, source }).to.deep.equal({ id: internal_id, source: `event:${first}` });
    expect(request_id).to.equal(response.headers.get('x-request-id'));
    expect(ts).to.be.within(before, Date.now());
    expect((await stored(first)).duplicates).to.equal(0);
  });

  it('keeps every digit of its data', async () => {
    const text = '{"name":"again/digits","data":{"order":12345678901234567890,"price":1.10}}';
    const { body } = await service.post('/e/key', text, { 'content-type': 'application/json' });
    await stored(body.ids[0]);
    const again = await service.post(`/v1/events/${body.ids[0]}/send-again`);
    const { internal_id } = again.body.data;
    await stored(internal_id);
    expect(await storedText(service, internal_id)).to.include('12345678901234567890');
  });

  it('may be one of several in one request, which has one audit entry', async () => {
    const { body } = await service.post(
      '/e/key',
      [1, 2].map((n) => ({ name: 'again/many', data: { n } })),
    );
    for (const id of body.ids) await stored(id);
    const gone = '01M7Z7A7B6FJ7DZJVGC757486T';
    const response = await service.post('/v1/events/send-again', { ids: [body.ids[0], gone, body.ids[1]] });
    expect(response.status).to.equal(201);
    const { sent, missing, left } = response.body.data;
    expect(sent.map(({ id }: { id: string }) => id)).to.deep.equal(body.ids);
    expect([missing, left]).to.deep.equal([[gone], []]);
    for (const [i, { internal_id }] of sent.entries()) {
      expect(await stored(internal_id)).to.deep.include({ source: `event:${body.ids[i]}`, data: { n: i + 1 } });
    }
    const audit = (await service.get('/v1/audit')).body.data;
    expect(audit[0].summary).to.match(/^Send events again, ids .+ or .+, 2 events$/);
    const tooMany = await service.post('/v1/events/send-again', { ids: Array(101).fill(gone) });
    expect([tooMany.status, tooMany.body.field]).to.deep.equal([400, 'ids']);
  });

  it('must exist', async () => {
    const { status, body } = await service.post('/v1/events/nope/send-again');
    expect([status, body.code]).to.deep.equal([404, 'not_found']);
  });
});
