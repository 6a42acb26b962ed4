import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect } from 'chai';
import { payloadFieldsOf, textOf } from '../../src/api/mcp/results.ts';
import { toolsOf } from '../../src/api/mcp/tools.ts';
import type { Route } from '../../src/api/rest/route.ts';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { keyHeaders } from '../support/auth.ts';
import { request } from '../support/http.ts';
import { routes } from '../support/route-table.ts';
import { type Service, startService } from '../support/service.ts';

// biome-ignore lint/suspicious/noExplicitAny: results of tools
type Json = any;

const LEFT_OUT = 'left out (MCP_PAYLOADS)';

async function connect(service: Service, headers: Record<string, string>): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  const url = new URL('/mcp', service.url);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  return client;
}

async function call(client: Client, name: string, given: object = {}): Promise<Json> {
  const { isError, content } = (await client.callTool({ name, arguments: given as Json })) as Json;
  const [{ text }] = content;
  return isError ? { error: text } : JSON.parse(text);
}

/** Calls a tool with a text that no client would make. */
async function post(service: Service, params: string, headers: Record<string, string> = {}): Promise<string> {
  const accept = 'application/json, text/event-stream';
  const response = await fetch(`${service.url}/mcp`, {
    method: 'POST',
    headers: { ...service.apiHeaders, accept, 'content-type': 'application/json', ...headers },
    body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`,
  });
  return response.text();
}

describe('Assistants at /mcp', () => {
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService({ dev: false });
    host = await startAppHost();
  });
  after(async () => {
    await service.stop();
    await host.close();
  });

  it('find out why order A7 did not ship, and run it again', async () => {
    host.on('ship', () => ({
      status: 400,
      headers: { 'x-service-no-retry': 'true' },
      body: { name: 'NoStock', message: 'no stock of lamp' },
    }));
    await host.register(service, [{ id: 'ship', triggers: [{ event: 'order/paid' }] }]);
    await service.post(service.eventPath, [
      { name: 'order/paid', data: { order: 'A6' } },
      { name: 'order/paid', data: { order: 'A7', items: ['lamp'] } },
    ]);
    await service.waitFor('/v1/runs?status=Failed', ({ body }) => body.data.length === 2);
    const client = await connect(service, service.apiHeaders);
    expect(client.getInstructions()).to.include('/llms.txt');
    const events = await call(client, 'list_events', { search: 'data.order == "A7"' });
    expect(events.result).to.have.length(1);
    const { result: runs } = await call(client, 'list_event_runs', { id: events.result[0].internal_id });
    const { result: run } = await call(client, 'get_run', { id: runs[0].run_id });
    expect(JSON.stringify(run)).to.include('no stock of lamp');
    await service.waitFor('/v1/errors', ({ body }) => body.data[0]?.count === 2);
    const { result: causes } = await call(client, 'list_error_groups', { limit: 1 });
    expect(causes[0].sample ?? causes[0].message).to.include('no stock');
    host.on('ship', () => ({ body: 'shipped' }));
    const again = await call(client, 'rerun_run', { id: run.run_id });
    await service.waitFor(`/v1/runs/${again.result.run_id}`, ({ body }) => body.data.status === 'Completed');
    const audit = (await call(client, 'list_audit_entries')).result;
    expect(audit[0]).to.deep.include({ action: 'POST /v1/runs/:id/retry', target: run.run_id });
    await client.close();
  });

  it('may do what their key may do, and see no tools beyond that', async () => {
    const reader = await connect(service, await keyHeaders(service, 'read'));
    const names = (await reader.listTools()).tools.map(({ name }) => name);
    expect(names).to.include.members(['search', 'get_run', 'list_webhook_requests']).and.not.include('cancel_run');
    expect((await call(reader, 'cancel_run', { id: '0'.repeat(26) })).error).to.match(
      /^access_denied: .*needs write access/,
    );
    await reader.close();
    const elsewhere = await connect(service, await keyHeaders(service, 'write', 'production'));
    const own = (await elsewhere.listTools()).tools.map(({ name }) => name);
    expect(own).to.include('cancel_run').and.not.include('list_health_checks');
    await elsewhere.close();
    expect((await request('POST', `${service.url}/mcp`, { body: {} })).status).to.equal(401);
  });

  it('hear what was wrong with a call, in the words of the API', async () => {
    const client = await connect(service, service.apiHeaders);
    for (const [name, given, error] of [
      ['get_run', { id: 'x:metadata' }, /^not_found: .*path parameter "id": got the string "x:metadata"/],
      ['list_runs', { status: 'Faild' }, /^input_invalid: .*"status"/],
      ['list_events', { nme: 'a/b' }, /^input_invalid: .*did you mean "name"/],
      ['get_event', { id: '0'.repeat(26) }, /^not_found: /],
      ['get_runs', {}, /^not_found: .*there is no tool "get_runs"; did you mean "get_run"/],
    ] as const) {
      expect((await call(client, name, given)).error, name).to.match(error);
    }
    await client.close();
  });

  it('get bounded results: 20 entries by default, and long texts cut with their length', async () => {
    const client = await connect(service, service.apiHeaders);
    const text = 'x'.repeat(10_000);
    await service.post(
      service.eventPath,
      Array.from({ length: 30 }, () => ({ name: 'many/x', data: { text } })),
    );
    await service.waitFor('/v1/events?name=many/x&limit=100', ({ body }) => body.data.length === 30);
    const { result, cursor } = await call(client, 'list_events', { name: 'many/x' });
    expect(result).to.have.length(20);
    expect(result[0].data.text).to.match(/^x{4000}… \(10000 characters\)$/);
    expect((await call(client, 'list_events', { name: 'many/x', cursor })).result).to.have.length(10);
    const data = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`t${n}`, text.slice(0, 3_900)]));
    await service.post(service.eventPath, { name: 'long/x', data });
    await service.waitFor('/v1/events?name=long/x', ({ body }) => body.data.length === 1);
    expect((await call(client, 'list_events', { name: 'long/x' })).error).to.match(
      /ask for fewer entries with "limit"/,
    );
    await client.close();
  });

  it('send events as the REST API takes them: with all digits, and no larger than their environment allows', async () => {
    await service.post('/v1/environments', { name: 'small' }, service.apiHeaders);
    const limits = { event_max_bytes: 1_024 };
    await service.request('PATCH', '/v1/environments/small/limits', limits, service.apiHeaders);
    const send = (env: string, event: string) =>
      post(service, `{"name":"send_event","arguments":${event}}`, { 'x-service-env': env });
    const sent = await send(
      'production',
      '{"name":"exact/x","data":{"n":12345678901234567890,"f":0.10000000000000000001}}',
    );
    const [, id = ''] = /internal_id\\":\\"(\w+)/.exec(sent) ?? [];
    await service.stored(id);
    const shown = await fetch(`${service.url}/v1/events/${id}`, { headers: service.apiHeaders });
    expect(await shown.text()).to.include('{"n":12345678901234567890,"f":0.10000000000000000001}');
    expect(await send('small', JSON.stringify({ name: 'large/x', data: { text: 'x'.repeat(2_000) } }))).to.include(
      'body_too_large: ',
    );
    const deep = `${'['.repeat(60_000)}${']'.repeat(60_000)}`;
    expect(await send('production', `{"name":"deep/x","data":{"a":${deep}}}`)).to.include('"input_invalid"');
  });

  it('may give a number of any length as an argument that is text', async () => {
    const text = await post(service, '{"name":"get_event","arguments":{"id":12345678901234567890}}');
    expect(text).to.include('not_found: ').and.to.include('12345678901234567890');
  });

  it('other requests than calls are refused', async () => {
    const headers = { ...service.apiHeaders, accept: 'application/json, text/event-stream' };
    expect((await request('GET', `${service.url}/mcp`, { headers })).status).to.equal(405);
    expect((await request('DELETE', `${service.url}/mcp`, { headers })).status).to.equal(405);
    const large = await request('POST', `${service.url}/mcp`, { headers, body: { x: 'y'.repeat(300_000) } });
    expect([large.status, large.body.code]).to.deep.equal([413, 'body_too_large']);
    for (const body of [
      '',
      '{',
      '[]',
      '{"jsonrpc":"2.0","id":1,"method":"none"}',
      '{"jsonrpc":"2.0","id":1,"method":"tools/call"}',
    ]) {
      const response = await fetch(`${service.url}/mcp`, { method: 'POST', headers, body });
      expect(response.status, body).to.be.oneOf([200, 400, 404]);
      expect(await response.text(), body).to.match(/"error"/);
    }
  });

  it('see no payloads if MCP_PAYLOADS is false', async () => {
    const own = await startService({ env: { MCP_PAYLOADS: 'false' } });
    const paid = Promise.withResolvers<object>();
    try {
      const { body } = await own.post('/e/key', { name: 'secret/x', data: { card: '4242' }, user: { id: 'ada' } });
      await own.stored(body.ids[0]);
      const client = await connect(own, {});
      const { result } = await call(client, 'get_event', { id: body.ids[0] });
      expect(result).to.include({ name: 'secret/x', data: LEFT_OUT, user: LEFT_OUT });
      await own.waitFor('/v1/events?name=secret/x', ({ body }) => body.data.length === 1);
      expect((await call(client, 'list_events', { include: ['gist'] })).result[0].gist).to.equal(LEFT_OUT);
      host.on('pay', () => paid.promise);
      const byCard = { order: { key: 'event.data.card' } };
      await host.register(own, [{ id: 'pay', triggers: [{ event: 'secret/pay' }], ...byCard }], { appName: 'pay' });
      for (let n = 0; n < 2; n++) await own.post('/e/key', { name: 'secret/pay', data: { card: '4242' } });
      await own.waitFor('/v1/functions/pay-pay/lanes', ({ body }) => body.data?.[0]?.waiting === 1);
      expect((await call(client, 'list_lanes', { id: 'pay-pay' })).result[0].key).to.equal(LEFT_OUT);
      await client.close();
    } finally {
      paid.resolve({});
      await own.stop();
    }
  });
});

describe('Tools of assistants', () => {
  const tools = toolsOf(routes);

  it('leave out what functions logged with the payloads, and no messages of errors', () => {
    const text = (operationId: string) => textOf({ data: [{ message: 'card 4242' }] }, { operationId }, false);
    expect(text('listRunLogs')).to.include(LEFT_OUT).and.not.include('4242');
    expect(text('listErrorGroups')).to.include('card 4242');
  });

  it('have names of their own, descriptions, and each argument in one part of the request', () => {
    expect(new Set(tools.map(({ name }) => name)).size).to.equal(tools.length);
    for (const { name, route, listed, partOf } of tools) {
      expect(name).to.match(/^[a-z_]+$/);
      expect(listed.description?.length, name).to.be.within(10, 1_500);
      const fields = [route.params, route.query, route.body].flatMap((part) =>
        Object.keys((part as Json)?.shape ?? {}),
      );
      expect(partOf.size, name).to.equal(fields.length);
    }
  });

  it('show no open field that is not among the payloads, but for configuration', () => {
    const open = tools.flatMap(({ route }) => fieldsOf(route).filter(({ schema }) => isOpen(schema)));
    expect([...new Set(open.map(({ name }) => name))].sort()).to.deep.equal(['configuration', 'flow']);
  });

  it('show no text that is not among the payloads, but for names, IDs, configuration, errors and what the service says', () => {
    const texts = tools.flatMap(({ route }) => fieldsOf(route).filter(({ schema }) => isText(schema)));
    expect([...new Set(texts.map(({ name }) => name))].sort()).to.deep.equal(SHOWN_TEXTS.split(/\s+/));
  });
});

/** A new one is here if it never has what senders, functions or providers wrote, and among the payloads otherwise. */
const SHOWN_TEXTS = `
  account accountID action added address alert_channels allowed_origins api_url app app_version appendfsync at
  audience batch_id body_path by code cron declined_url deploy_id description destination environment
  environmentID environment_id error event event_id event_ids event_name events expression file filter
  fingerprint forward_headers framework from from_step function_id function_name group held_by host id id_prefix
  ids if internal_id ip issuer items jitter key_expression kind list maxmemory_policy message method name
  omitted op option origin original_run_id path prefix problem problems provider public_url reason reasons
  remedy removed replay_id request_id rerun_of retry_of run_id run_ids sample_run_ids sdk search secret_id
  selection separator settings signed source sourceID span_id stack started_by status step step_id summary
  target target_name text time_zone timeout trace_id trace_url transform url version waiting_because waits_for
  warnings webhook webhook_id webhook_name window
`.trim();

interface Field {
  name: string;
  schema: Json;
}

/** Every field of a response that is no payload, and the schemas that it may have. */
function fieldsOf(route: Route): Field[] {
  const payloads = payloadFieldsOf(route);
  const root: Json = route.data?.toJSONSchema({ io: 'input', unrepresentable: 'any', reused: 'inline' }) ?? { not: {} };
  const found: Field[] = [];
  const followed = new Set<string>();
  const look = (schema: Json, name: string): void => {
    const { $ref, properties = {}, items, anyOf = [], oneOf = [], additionalProperties } = schema;
    if ($ref !== undefined) {
      if (!followed.has(`${name} ${$ref}`)) {
        followed.add(`${name} ${$ref}`);
        look(root.$defs[$ref.split('/').at(-1)], name);
      }
      return;
    }
    found.push({ name, schema });
    for (const [field, own] of Object.entries(properties)) if (!payloads.has(field)) look(own, field);
    for (const one of [...anyOf, ...oneOf, ...(items ? [items] : [])]) look(one, name);
    if (typeof additionalProperties === 'object') look(additionalProperties, name);
  };
  look(root, route.operationId);
  return found;
}

function isOpen(schema: Json): boolean {
  return ['type', 'anyOf', 'oneOf', 'enum', 'const', 'not'].every((keyword) => schema[keyword] === undefined);
}

function isText({ type, format, enum: values, const: value }: Json): boolean {
  return [type].flat().includes('string') && format !== 'date-time' && values === undefined && value === undefined;
}
