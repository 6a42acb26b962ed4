import { expect } from 'chai';
import type { Answer } from '../support/http.ts';
import { nameOf, routes } from '../support/route-table.ts';
import { type Service, startService } from '../support/service.ts';

const HOOK = 'const transform = (evt) => ({ data: {}, ...evt })';

describe('what a route does not know', () => {
  let service: Service;
  before(async () => {
    service = await startService({ dev: false, workers: 0 });
  });
  after(() => service.stop());

  const call = (method: string, path: string, body?: object | string) =>
    service.request(method, path, body, {
      ...service.apiHeaders,
      ...(typeof body === 'string' && { 'content-type': 'application/json' }),
    });
  const refusal = ({ status, body }: Answer) => [status, body.code, body.field];

  it('is refused in the query of every route', async () => {
    for (const one of routes) {
      const path = one.path.replace(/:\w+/g, 'x');
      const name = nameOf(one);
      const body = one.body && one.method !== 'get' ? {} : undefined;
      const answer = await call(one.method.toUpperCase(), `${path}?webhok=1`, body);
      expect(refusal(answer), name).to.deep.equal([400, 'input_invalid', 'webhok']);
    }
    const stream = await call('GET', '/v1/stream?webhok=1');
    expect(refusal(stream)).to.deep.equal([400, 'input_invalid', 'webhok']);
  });

  it('is refused in the body of every route that changes something', async () => {
    for (const one of routes.filter(({ method }) => method !== 'get')) {
      const path = one.path.replace(/:\w+/g, 'x');
      const answer = await call(one.method.toUpperCase(), path, { webhok: 1 });
      expect(refusal(answer), nameOf(one)).to.deep.equal([400, 'input_invalid', 'webhok']);
    }
  });

  it('is refused with the nearest name that is known', async () => {
    const made = await call('POST', '/v1/event-keys', { name: 'shop', event_name: { mode: 'allow', items: ['a'] } });
    expect(refusal(made)).to.deep.equal([400, 'input_invalid', 'event_name']);
    expect(made.body.error).to.include('field "event_name"').and.include('did you mean "event_names"?');
    expect((await call('GET', '/v1/event-keys')).body.data).to.deep.equal([]);

    const nested = { name: 'shop', event_names: { mode: 'allow', item: ['a'], items: ['a'] } };
    const inside = await call('POST', '/v1/event-keys', nested);
    expect(refusal(inside)).to.deep.equal([400, 'input_invalid', 'event_names.item']);
    expect(inside.body.error).to.include('did you mean "items"?');

    const far = await call('GET', '/v1/audit?whatever=1');
    expect(far.body.error).to.include('expected one of "limit", "cursor"');
    const long = await call('POST', '/v1/users', { ['x'.repeat(100_000)]: 1 });
    expect([long.status, long.body.error.length < 500]).to.deep.equal([400, true]);
  });

  it('is named before a field that is missing, since it is probably that one', async () => {
    const answer = await call('POST', '/v1/users', { emial: 'a@example.com', role: 'member' });
    expect(answer.body.error).to.include('did you mean "email"?');
  });

  it('is no prototype', async () => {
    expect((await call('GET', '/v1/events?__proto__=1')).status).to.equal(400);
    expect((await call('POST', '/v1/users', '{"__proto__": 1}')).status).to.equal(400);
  });

  it('is taken from senders, whose libraries may send more than there is', async () => {
    const sent = await service.post(`${service.eventPath}?utm=1`, { name: 'lenient/x', data: {}, traceparent: '00' });
    expect(sent.status).to.equal(200);
  });

  it('is nothing in a body that is empty', async () => {
    const { body } = await call('POST', '/v1/webhooks', { name: 'paused', transform: HOOK });
    expect((await call('POST', `/v1/webhooks/${body.data.id}/pause`, {})).status).to.equal(200);
    expect((await call('POST', `/v1/webhooks/${body.data.id}/resume`, '')).status).to.equal(200);
    expect((await call('DELETE', `/v1/webhooks/${body.data.id}`)).status).to.equal(204);
  });

  it('is nowhere in the OpenAPI document', async () => {
    const { body: document } = await call('GET', '/openapi.json');
    const bodies = Object.entries<Record<string, { requestBody?: { content: Record<string, { schema: Schema }> } }>>(
      document.paths,
    ).filter(([path]) => path.startsWith('/v1/'));
    for (const [path, item] of bodies) {
      for (const { requestBody } of Object.values(item)) {
        const schema = requestBody?.content['application/json']?.schema;
        if (!schema) continue;
        const resolved = schema.$ref ? document.components.schemas[schema.$ref.split('/').at(-1) as string] : schema;
        expect(resolved.additionalProperties, path).to.equal(false);
      }
    }
  });

  describe('deleting held events', () => {
    const held = async () => (await call('GET', '/v1/holding')).body.data.length as number;

    it('takes a filter, or all=true, and not both', async () => {
      const { body } = await call('POST', '/v1/webhooks', { name: 'h', environment: 'branches', transform: HOOK });
      const path = new URL(body.data.url).pathname;
      await service.post(path, { name: 'held/a' });
      await service.post(path, { name: 'held/b' });
      for (const [query, field] of [
        ['', 'all'],
        ['?webhok=other', 'webhok'],
        ['?all=false', 'all'],
        ['?all=true&name=held/a', 'all'],
        ['?all', 'all'],
      ]) {
        expect(refusal(await call('DELETE', `/v1/holding${query}`)), query).to.deep.equal([
          400,
          'input_invalid',
          field,
        ]);
      }
      const inBody = await call('DELETE', '/v1/holding?all=true', { webhook: 'other' });
      expect(refusal(inBody)).to.deep.equal([400, 'input_invalid', 'webhook']);
      expect(await held()).to.equal(2);
      expect((await call('DELETE', '/v1/holding?name=held/a')).body.data.deleted).to.equal(1);
      expect((await call('DELETE', '/v1/holding?all=true')).body.data.deleted).to.equal(1);
      expect(await held()).to.equal(0);
    });
  });
});

interface Schema {
  $ref?: string;
  additionalProperties?: boolean;
}
