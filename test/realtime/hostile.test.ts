import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { SubscriptionTokens } from '../../src/model/realtime/subscription-token.ts';
import { close, followEvents, type Subscriber, subscribe, tokenFor } from '../support/realtime.ts';
import { SECRETS, type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const LIMITS = {
  // A busy machine, too, sends more in a moment.
  REALTIME_MESSAGES_PER_SECOND: '50',
  REALTIME_SUBSCRIBERS_MAX: '20',
  REALTIME_MESSAGE_MAX_BYTES: '400000',
};

describe('Realtime under attack', () => {
  let service: Service;
  const open: Subscriber[] = [];
  before(async () => {
    service = await startService({ dev: false, workers: 0, env: LIMITS });
    for (const name of ['staging', 'other']) await service.post('/v1/environments', { name }, service.apiHeaders);
  });
  afterEach(() => Promise.all(open.splice(0).map(close)));
  after(() => service.stop());

  async function keyOf(environment: string): Promise<string> {
    const path = `/v1/environments/${environment}/signing-key`;
    return (await service.get(path)).body.data.current;
  }
  const publish = (query: string, body: string | Uint8Array, headers = service.appHeaders) =>
    service.post(`/v1/realtime/publish?${query}`, Buffer.from(body), {
      'content-type': 'application/json',
      ...headers,
    });
  async function follow(token: string): Promise<Subscriber> {
    const subscriber = await subscribe(service.url, token);
    open.push(subscriber);
    return subscriber;
  }
  const topics = (channel: string, names: string[]) => new Map([[channel, new Set(names)]]);
  /** A token as the service signs it. */
  const signed = (env: string, expiresAt: number, secret = SECRETS.SECRET_KEY as string) =>
    new SubscriptionTokens(secret, undefined).sign({ env, topics: topics('c', ['t']) }, expiresAt);
  const soon = () => Date.now() + 60_000;

  describe('publishing and tokens need the signing key', () => {
    for (const path of [
      '/v1/realtime/token',
      '/v1/realtime/publish?channel=c&topic=t',
      '/v1/realtime/publish/tee?channel=c',
    ]) {
      it(`POST ${path}`, async () => {
        for (const authorization of ['', 'Bearer wrong', `Bearer ${SECRETS.API_KEY}`]) {
          const { status, body } = await service.post(path, [{ channel: 'c', name: 't' }], { authorization });
          expect([status, body.code]).to.deep.equal([401, 'credentials_invalid']);
        }
      });
    }

    it('ends any stream, even a silent one, whose key is no longer the current or the previous one', async () => {
      const rotate = () => service.post('/v1/environments/staging/signing-key/rotate', undefined, service.apiHeaders);
      const authorization = `Bearer ${await keyOf('staging')}`;
      const subscriber = await follow(signed('staging', soon()));
      const body = new TransformStream<Uint8Array, Uint8Array>();
      const writer = body.writable.getWriter();
      const published = fetch(`${service.url}/v1/realtime/publish?channel=c&topic=t`, {
        method: 'POST',
        headers: { 'content-type': 'text/stream', authorization, 'x-service-env': 'staging' },
        body: body.readable,
        duplex: 'half',
      } as RequestInit);
      const written = new TextEncoder().encode('one');
      await writer.write(written);
      await subscriber.next(({ kind }) => kind === 'chunk');
      await rotate();
      await writer.write(written);
      await subscriber.next(({ kind }) => kind === 'chunk');
      await rotate();
      const response = await published;
      const { code } = (await response.json()) as { code: string };
      expect([response.status, code]).to.deep.equal([401, 'credentials_invalid']);
      await subscriber.next(({ kind }) => kind === 'datastream-end');
      await writer.abort().catch(() => undefined);
    });

    it('hashed or plain, of the named environment or of the environment that owns the key', async () => {
      const key = await keyOf('staging');
      const named = { authorization: `Bearer ${key}`, 'x-inngest-env': 'staging' };
      const unnamed = { authorization: `Bearer ${key}` };
      const production = { authorization: `Bearer ${SECRETS.SIGNING_KEY}` };
      const statuses = [named, unnamed, production, service.appHeaders].map((headers) =>
        publish('channel=c&topic=t', '1', headers),
      );
      expect((await Promise.all(statuses)).map(({ status }) => status)).to.deep.equal([200, 200, 200, 200]);
      const other = { ...unnamed, 'x-inngest-env': 'other' };
      expect((await publish('channel=c&topic=t', '1', other)).status).to.equal(401);
      expect((await publish('channel=c&topic=t', '1', { ...production, 'x-inngest-env': 'staging' })).status).to.equal(
        401,
      );
    });
  });

  it('messages stay in their environment', async () => {
    const staging = { authorization: `Bearer ${await keyOf('staging')}` };
    const [inProduction, inStaging] = [
      await follow(await tokenFor(service, 'same', ['t'])),
      await follow(await tokenFor(service, 'same', ['t'], staging)),
    ];
    await publish('channel=same&topic=t', '"production"');
    await publish('channel=same&topic=t', '"staging"', staging);
    await publish('channel=same&topic=t', '"end"');
    await inProduction.next(({ data }) => data === 'end');
    await inStaging.next(({ data }) => data === 'staging');
    expect(inProduction.messages.map(({ data }) => data)).to.deep.equal(['production', 'end']);
    expect(inStaging.messages.map(({ data }) => data)).to.deep.equal(['staging']);
  });

  describe('a token is rejected', () => {
    const jwt = (header: object, claims: object, key: string) => {
      const text = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
      return `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`;
    };
    const claims = { env: 'production', exp: soon() / 1_000, topics: { c: ['t'] } };
    const cases: Record<string, () => string> = {
      'that has expired': () => signed('production', Date.now() - 1_000),
      'of another secret': () => signed('production', soon(), 'another-secret-key-0123456789abcdef'),
      'signed with SECRET_KEY itself': () => jwt({ alg: 'HS256', typ: 'JWT' }, claims, SECRETS.SECRET_KEY),
      'signed with the signing key': () => jwt({ alg: 'HS256', typ: 'JWT' }, claims, SECRETS.SIGNING_KEY),
      'without a signature': () => `${jwt({ alg: 'none', typ: 'JWT' }, claims, '').split('.').slice(0, 2).join('.')}.`,
      'of another algorithm': () => jwt({ alg: 'HS512', typ: 'JWT' }, claims, SECRETS.SECRET_KEY),
      'with other claims': () => {
        const [header, , mac] = signed('production', soon()).split('.');
        return [header, Buffer.from(JSON.stringify({ ...claims, env: 'staging' })).toString('base64url'), mac].join(
          '.',
        );
      },
      'that is no token': () => 'x',
      'that is too long': () => `a.${'b'.repeat(8_000)}.c`,
      'that is empty': () => '',
    };
    for (const [title, token] of Object.entries(cases)) {
      it(title, async () => {
        for (const connect of [subscribe, followEvents]) {
          const error = await connect(service.url, token()).then(
            () => undefined,
            (error: Error) => error.message,
          );
          expect(error).to.equal('status 401');
        }
      });
    }
  });

  it('a token of the former SECRET_KEY is valid while that is the fallback', () => {
    const tokens = new SubscriptionTokens('new-secret-key-0123456789abcdef-0123', SECRETS.SECRET_KEY);
    expect(tokens.verify(signed('production', soon()), Date.now())?.env).to.equal('production');
  });

  it('the deletion of an environment ends its connections and invalidates its tokens', async () => {
    await service.post('/v1/environments', { name: 'gone', kind: 'branch' }, service.apiHeaders);
    const token = signed('gone', soon());
    const subscriber = await follow(token);
    await service.request('DELETE', '/v1/environments/gone', {}, service.apiHeaders);
    expect(await subscriber.closed).to.equal(1_001);
    expect(await subscribe(service.url, token).catch((error: Error) => error.message)).to.equal('status 404');
  });

  it('a token of a deleted environment does not connect to another one with its name', async () => {
    // It deletes what the environment has.
    await service.startWorker();
    const make = () => service.post('/v1/environments', { name: 'again', kind: 'branch' }, service.apiHeaders);
    await make();
    const authorization = `Bearer ${await keyOf('branches')}`;
    const headers = { authorization, 'x-service-env': 'again' };
    const request = () => service.post('/v1/realtime/token', [{ channel: 'c', name: 't' }], headers);
    const { jwt } = (await request()).body;
    const own = await follow(jwt);
    await service.request('DELETE', '/v1/environments/again', {}, service.apiHeaders);
    await until(async () => (await make()).status === 201, { describe: 'it is deleted and made again' });
    expect(await own.closed, 'one that is open').to.equal(1_001);
    expect(await subscribe(service.url, jwt).catch((error: Error) => error.message)).to.equal('status 404');
    await follow((await request()).body.jwt);
  });

  it('names and numbers of channels and topics are limited', async () => {
    const long = 'x'.repeat(513);
    for (const [query, what] of [
      ['topic=t', 'channel'],
      ['channel=c', 'topic'],
      [`channel=${long}&topic=t`, 'channel'],
      ['channel=c&topic=a%0Ab', 'topic'],
      [`channel=c${'&topic=a'.repeat(11)}`, 'topic'],
      ['channel=c&topic=t&run_id=nothing', 'run_id'],
    ] as const) {
      const { status, body } = await publish(query, '1');
      expect([status, body.code], what).to.deep.equal([400, 'input_invalid']);
    }
    const topic = { channel: 'c', name: 't', kind: 'run' };
    for (const body of [
      [],
      {},
      [{ ...topic, kind: 'event' }],
      [{ ...topic, name: long }],
      Array.from({ length: 51 }, (_, n) => ({ ...topic, name: String(n) })),
      Array.from({ length: 11 }, (_, n) => ({ ...topic, channel: String(n) })),
      Array.from({ length: 40 }, (_, n) => ({ ...topic, name: `${n}${'x'.repeat(200)}` })),
    ]) {
      const { status } = await service.post('/v1/realtime/token', body, service.appHeaders);
      expect(status, JSON.stringify(body).slice(0, 80)).to.equal(400);
    }
  });

  it('the largest permitted token connects', async () => {
    const names = Array.from({ length: 50 }, (_, n) => String(n).padStart(80, 'é'));
    const subscriber = await follow(await tokenFor(service, 'c', names));
    await publish(`channel=c&topic=${encodeURIComponent(names[49] as string)}`, '1');
    await subscriber.next(Boolean);
  });

  it('a message that is too large is rejected', async () => {
    const { status, body } = await publish('channel=c&topic=t', 'x'.repeat(400_001));
    expect([status, body.code, body.limit_bytes]).to.deep.equal([413, 'body_too_large', 400_000]);
  });

  it('a flood of messages is rejected for a moment, without affecting other environments', async () => {
    const large = 'x'.repeat(300_000);
    const responses = await Promise.all(Array.from({ length: 40 }, () => publish('channel=flood&topic=t', large)));
    const refused = responses.filter(({ status }) => status === 429);
    expect(refused.length).to.be.above(0);
    expect(refused[0]?.body.code).to.equal('rate_exceeded');
    expect(Number(refused[0]?.headers.get('retry-after'))).to.be.at.least(1);
    const staging = { authorization: `Bearer ${await keyOf('staging')}` };
    expect((await publish('channel=flood&topic=t', '1', staging)).status).to.equal(200);
    await until(async () => (await publish('channel=c&topic=t', '1')).status === 200, { describe: 'the rate is back' });
  });

  it('an environment cannot exceed its connections or take those of others', async () => {
    await Promise.all(Array.from({ length: 20 }, () => follow(signed('other', soon()))));
    const refused = (error: Error) => error.message;
    expect(await subscribe(service.url, signed('other', soon())).catch(refused)).to.equal('status 503');
    await follow(signed('staging', soon()));
    await close(open.pop() as Subscriber);
    await close(open.pop() as Subscriber);
    await until(() => follow(signed('other', soon())), { describe: 'there is room again' });
  });

  it('a token gets a tenth of the connections of its environment, for every notation of its signature, and takes none from other tokens', async () => {
    const token = signed('other', soon());
    await Promise.all([follow(token), follow(token)]);
    // 256 bits leave two of the last character unused.
    const last = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'.indexOf(token.at(-1) as string);
    const other = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'[last ^ 1];
    for (const spelled of [token, token.slice(0, -1) + other]) {
      const { status, body } = await service.get(`/v1/realtime/sse?token=${spelled}`, {});
      expect([status, body.code]).to.deep.equal([429, 'too_many_connections']);
    }
    await follow(signed('other', soon()));
  });

  it('a subscriber that does not read is dropped, and others get every message', async () => {
    const token = signed('other', soon());
    const slow = await rawSubscriber(service.url, token);
    const quick = await follow(token);
    slow.pause();
    const dropped = once(slow, 'close');
    const other = { authorization: `Bearer ${await keyOf('other')}` };
    const data = JSON.stringify('x'.repeat(390_000));
    let count = 0;
    await until(
      async () => {
        const { status } = await publish('channel=c&topic=t', data, other);
        if (status === 200) count++;
        return count === 60;
      },
      { describe: '60 messages' },
    );
    await until(() => quick.messages.length === count, { describe: 'the other got all' });
    slow.resume();
    await dropped;
  });

  it('a subscriber that sends is closed', async () => {
    const flood = await follow(signed('production', soon()));
    for (let n = 0; n < 100; n++) flood.socket.send('{}');
    expect(await flood.closed).to.equal(1_008);
    const large = await follow(signed('production', soon()));
    large.socket.send('x'.repeat(5_000));
    expect(await large.closed).to.equal(1_009);
  });

  it('a request for a WebSocket at another path, or for another upgrade, gets an ordinary response', async () => {
    const statusLineOf = async (path: string, upgrade: string) => {
      const socket = await rawRequest(service.url, path, upgrade);
      const [first] = await once(socket, 'data');
      socket.destroy();
      return String(first).split('\r\n', 1)[0];
    };
    expect(await statusLineOf('/livez', 'h2c')).to.equal('HTTP/1.1 200 OK');
    expect(await statusLineOf('/v1/runs', 'websocket')).to.equal('HTTP/1.1 401 Unauthorized');
    expect(await statusLineOf('/nowhere', 'websocket')).to.include('HTTP/1.1 4');
    const { status, body } = await service.get(`/v1/realtime/connect?token=${signed('production', soon())}`);
    expect([status, body.code]).to.deep.equal([426, 'upgrade_required']);
  });
});

function rawRequest(url: string, path: string, upgrade: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const key =
    upgrade === 'websocket' ? 'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n' : '';
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${hostname}\r\nConnection: Upgrade\r\nUpgrade: ${upgrade}\r\n${key}\r\n`);
  return once(socket, 'connect').then(() => socket);
}

/** A connection whose data is read by nobody. */
async function rawSubscriber(url: string, token: string): Promise<Socket> {
  const socket = await rawRequest(url, `/v1/realtime/connect?token=${token}`, 'websocket');
  socket.on('error', () => undefined);
  await once(socket, 'data');
  return socket;
}
