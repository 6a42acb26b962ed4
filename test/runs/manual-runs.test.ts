import { expect } from 'chai';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { type Service, startService } from '../support/service.ts';
import { storedText } from '../support/stored-event.ts';

const JSON_TYPE = { 'content-type': 'application/json' };

describe('Sending and invoking through the API', () => {
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService({ env: { EVENT_MAX_BYTES: '2000000' } });
    host = await startAppHost();
    await host.register(service, [
      { id: 'f', triggers: [{ event: 'hand/*' }] },
      { id: 'other', triggers: [{ event: 'inngest/function.invoked' }] },
      { id: 'gone', triggers: [{ event: 'hand/gone' }] },
    ]);
    await host.register(service, [
      { id: 'f', triggers: [{ event: 'hand/*' }] },
      { id: 'other', triggers: [{ event: 'inngest/function.invoked' }] },
    ]);
    const old = { name: 'old', kind: 'branch', createdAt: 1, archivedAt: 2 };
    await service.redis.hset(`${service.keys.prefix}:environments`, 'old', JSON.stringify(old));
  });
  after(async () => {
    await host.close();
    await service.stop();
  });

  async function stored(id: string) {
    return (await service.stored(id)).body.data;
  }
  const deep = (levels: number) => `${'{"a":'.repeat(levels)}{}${'}'.repeat(levels)}`;

  describe('send', () => {
    const send = (body: object | string, headers: Record<string, string> = JSON_TYPE) =>
      service.post('/v1/events', body, headers);

    it('sends an event with all of its fields, and runs its functions', async () => {
      const event = { name: 'hand/x', data: { n: 1 }, id: 'hand-1', ts: 1_700_000_000_000, user: { a: 'b' }, v: '2' };
      const response = await send(event);
      expect(response.status, JSON.stringify(response.body)).to.equal(201);
      const { internal_id } = response.body.data;
      expect(await stored(internal_id)).to.deep.include({
        ...event,
        source: 'api',
        request_id: response.headers.get('x-request-id'),
      });
      expect((await host.nextCall('f')).body.event).to.deep.equal(event);
    });

    it('ignores an event with a known id, and returns the ID of the first', async () => {
      const first = await send({ name: 'hand-2/x', data: {}, id: 'hand-2' });
      const second = await send({ name: 'hand-2/y', data: {}, id: 'hand-2' });
      expect(second.body.data).to.deep.equal(first.body.data);
    });

    it('without losing a digit', async () => {
      const response = await send('{"name":"hand-3/x","data":{"order":12345678901234567890,"price":1.10}}');
      const { internal_id } = response.body.data;
      await stored(internal_id);
      expect(await storedText(service, internal_id)).to.include('"order":12345678901234567890,"price":1.10');
    });

    it('rejects a body that is not a valid event', async () => {
      for (const [body, field] of [
        [{ name: '', data: {} }, 'name'],
        [{ name: 'inngest/x', data: {} }, 'name'],
        [{ name: 'hand/x', data: [] }, 'data'],
        [{ name: 'hand/x', data: {}, ts: 1 }, 'ts'],
      ] as const) {
        const response = await send(body);
        expect([response.status, response.body.code, response.body.field]).to.deep.equal([400, 'input_invalid', field]);
      }
      const nested = await send(`{"name":"hand/x","data":${deep(600)}}`);
      expect([nested.status, nested.body.code]).to.deep.equal([400, 'event_invalid']);
      const broken = await send('{"name":');
      expect([broken.status, broken.body.code]).to.deep.equal([400, 'body_not_json']);
      const typed = await send('name=x', { 'content-type': 'application/x-www-form-urlencoded' });
      expect(typed.status).to.be.within(400, 415);
      const empty = await send('');
      expect([empty.status, empty.body.code]).to.deep.equal([400, 'input_invalid']);
    });

    it('accepts events up to the size limit of senders', async () => {
      const sized = (bytes: number) => ({ name: 'hand-4/x', data: { text: 'x'.repeat(bytes) } });
      expect((await send(sized(1_900_000))).status).to.equal(201);
      const { status, body } = await send(sized(2_100_000));
      expect([status, body.code]).to.deep.equal([413, 'body_too_large']);
    });

    it('rejects events for an archived environment', async () => {
      const response = await send({ name: 'hand/x', data: {} }, { 'x-service-env': 'old' });
      expect([response.status, response.body.code]).to.deep.equal([403, 'environment_archived']);
    });
  });

  describe('invoke', () => {
    const invoke = (id: string, body: object | string, headers = {}) =>
      service.post(`/v1/functions/${id}/invoke`, body, { ...JSON_TYPE, ...headers });

    it('invokes one function on its own event, which is stored and shown', async () => {
      const response = await invoke('test-app-f', { data: { n: 7 }, user: { a: 'b' }, v: '3' });
      expect(response.status, JSON.stringify(response.body)).to.equal(201);
      const { internal_id, run_id } = response.body.data;
      const call = await host.nextCall('f');
      expect(call.body.ctx.run_id).to.equal(run_id);
      expect(call.body.event).to.deep.include({
        name: 'inngest/function.invoked',
        data: { n: 7 },
        user: { a: 'b' },
        v: '3',
        id: internal_id,
      });
      const run = (await service.waitFor(`/v1/runs/${run_id}`, ({ body }) => body.data?.status === 'Completed')).body;
      expect(run.data.event_id).to.equal(internal_id);
      const { body } = await service.get('/v1/events?name=inngest/function.invoked&include=runs&limit=1');
      expect(body.data[0]).to.deep.include({ internal_id, source: 'api' });
      expect(body.data[0].runs).to.deep.equal([{ run_id, function_id: 'test-app-f', status: 'Completed' }]);
      expect(host.calls('other')).to.deep.equal([]);
    });

    it('without losing a digit', async () => {
      const { body } = await invoke('test-app-f', '{"data":{"order":12345678901234567890}}');
      expect((await host.nextCall('f')).raw.toString()).to.be.a('string');
      await stored(body.data.internal_id);
      expect(await storedText(service, body.data.internal_id)).to.include('12345678901234567890');
    });

    it('invokes a paused function', async () => {
      await service.post('/v1/functions/test-app-f/pause');
      const { body } = await invoke('test-app-f', { data: {} });
      expect((await host.nextCall('f')).body.ctx.run_id).to.equal(body.data.run_id);
      await service.post('/v1/functions/test-app-f/resume');
    });

    it('rejects a function that does not exist or is archived', async () => {
      const unknown = await invoke('nope', { data: {} });
      expect([unknown.status, unknown.body.code]).to.deep.equal([404, 'not_found']);
      const gone = await invoke('test-app-gone', { data: {} });
      expect([gone.status, gone.body.code]).to.deep.equal([409, 'function_archived']);
    });

    it('rejects data that an event could not have', async () => {
      const bad = await invoke('test-app-f', { data: 7 });
      expect([bad.status, bad.body.code, bad.body.field]).to.deep.equal([400, 'input_invalid', 'data']);
      const nested = await invoke('test-app-f', `{"data":${deep(600)}}`);
      expect([nested.status, nested.body.code]).to.deep.equal([400, 'event_invalid']);
      const archived = await invoke('test-app-f', { data: {} }, { 'x-service-env': 'old' });
      expect([archived.status, archived.body.code]).to.deep.equal([403, 'environment_archived']);
    });
  });
});
