import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import { liveSchemas } from '../../src/api/views/live.ts';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { addUser, keyHeaders, sessionHeaders } from '../support/auth.ts';
import { startOwnRedis } from '../support/own-redis.ts';
import { type Service, startService } from '../support/service.ts';
import { follow, type Stream } from '../support/stream.ts';
import { until } from '../support/until.ts';

describe('live stream', () => {
  let service: Service;
  let host: AppHost;
  const open: Stream[] = [];
  before(async () => {
    service = await startService({ webs: 2, workers: 2 });
    host = await startAppHost();
    await host.register(
      service,
      [
        { id: 'f', triggers: [{ event: 'live/x' }] },
        { id: 'slow', triggers: [{ event: 'live/slow' }] },
      ],
      { appName: 'live' },
    );
  });
  afterEach(() => {
    for (const stream of open.splice(0)) stream.close();
  });
  after(async () => {
    await service.stop();
    await host.close();
  });

  async function watch(url = service.url, headers = {}, path = '/v1/stream'): Promise<Stream> {
    const stream = await follow(url + path, headers);
    open.push(stream);
    return stream;
  }

  const send = (events: object | object[]) => service.post('/e/key', events);

  it('GET /v1/stream starts with a hello message and headers that prevent caching and buffering', async () => {
    const { response, messages } = await watch();
    expect(messages[0]).to.include({ event: 'hello' });
    expect(response.headers.get('cache-control')).to.equal('no-store');
    expect(response.headers.get('x-accel-buffering')).to.equal('no');
  });

  it('GET /v1/stream sends updates of an event and its run from creation to end, at every web process', async () => {
    const streams = await Promise.all(service.urls.map((url) => watch(url)));
    const [id] = (await send({ name: 'live/x', data: {} })).body.ids;
    for (const stream of streams) {
      const { data } = await stream.next('events', ({ data }) =>
        data.events.some((event: { internal_id: string }) => event.internal_id === id),
      );
      expect(data.events.find((event: { internal_id: string }) => event.internal_id === id)).to.include({
        name: 'live/x',
        source: 'event-key',
      });
      const run = await stream.next('runs', ({ data }) =>
        data.runs.some(
          (run: { event_id: string; status: string }) => run.event_id === id && run.status === 'Completed',
        ),
      );
      const [changed] = run.data.runs;
      expect(changed).to.include({ status: 'Completed', error: null });
      for (const field of ['queued_at', 'run_started_at', 'ended_at']) expect(changed[field]).to.be.a('string');
    }
  });

  it('GET /v1/stream sends data that matches its schemas', async () => {
    const stream = await watch();
    await send({ name: 'live/x', data: {} });
    await stream.next('runs', ({ data }) => data.runs.some((run: { status: string }) => run.status === 'Completed'));
    for (const { event, data } of stream.messages) {
      expect(liveSchemas[event as keyof typeof liveSchemas].parse(data)).to.deep.equal(data);
    }
  });

  it('GET /v1/stream sends what a row of a list shows: the gist of an event; the event and times of a new run', async () => {
    const stream = await watch();
    const [id] = (await send({ name: 'live/x', data: { customer: 'c_1', total: 99.5, items: [1] } })).body.ids;
    const gist = 'customer: "c_1", total: 99.5';
    const isIt = ({ internal_id, event_id }: { internal_id?: string; event_id?: string }) =>
      internal_id === id || event_id === id;
    const { data } = await stream.next('events', ({ data }) => data.events.some(isIt));
    expect(data.events.find(isIt)).to.include({ gist });
    // A message may tell of other runs too.
    const isNew = (run: { event_id: string; created?: boolean }) => isIt(run) && run.created === true;
    const created = await stream.next('runs', ({ data }) => data.runs.some(isNew));
    expect(created.data.runs.find(isNew)).to.include({ event_name: 'live/x', event_gist: gist });
  });

  it('GET /v1/stream sends the state of a run: until when it sleeps, and when it is retried', async () => {
    const nap = { id: 'a'.repeat(40), op: 'Sleep', displayName: 'nap', opts: { duration: '1d' } };
    host.on('slow', ({ body }) =>
      body.event.data.naps ? { status: 206, body: [nap] } : { status: 500, body: { name: 'Slow', message: 'no' } },
    );
    const stream = await watch();
    const { ids } = (await send([true, false].map((naps) => ({ name: 'live/slow', data: { naps } })))).body;
    const stateOf = async (id: string, kind: string) => {
      // biome-ignore lint/suspicious/noExplicitAny: as the stream has it
      const isIt = ({ event_id, state }: any) => event_id === id && state?.kind === kind;
      const { data } = await stream.next('runs', ({ data }) => data.runs.some(isIt));
      return data.runs.find(isIt);
    };
    const sleeping = await stateOf(ids[0], 'sleeping');
    const retrying = await stateOf(ids[1], 'retrying');
    for (const { run_id, state } of [sleeping, retrying]) {
      expect((await service.get(`/v1/runs/${run_id}`)).body.data.state).to.deep.equal(state);
    }
    expect(sleeping.state.step).to.deep.equal({ id: nap.id, name: 'nap' });
    expect(retrying.state.attempt).to.equal(2);
  });

  it('GET /v1/stream sends the gist of an event once: later changes of its run have none', async () => {
    host.on('slow', () => ({ status: 500, body: { name: 'Slow', message: 'try again' } }));
    const stream = await watch();
    const [id] = (await send({ name: 'live/slow', data: { secret: 'x' } })).body.ids;
    const failed = ({ event_id, error }: { event_id: string; error: string }) =>
      event_id === id && error === 'Slow: try again';
    await stream.next('runs', ({ data }) => data.runs.some(failed));
    const gists = () =>
      stream.messages.flatMap(({ event, data }) =>
        event === 'runs'
          ? data.runs.filter((run: { event_id: string; event_gist?: string }) => run.event_id === id && run.event_gist)
          : [],
      );
    // The worker that created the run may be another, whose message may come later.
    await until(() => gists().length > 0, { describe: 'the stream tells of the payload' });
    expect(gists()).to.have.length(1);
  });

  it('GET /v1/stream is compressed for browsers of the same site, and each message is readable as soon as it is sent', async () => {
    const { response, next } = await watch();
    expect(response.headers.get('content-encoding')).to.equal('gzip');
    const other = await watch(service.url, { 'sec-fetch-site': 'cross-site' });
    expect(other.response.headers.get('content-encoding')).to.equal(null);
    const plain = await watch(service.url, { 'accept-encoding': 'identity' });
    expect(plain.response.headers.get('content-encoding')).to.equal(null);
    const [id] = (await send({ name: 'live/zip', data: {} })).body.ids;
    for (const stream of [{ next }, other, plain]) {
      await stream.next('events', ({ data }) =>
        data.events.some((event: { internal_id: string }) => event.internal_id === id),
      );
    }
  });

  it('GET /v1/stream sends the count of events and lists the last 200', async () => {
    const stream = await watch();
    const events = Array.from({ length: 450 }, (_, n) => ({ name: 'live/many', data: { n } }));
    const { ids } = (await send(events)).body;
    const messages = () => stream.messages.filter(({ event }) => event === 'events');
    await until(() => messages().reduce((sum, { data }) => sum + data.count, 0) === 450, {
      describe: 'all were counted',
    });
    const named = messages().flatMap(({ data }) =>
      data.events.map((event: { internal_id: string }) => event.internal_id),
    );
    expect(named).to.include(ids.at(-1));
    for (const { data } of messages()) expect(data.events.length).to.be.at.most(200);
  });

  it('GET /v1/stream sends at most four messages of a kind per second, and one per second under load, from any number of processes', async () => {
    const stream = await watch();
    const sentUntil = performance.now() + 1_500;
    while (performance.now() < sentUntil) await send({ name: 'live/often', data: {} });
    await stream.next('events');
    const times = stream.messages.filter(({ event }) => event === 'events').map(({ at }) => at);
    expect(times.length).to.be.within(2, 9);
    const counts = stream.messages.filter(({ event }) => event === 'events').map(({ data }) => data.events.length);
    counts.slice(0, -1).forEach((count, i) => {
      const pauseMs = (times[i + 1] as number) - (times[i] as number);
      if (count > 20) expect(pauseMs, `after ${count} events`).to.be.above(700);
    });
  });

  it('GET /v1/stream sends updates of one environment only', async () => {
    await service.post('/v1/environments', { name: 'live-branch', kind: 'branch' });
    const stream = await watch(service.url, {}, '/v1/stream?x-service-env=live-branch');
    const other = await watch();
    await send({ name: 'live/elsewhere', data: {} });
    await other.next('events');
    expect(stream.messages.map(({ event }) => event)).to.deep.equal(['hello']);
    const unknown = await service.get('/v1/stream?x-service-env=nope');
    expect([unknown.status, unknown.body.code]).to.deep.equal([404, 'environment_unknown']);
  });

  it('GET /v1/stream sends webhook requests once they are logged', async () => {
    const stream = await watch();
    const { id, url } = (await service.post('/v1/webhooks', { name: 'Live' })).body.data;
    await service.post(new URL(url).pathname, { n: 1 });
    const { data } = await stream.next('webhook-requests');
    expect(data.requests[0]).to.include({ webhook_id: id, outcome: 'accepted' });
    const log = await service.get(`/v1/webhooks/${id}/requests/${data.requests[0].id}`);
    expect(log.status).to.equal(200);
  });

  it('GET /v1/stream sends an issue of a webhook when it is opened and when its state changes', async () => {
    const stream = await watch();
    const transform = "const transform = () => { throw new Error('no'); };";
    const { id, url } = (await service.post('/v1/webhooks', { name: 'Fails', transform })).body.data;
    await service.post(new URL(url).pathname, {});
    const [issue] = (await stream.next('webhook-issues')).data.issues;
    expect(issue).to.include({ webhook_id: id, kind: 'transform', state: 'open' });
    await service.post(`/v1/webhook-issues/${issue.id}/ignore`);
    const changed = await stream.next('webhook-issues', ({ data }) => data.issues[0].state !== 'open');
    expect(changed.data.issues).to.deep.equal([{ ...issue, state: 'ignored' }]);
  });

  it('GET /v1/stream sends hello again after Redis was unreachable', async () => {
    const stream = await watch();
    const channel = `${service.prefix}:live-updates:production`;
    await until(async () => Number((await service.redis.pubsub('NUMSUB', channel))[1]) === 1, {
      describe: 'the web process listens',
    });
    await service.redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    // Another when the connection is lost, and one when it is back.
    await until(() => stream.messages.filter(({ event }) => event === 'hello').length === 3, { describe: 'it greets' });
    await send({ name: 'live/x', data: {} });
    await stream.next('events');
  });

  it('no web process subscribes to live updates without clients', async () => {
    const stream = await watch();
    stream.close();
    await until(async () => (await service.redis.pubsub('CHANNELS', `${service.prefix}:live-updates*`)).length === 0, {
      describe: 'nobody listens',
    });
  });
});

describe('live stream outside dev mode', () => {
  let service: Service;
  before(async () => {
    service = await startService({ dev: false, workers: 0 });
  });
  after(() => service.stop());

  it('GET /v1/stream requires read access to the environment', async () => {
    expect((await service.get('/v1/stream', {})).body.code).to.equal('credentials_invalid');
    await service.post('/v1/environments', { name: 'staging', kind: 'named' }, service.apiHeaders);
    const held = await keyHeaders(service, 'read', 'staging');
    const elsewhere = await service.get('/v1/stream', { ...held, 'x-service-env': 'production' });
    expect([elsewhere.status, elsewhere.body.code]).to.deep.equal([403, 'access_denied']);
    (await follow(`${service.url}/v1/stream`, held)).close();
  });

  it('GET /v1/stream hides updates of the installation from a key restricted to an environment', async () => {
    const { url } = (await service.post('/v1/webhooks', { name: 'Held', environment: 'branches' }, service.apiHeaders))
      .body.data;
    const [all, held] = await Promise.all([
      follow(`${service.url}/v1/stream`, service.apiHeaders),
      follow(`${service.url}/v1/stream`, await keyHeaders(service, 'read', 'production')),
    ]);
    await service.post(new URL(url).pathname, { n: 1 });
    expect((await all.next('held-events')).data).to.deep.equal({ count: 1 });
    await all.next('webhook-requests');
    expect(held.messages.map(({ event }) => event)).to.deep.equal(['hello']);
    all.close();
    held.close();
  });

  it('GET /v1/stream ends when the session ends or the key is revoked', async () => {
    await addUser(service, 'ada@example.com', 'read-only');
    const session = await sessionHeaders(service, 'ada@example.com');
    const key = (await service.post('/v1/api-keys', { name: 'k', access: 'read' }, service.apiHeaders)).body.data;
    const streams = await Promise.all([
      follow(`${service.url}/v1/stream`, session),
      follow(`${service.url}/v1/stream`, { authorization: `Bearer ${key.secret}` }),
    ]);
    const stays = await follow(`${service.url}/v1/stream`, service.apiHeaders);
    await service.post('/auth/sign-out', {}, session);
    await service.request('DELETE', `/v1/api-keys/${key.id}`, undefined, service.apiHeaders);
    await until(() => streams.every((stream) => stream.ended()), { describe: 'both have ended' });
    expect(stays.ended()).to.equal(false);
    stays.close();
  });

  it('GET /v1/stream says hello when Redis is lost, and when it is back: clients ask what is still true', async () => {
    const redis = await startOwnRedis();
    const other = await startService({ workers: 0, env: { REDIS_URL: redis.url } });
    try {
      const stream = await follow(`${other.url}/v1/stream`);
      // The subscription itself may still have been on its way.
      await until(async () => /\bs?sub=[1-9]/.test(String(await other.redis.client('LIST'))), {
        describe: 'a subscription',
      });
      const before = stream.messages.length;
      await redis.stop();
      const hellos = () => stream.messages.slice(before).filter(({ event }) => event === 'hello').length;
      await until(() => hellos() === 1, { describe: 'a hello' });
      expect((await other.get('/v1/status')).status).to.equal(503);
      await redis.start();
      await until(() => hellos() === 2, { describe: 'another hello' });
    } finally {
      await other.stop();
      await redis.remove();
    }
  });

  it('neither live streams nor idle connections delay the shutdown of web', async () => {
    const other = await startService({ workers: 0 });
    const stream = await follow(`${other.url}/v1/stream`);
    const ahead = connect(Number(new URL(other.url).port), '127.0.0.1');
    ahead.on('error', () => undefined);
    await once(ahead, 'connect');
    await other.stop();
    await until(() => stream.ended(), { describe: 'the stream has ended' });
  });
});
