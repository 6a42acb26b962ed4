import { expect } from 'chai';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { withoutOriginal } from '../../src/functions/destination-request.ts';
import type { EventRecord } from '../../src/model/events/event.ts';
import { keyHeaders } from '../support/auth.ts';
import { request } from '../support/http.ts';
import { type Received, Receiver } from '../support/receiver.ts';
import { type Service, startService } from '../support/service.ts';

// biome-ignore lint/suspicious/noExplicitAny: responses of the API
type Json = any;

const HEADERS = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
const signatureOf = ({ headers }: Received) => Object.fromEntries(HEADERS.map((name) => [name, String(headers[name])]));

describe('Destinations', () => {
  let service: Service;
  let receiver: Receiver;
  before(async () => {
    [service, receiver] = await Promise.all([
      startService({ dev: false, env: { RETRY_SCALE: '0.0005', DESTINATIONS_MAX: '30' } }),
      Receiver.start(),
    ]);
  });
  after(() => Promise.all([service.stop(), receiver.stop()]));

  async function create(name: string, fields: Json = {}): Promise<Json> {
    const given = { name, url: receiver.url(`/${name}`), ...fields };
    if (!given.webhook) given.events ??= [`${name}/*`];
    const { status, body } = await service.post('/v1/destinations', given, service.apiHeaders);
    expect(status, JSON.stringify(body)).to.equal(201);
    return body.data;
  }

  async function createWebhook(fields: object = {}): Promise<Json> {
    const { body } = await service.post('/v1/webhooks', { name: 'w', ...fields }, service.apiHeaders);
    return body.data;
  }

  async function send(...events: object[]): Promise<string[]> {
    const { status, body } = await service.post(service.eventPath, events);
    expect(status, JSON.stringify(body)).to.equal(200);
    return body.ids;
  }

  /** The run of an event, once it has ended. */
  async function endedRun(eventId: string | undefined): Promise<Json> {
    const ended = ({ body }: Json) => ['Completed', 'Failed'].includes(body.data?.[0]?.status);
    const { body } = await service.waitFor(`/v1/events/${eventId}/runs`, ended);
    return body.data[0];
  }

  async function historyOf(runId: string): Promise<Json[]> {
    return (await service.get(`/v1/runs/${runId}`)).body.data.history;
  }

  it('POST an event as JSON, signed so that the verifiers of Standard Webhooks and Svix accept it', async () => {
    const { secret, function_id } = await create('orders', { headers: { Authorization: 'Bearer s3cret' } });
    const [id] = await send({ name: 'orders/paid', data: { total: 12 }, id: 'A1' });
    const [received] = await receiver.got('/orders');
    const body = received?.body.toString() ?? '';
    expect(JSON.parse(body)).to.deep.include({ internal_id: id, id: 'A1', name: 'orders/paid', data: { total: 12 } });
    expect(received).to.deep.include({ method: 'POST' });
    expect(received?.headers).to.include({ authorization: 'Bearer s3cret', 'content-type': 'application/json' });
    new StandardWebhook(secret).verify(body, signatureOf(received as Received));
    new SvixWebhook(secret).verify(body, signatureOf(received as Received));
    const run = await endedRun(id);
    expect(run).to.deep.include({ status: 'Completed', function_id, output: { status: 200, body: 'ok' } });
    expect(received?.headers['webhook-id']).to.equal(run.run_id);
    const [attempt] = await historyOf(run.run_id);
    expect(attempt.request).to.deep.equal({ method: 'POST', origin: receiver.url(''), status: 200 });
  });

  it('a body of data sends the data of the event alone', async () => {
    await create('plain', { body: 'data' });
    await endedRun((await send({ name: 'plain/a', data: { total: 12 } }))[0]);
    expect(receiver.at('/plain')[0]?.body.toString()).to.equal('{"total":12}');
  });

  it('a filter decides which events are sent, and the event says why one was not', async () => {
    await create('filtered', { filter: 'event.data.total > 10' });
    const [small, large] = await send(
      { name: 'filtered/a', data: { total: 1 } },
      { name: 'filtered/a', data: { total: 11 } },
    );
    await endedRun(large);
    const { body } = await service.waitFor(
      `/v1/events/${small}/decisions`,
      ({ body }) => body.data[0]?.outcome === 'skipped',
    );
    expect(body.data[0]).to.deep.include({ function_id: 'destination:filtered', reason: 'expression_false' });
    expect(receiver.at('/filtered')).to.have.length(1);
  });

  it('failed attempts repeat with the same webhook-id, and Retry-After is obeyed', async () => {
    receiver.on(
      '/retried',
      (_, number) =>
        [
          { status: 503, headers: { 'retry-after': '1' } },
          { status: 404, body: 'no' },
        ][number] ?? {},
    );
    await create('retried');
    const [id] = await send({ name: 'retried/a', data: {} });
    const run = await endedRun(id);
    const received = receiver.at('/retried');
    expect(new Set(received.map(({ headers }) => headers['webhook-id']))).to.have.length(1);
    const [first, second, third] = await historyOf(run.run_id);
    expect([first, second, third].map(({ request, error }) => [request.status, error?.message ?? null])).to.deep.equal([
      [503, 'the destination responded with status 503: ok'],
      [404, 'the destination responded with status 404: no'],
      [200, null],
    ]);
    expect(Date.parse(second.started_at) - Date.parse(first.ended_at)).to.be.at.least(990);
  });

  const FAILURES: [title: string, name: string, error: string, respond: () => Json][] = [
    ['410 Gone is final', 'gone', 'DestinationGone', () => ({ status: 410 })],
    [
      'a redirect is not followed',
      'moved',
      'RedirectRefused',
      () => ({ status: 307, headers: { location: '/orders' } }),
    ],
    ['a response that does not come in time fails the attempt', 'silent', 'CallError', () => undefined],
  ];
  for (const [title, name, error, respond] of FAILURES) {
    it(title, async () => {
      receiver.on(`/${name}`, respond);
      await create(name, { retries: name === 'gone' ? 5 : 0, timeout_seconds: 1 });
      const [id] = await send({ name: `${name}/a`, data: {} });
      const run = await endedRun(id);
      expect(run.status).to.equal('Failed');
      const { body } = await service.get(`/v1/runs/${run.run_id}`, service.apiHeaders);
      expect(body.data.error.name, JSON.stringify(body.data)).to.equal(error);
      expect(receiver.at(`/${name}`)).to.have.length(1);
    });
  }

  it('a long response is cut, and the run completes', async () => {
    receiver.on('/long', () => ({ body: Buffer.alloc(1_000_000, 'x') }));
    await create('long');
    const [id] = await send({ name: 'long/a', data: {} });
    const { output } = await endedRun(id);
    expect([output.status, output.body.length]).to.deep.equal([200, 16_384]);
  });

  it('a destination of a webhook gets each event of its requests, and none of others', async () => {
    const transform = 'const transform = (evt) => evt.map((data) => ({ name: "any name", data }));';
    const webhook = await createWebhook({ transform });
    await create('all-events', { webhook: webhook.id });
    await service.post(service.eventPath, { name: 'any name', data: { n: 0 } });
    await request('POST', webhook.url, { body: '[{"n":1},{"n":2}]', headers: { 'content-type': 'application/json' } });
    const received = await receiver.got('/all-events', 2);
    expect(received.map(({ body }) => JSON.parse(body.toString()).data.n)).to.have.members([1, 2]);
  });

  it('sends the original request on: once, byte for byte, with the chosen headers', async () => {
    const transform = 'const transform = () => [{ name: "a", data: {} }, { name: "b", data: {} }];';
    const webhook = await createWebhook({ transform });
    const { secret } = await create('original', {
      webhook: webhook.id,
      body: 'request',
      forward_headers: ['X-Git*', 'x-one'],
    });
    const headers = {
      'content-type': 'text/plain; a=b',
      'x-github-event': 'push',
      'x-one': '1',
      'x-two': '2',
      'x-git-token': 't',
    };
    const bytes = Buffer.from('{"ü" : 1}\r\n');
    const { status } = await request('POST', webhook.url, { body: bytes, headers: { ...headers, cookie: 'sid=1' } });
    expect(status).to.equal(200);
    const [received] = await receiver.got('/original');
    expect(received?.body.equals(bytes)).to.equal(true);
    expect(received?.headers).to.include({ 'content-type': 'text/plain; a=b', 'x-github-event': 'push', 'x-one': '1' });
    for (const name of ['x-two', 'cookie', 'x-git-token']) expect(received?.headers, name).not.to.have.property(name);
    new StandardWebhook(secret).verify(bytes, signatureOf(received as Received));
    const { body } = await service.get('/v1/runs?function_id=destination:original', service.apiHeaders);
    expect(body.data).to.have.length(1);
  });

  it('a run whose original request is gone says so, and fails for good a minute after its event', async () => {
    const webhook = await createWebhook({ transform: 'const transform = () => ({ name: "late", data: {} });' });
    await create('late', { webhook: webhook.id, body: 'request' });
    const response = await request('POST', webhook.url, { body: '{}' });
    const [id] = response.body.ids;
    await receiver.got('/late');
    await service.redis.del(
      ...(await service.redis.keys(`${service.prefix}*original-request:*`)),
      ...(await service.redis.keys(`${service.prefix}*webhook-request:*`)),
    );
    const first = await endedRun(id);
    const { body } = await service.post(`/v1/runs/${first.run_id}/retry`, {}, service.apiHeaders);
    const run = `/v1/runs/${body.data.run_id}`;
    // It may still be on its way to the log; the retries wait for that.
    const { body: told } = await service.waitFor(run, ({ body }) => body.data.error?.name === 'RequestNotStored');
    expect(told.data.error.message).to.include('not stored');
    await service.request('DELETE', run, undefined, service.apiHeaders);
    const now = Date.now();
    const event = { name: 'late', data: {}, received_at: now - 60_001 } as EventRecord;
    expect(withoutOriginal(event, now)).to.include({ kind: 'failed', retriable: false });
  });

  it('events with the same key are sent in order, also those that come in another', async () => {
    const order = { key: 'event.data.key', by: 'event.data.n', window: '1s' };
    await create('in-order', { flow: { order } });
    await send(...[3, 1, 2].map((n) => ({ name: 'in-order/a', data: { key: 'a', n } })));
    const received = await receiver.got('/in-order', 3);
    expect(received.map(({ body }) => JSON.parse(body.toString()).data.n)).to.deep.equal([1, 2, 3]);
  });

  it('POST …/test starts one run, whose output is the response', async () => {
    await create('tested', { filter: 'false', events: ['nothing'] });
    const { status, body } = await service.post(
      '/v1/destinations/tested/test',
      { data: { hello: 1 } },
      service.apiHeaders,
    );
    expect(status).to.equal(201);
    await service.waitFor(`/v1/runs/${body.data.run_id}`, ({ body }) => body.data.status === 'Completed');
    expect(JSON.parse((await receiver.got('/tested'))[0]?.body.toString() ?? '').data).to.deep.include({ hello: 1 });
  });

  it('POST …/pause with hold keeps queued runs until POST …/resume', async () => {
    await create('held', { flow: { throttle: { limit: 1, period: '1s' } } });
    const ids = await send(...[1, 2].map((n) => ({ name: 'held/a', data: { n } })));
    await receiver.got('/held');
    const { body } = await service.post('/v1/destinations/held/pause', { queued_runs: 'hold' }, service.apiHeaders);
    expect(body.data).to.include({ queued_runs: 'hold' });
    await service.post('/v1/destinations/held/resume', {}, service.apiHeaders);
    await receiver.got('/held', 2);
    for (const id of ids) await endedRun(id);
  });

  it('POST …/rotate-secret signs with both secrets for a while', async () => {
    const { secret: old } = await create('rotated');
    const { body } = await service.post('/v1/destinations/rotated/rotate-secret', {}, service.apiHeaders);
    expect(body.data.signing_secrets).to.have.length(2);
    await endedRun((await send({ name: 'rotated/a', data: {} }))[0]);
    const [received] = await receiver.got('/rotated');
    for (const secret of [old, body.data.secret]) {
      new StandardWebhook(secret).verify(received?.body ?? '', signatureOf(received as Received));
    }
  });

  it('PATCH changes what is given, and secrets are shown once', async () => {
    const created = await create('changed', { headers: { 'x-key': 's3cret' }, filter: 'true', retries: 3 });
    expect(created.secret).to.match(/^whsec_/);
    const { body } = await service.request(
      'PATCH',
      '/v1/destinations/changed',
      { filter: null, timeout_seconds: 5 },
      service.apiHeaders,
    );
    expect(body.data).to.include({ filter: null, timeout_seconds: 5, retries: 3 });
    expect(body.data.headers).to.deep.equal(['x-key']);
    const texts = await Promise.all(
      ['destinations', 'destinations/changed', 'functions/destination:changed', 'functions'].map(async (path) =>
        JSON.stringify((await service.get(`/v1/${path}`)).body),
      ),
    );
    for (const text of texts) expect(text).not.to.match(/s3cret|whsec_|sealed/);
  });

  it('two changes at once both count', async () => {
    await create('shared');
    const changes = [{ retries: 1 }, { timeout_seconds: 2 }, { filter: 'true' }, { body: 'data' }];
    const patch = (body: object) => service.request('PATCH', '/v1/destinations/shared', body, service.apiHeaders);
    await Promise.all(changes.map(patch));
    const { body } = await service.get('/v1/destinations/shared');
    expect(body.data).to.include(Object.assign({}, ...changes));
  });

  it('DELETE ends it: events start no runs, and its name is free', async () => {
    await create('brief');
    expect((await service.request('DELETE', '/v1/destinations/brief', undefined, service.apiHeaders)).status).to.equal(
      204,
    );
    expect((await service.get('/v1/destinations/brief', service.apiHeaders)).status).to.equal(404);
    await create('brief', { events: ['brief/again'] });
    const [id] = await send({ name: 'brief/again', data: {} });
    await endedRun(id);
  });

  it('no app can register, replace or delete a destination', async () => {
    await create('owned');
    const steps = { step: { id: 'step', runtime: { url: receiver.url('/app') } } };
    const registration = (appName: string, id: string) => ({
      url: receiver.url('/app'),
      appName,
      sdk: 'test:v1',
      functions: [{ id, triggers: [{ event: 'x' }], steps }],
    });
    const register = (body: object) =>
      service.post('/fn/register', body, { ...service.appHeaders, 'x-service-sdk': 'test:v1' });
    expect((await register(registration('destination:owned', 'destination:owned'))).status).to.equal(400);
    await register(registration('shop', 'destination:owned'));
    await service.request('DELETE', '/v1/apps/destination:owned', undefined, service.apiHeaders);
    const { body } = await service.get('/v1/destinations/owned', service.apiHeaders);
    expect(body.data.url).to.equal(receiver.url('/owned'));
  });

  const INVALID: [title: string, fields: object, field: string][] = [
    ['neither events nor a webhook', { events: null }, 'events'],
    ['an unknown webhook', { events: null, webhook: 'none' }, 'webhook'],
    ['original requests of events', { body: 'request' }, 'body'],
    ['a filter that is no CEL', { filter: 'event.' }, 'filter'],
    ['flow control with a wrong value', { flow: { throttle: { limit: 0, period: 'x' } } }, 'flow'],
    ['batches', { flow: { batchEvents: { maxSize: 2, timeout: '1s' } } }, 'flow.batchEvents'],
    ['a header that the service sets', { headers: { 'webhook-id': 'x' } }, 'headers'],
    ['credentials in the URL', { url: 'https://user:pass@example.com' }, 'url'],
    ['a URL that is not of HTTP', { url: 'ftp://example.com' }, 'url'],
  ];
  for (const [title, fields, field] of INVALID) {
    it(`POST /v1/destinations rejects ${title}`, async () => {
      const given = { name: 'bad', url: receiver.url('/bad'), events: ['bad'], ...fields };
      const { status, body } = await service.post('/v1/destinations', given, service.apiHeaders);
      expect([status, body.code], JSON.stringify(body)).to.deep.equal([400, 'input_invalid']);
      expect(body.error).to.include(`"${field}"`);
    });
  }

  it('POST /v1/destinations needs write access, another name each, and stops at DESTINATIONS_MAX', async () => {
    const given = { name: 'orders', url: receiver.url('/'), events: ['x'] };
    const reading = await keyHeaders(service, 'read');
    expect((await service.post('/v1/destinations', given, reading)).status).to.equal(403);
    const { status, body } = await service.post('/v1/destinations', given, service.apiHeaders);
    expect([status, body.code]).to.deep.equal([409, 'destination_exists']);
    const { body: list } = await service.get('/v1/destinations?limit=100', service.apiHeaders);
    const more = Array.from({ length: 30 - list.data.length }, (_, i) => create(`more-${i}`));
    await Promise.all(more);
    const over = await service.post('/v1/destinations', { ...given, name: 'over' }, service.apiHeaders);
    expect([over.status, over.body.code]).to.deep.equal([403, 'quota_exceeded']);
  });
});
