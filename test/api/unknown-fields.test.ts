import { expect } from 'chai';
import type { HttpResponse } from '../support/http.ts';
import { nameOf, routes } from '../support/route-table.ts';
import { type Service, startService } from '../support/service.ts';

const HOOK = 'const transform = (evt) => ({ data: {}, ...evt })';

describe('unknown fields and parameters', () => {
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
  const rejection = ({ status, body }: HttpResponse) => [status, body.code, body.field];

  it('every route rejects an unknown query parameter', async () => {
    for (const one of routes) {
      const path = one.path.replace(/:\w+/g, '01ARZ3NDEKTSV4RRFFQ69G5FAV');
      const name = nameOf(one);
      const body = one.body && one.method !== 'get' ? {} : undefined;
      const response = await call(one.method.toUpperCase(), `${path}?webhok=1`, body);
      expect(rejection(response), name).to.deep.equal([400, 'input_invalid', 'webhok']);
    }
    const stream = await call('GET', '/v1/stream?webhok=1');
    expect(rejection(stream)).to.deep.equal([400, 'input_invalid', 'webhok']);
  });

  it('every route with an unsafe method rejects an unknown body field', async () => {
    for (const one of routes.filter(({ method }) => method !== 'get')) {
      const path = one.path.replace(/:\w+/g, '01ARZ3NDEKTSV4RRFFQ69G5FAV');
      const response = await call(one.method.toUpperCase(), path, { webhok: 1 });
      expect(rejection(response), nameOf(one)).to.deep.equal([400, 'input_invalid', 'webhok']);
    }
  });

  it('the error for an unknown field suggests the closest known name', async () => {
    const made = await call('POST', '/v1/event-keys', { name: 'shop', event_name: { mode: 'allow', items: ['a'] } });
    expect(rejection(made)).to.deep.equal([400, 'input_invalid', 'event_name']);
    expect(made.body.error).to.include('field "event_name"').and.include('did you mean "event_names"?');
    expect((await call('GET', '/v1/event-keys')).body.data).to.deep.equal([]);

    const nested = { name: 'shop', event_names: { mode: 'allow', item: ['a'], items: ['a'] } };
    const inside = await call('POST', '/v1/event-keys', nested);
    expect(rejection(inside)).to.deep.equal([400, 'input_invalid', 'event_names.item']);
    expect(inside.body.error).to.include('did you mean "items"?');

    const far = await call('GET', '/v1/audit?whatever=1');
    expect(far.body.error).to.include('expected one of "limit", "cursor"');
    const long = await call('POST', '/v1/users', { ['x'.repeat(100_000)]: 1 });
    expect([long.status, long.body.error.length < 500]).to.deep.equal([400, true]);
  });

  it('the error for an unknown value names it and lists the known values', async () => {
    const inBody = await call('POST', '/v1/users', { email: 'a@example.com', role: 'membr' });
    expect(inBody.body.error).to.include(
      'field "role": got the string "membr": expected "admin", "member", "read-only" or "none"; did you mean "member"?',
    );
    const inQuery = await call('GET', '/v1/holding?reason=unknown');
    expect(inQuery.body.error).to.include('query parameter "reason": got the string "unknown": expected "selection_');
  });

  it('an unknown field is reported before a missing one, since it is probably a misspelling of it', async () => {
    const response = await call('POST', '/v1/users', { emial: 'a@example.com', role: 'member' });
    expect(response.body.error).to.include('did you mean "email"?');
  });

  it('a query parameter or field named __proto__ is rejected as unknown', async () => {
    expect((await call('GET', '/v1/events?__proto__=1')).status).to.equal(400);
    expect((await call('POST', '/v1/users', '{"__proto__": 1}')).status).to.equal(400);
  });

  it('POST /e/:key accepts unknown fields, since client libraries may send more', async () => {
    const sent = await service.post(`${service.eventPath}?utm=1`, { name: 'lenient/x', data: {}, traceparent: '00' });
    expect(sent.status).to.equal(200);
  });

  it('routes without a body accept an empty body and {}', async () => {
    const { body } = await call('POST', '/v1/webhooks', { name: 'paused', transform: HOOK });
    expect((await call('POST', `/v1/webhooks/${body.data.id}/pause`, {})).status).to.equal(200);
    expect((await call('POST', `/v1/webhooks/${body.data.id}/resume`, '')).status).to.equal(200);
    expect((await call('DELETE', `/v1/webhooks/${body.data.id}`)).status).to.equal(204);
  });

  it('the OpenAPI document forbids additional properties in every request body', async () => {
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

  describe('DELETE /v1/holding', () => {
    const held = async () => (await call('GET', '/v1/holding')).body.data.length as number;

    it('DELETE /v1/holding requires a filter or all=true and rejects both together', async () => {
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
        expect(rejection(await call('DELETE', `/v1/holding${query}`)), query).to.deep.equal([
          400,
          'input_invalid',
          field,
        ]);
      }
      const inBody = await call('DELETE', '/v1/holding?all=true', { webhook: 'other' });
      expect(rejection(inBody)).to.deep.equal([400, 'input_invalid', 'webhook']);
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
