import { expect } from 'chai';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { close, followEvents, type Subscriber, subscribe, tokenFor } from '../support/realtime.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

describe('Realtime', () => {
  let service: Service;
  let host: AppHost;
  const open: Subscriber[] = [];
  before(async () => {
    service = await startService({ webs: 2 });
    host = await startAppHost();
  });
  afterEach(() => Promise.all(open.splice(0).map(close)));
  after(async () => {
    await service.stop();
    await host.close();
  });

  const publish = (query: string, body: string, type = 'application/json') =>
    service.post(`/v1/realtime/publish?${query}`, Buffer.from(body), { 'content-type': type });
  async function follow(channel: string, topics: string[], url = service.url): Promise<Subscriber> {
    const subscriber = await subscribe(url, await tokenFor(service, channel, topics));
    open.push(subscriber);
    return subscriber;
  }

  it('a message reaches the subscribers of its topic at every web process', async () => {
    const subscribers = await Promise.all(service.urls.map((url) => follow('user:1', ['status'], url)));
    const { status } = await publish('channel=user:1&topic=status', '{"n": 1}');
    expect(status).to.equal(200);
    for (const { next } of subscribers) {
      const message = await next(({ kind }) => kind === 'data');
      expect(message).to.deep.include({ kind: 'data', channel: 'user:1', topic: 'status', data: { n: 1 } });
      expect(new Date(message.created_at).toISOString()).to.equal(message.created_at);
    }
  });

  it('a subscriber gets only messages of the channel and topics of its token, in order', async () => {
    const subscriber = await follow('user:2', ['a', 'b']);
    for (const query of [
      'channel=user:2&topic=c',
      'channel=user:3&topic=a',
      'channel=user:2&topic=a',
      'channel=user:2&topic=b',
    ]) {
      await publish(query, JSON.stringify(query));
    }
    await subscriber.next(({ topic }) => topic === 'b');
    expect(subscriber.messages.map(({ data }) => data)).to.deep.equal([
      'channel=user:2&topic=a',
      'channel=user:2&topic=b',
    ]);
  });

  it('a message to several topics is one message for each', async () => {
    const subscriber = await follow('many', ['a', 'b']);
    await publish('channel=many&topic=a&topic=b', '1');
    await until(() => subscriber.messages.length === 2, { describe: 'two messages' });
    expect(subscriber.messages.map(({ topic }) => topic).sort()).to.deep.equal(['a', 'b']);
  });

  it('data is passed on as JSON, or as a string if it is not JSON', async () => {
    const subscriber = await follow('data', ['t']);
    const bodies = ['1.50', '{"a":\n[null]}', 'step 1 data', '', '"text"'];
    for (const body of bodies) await publish('channel=data&topic=t', body);
    await until(() => subscriber.messages.length === bodies.length, { describe: 'all messages' });
    const data = subscriber.messages.map((message) => message.data);
    expect(data).to.deep.equal([1.5, { a: [null] }, 'step 1 data', null, 'text']);
  });

  it('a message carries the ID of the run that published it', async () => {
    const subscriber = await follow('run', ['t']);
    await publish('channel=run&topic=t&run_id=01M7Z7A7B6FJ7DZJVGC757486T', '1');
    expect((await subscriber.next(Boolean)).run_id).to.equal('01M7Z7A7B6FJ7DZJVGC757486T');
  });

  it('server-sent events carry the same messages as WebSockets', async () => {
    const stream = await followEvents(service.urls[1] as string, await tokenFor(service, 'sse', ['t']));
    expect(stream.response.headers.get('content-type')).to.include('text/event-stream');
    expect(stream.response.headers.get('access-control-allow-origin')).to.equal('*');
    await publish('channel=sse&topic=t', '{"a":\r\n1}');
    await until(() => stream.text().includes('data: '), { describe: 'a message' });
    const [, json = ''] = /^data: (.*)\n\n/m.exec(stream.text()) ?? [];
    expect(JSON.parse(json)).to.deep.include({ kind: 'data', topic: 't', data: { a: 1 } });
    stream.close();
  });

  it('a stream is announced, sent in chunks as they come, and ended', async () => {
    const subscriber = await follow('stream', ['t']);
    const parts = new TransformStream<Uint8Array, Uint8Array>();
    const writer = parts.writable.getWriter();
    const published = fetch(`${service.url}/v1/realtime/publish?channel=stream&topic=t`, {
      method: 'POST',
      headers: { 'content-type': 'text/stream' },
      body: parts.readable,
      duplex: 'half',
    } as RequestInit);
    const bytes = new TextEncoder().encode('grüße');
    // The first chunk ends within a character.
    await writer.write(bytes.slice(0, 3));
    const start = await subscriber.next(({ kind }) => kind === 'datastream-start');
    expect(start).to.deep.include({ channel: 'stream', topic: 't' });
    expect(start.data).to.be.a('string').and.not.to.include(':');
    expect((await subscriber.next(({ kind }) => kind === 'chunk')).data).to.equal('gr');
    await writer.write(bytes.slice(3));
    await subscriber.next(({ data }) => data === 'üße');
    await writer.close();
    expect((await published).status).to.equal(200);
    const end = await subscriber.next(({ kind }) => kind === 'datastream-end');
    expect(end.data).to.equal(start.data);
    for (const { kind, stream_id, channel, topic } of subscriber.messages) {
      if (kind === 'chunk')
        expect({ stream_id, channel, topic }).to.deep.equal({ stream_id: start.data, channel: 'stream', topic: 't' });
    }
  });

  it('a stream ends even when its publisher dies', async () => {
    const subscriber = await follow('broken', ['t']);
    const parts = new TransformStream<Uint8Array, Uint8Array>();
    const end = new AbortController();
    const published = fetch(`${service.url}/v1/realtime/publish?channel=broken&topic=t`, {
      method: 'POST',
      headers: { 'content-type': 'text/stream' },
      body: parts.readable,
      duplex: 'half',
      signal: end.signal,
    } as RequestInit).catch(() => undefined);
    await parts.writable.getWriter().write(new TextEncoder().encode('a'));
    await subscriber.next(({ kind }) => kind === 'chunk');
    end.abort();
    await published;
    await subscriber.next(({ kind }) => kind === 'datastream-end');
  });

  it("a function's streamed response is passed on unchanged", async () => {
    const stream = await followEvents(service.url, await tokenFor(service, 'run-1', ['$stream']));
    const piece = 'event: inngest.stream\ndata: {"data":"a"}\n\n';
    await service.post('/v1/realtime/publish/tee?channel=run-1', Buffer.from(piece), {
      'content-type': 'application/octet-stream',
    });
    await until(() => stream.text().endsWith(piece), { describe: 'the piece' });
    expect(stream.text()).to.equal(`:\n\n${piece}`);
    stream.close();
  });

  it('a web process that shuts down closes its connections, so that clients connect to another', async () => {
    const web = await service.startWeb();
    const subscriber = await follow('restart', ['t'], service.urls.at(-1));
    service.webs.pop();
    await web.stop();
    expect(await subscriber.closed).to.equal(1_001);
  });

  it("$run on a run's own channel announces its end, even to later subscribers", async () => {
    const held = Promise.withResolvers<object>();
    host.on('slow', () => held.promise);
    await host.register(service, [{ id: 'slow', triggers: [{ event: 'rt/slow' }] }], { appName: 'rt' });
    const [eventId] = (await service.post('/e/key', { name: 'rt/slow', data: {} })).body.ids;
    const { body } = await service.waitFor(
      `/v1/events/${eventId}/runs`,
      ({ body }) => body.data[0]?.status === 'Running',
    );
    const runId = body.data[0].run_id;
    const early = await follow(runId, ['$run']);
    held.resolve({ body: { done: 1 } });
    const expected = {
      kind: 'run',
      channel: runId,
      run_id: runId,
      topic: '$run',
      data: { status: 'Completed', output: { done: 1 }, error: null },
    };
    expect(await early.next(({ kind }) => kind === 'run')).to.deep.include(expected);
    const late = await follow(runId, ['$run'], service.urls[1]);
    expect(await late.next(({ kind }) => kind === 'run')).to.deep.include(expected);
  });
});
