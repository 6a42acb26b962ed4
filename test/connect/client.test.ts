import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect } from 'chai';
import { NonRetriableError, RetryAfterError, Tidegate, type TidegateFunction } from 'tidegate';
import { ConnectError, type Connection, type ConnectionState, type ConnectOptions, connect } from 'tidegate/connect';
import { WebSocket as WebSocketOfNode20 } from 'ws';
import { type Service, startService } from '../support/service.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';
import { until } from '../support/until.ts';

/** On a busy machine an instance needs seconds to be back. */
const SETTINGS = { CONNECT_LEASE_SECONDS: '8', RETRY_SCALE: '0.001', STALLED_AFTER_SECONDS: '4' };
const quiet = { info() {}, warn() {}, error() {}, debug() {} };

interface Shop {
  client: Tidegate;
  connection: Connection;
  states: ConnectionState[];
}

describe('The TypeScript client over a connection', () => {
  let service: Service;
  let proxy: TcpProxy;
  const connections: Connection[] = [];
  before(async () => {
    service = await startService({ processes: true, webs: 2, env: SETTINGS });
  });
  beforeEach(async () => {
    proxy = await TcpProxy.start(Number(service.webs[0]?.port));
  });
  afterEach(async () => {
    await Promise.all(connections.splice(0).map((connection) => connection.close()));
    await proxy.stop();
  });
  after(() => service.stop());

  /** Connects through the proxy. */
  async function shopOf(
    id: string,
    define: (client: Tidegate) => TidegateFunction,
    options: Partial<ConnectOptions> = {},
  ): Promise<Shop> {
    const client = new Tidegate({ id, isDev: true, baseUrl: proxy.url, logger: quiet });
    const states: ConnectionState[] = [];
    const onState = (state: ConnectionState) => void states.push(state);
    const connection = await connect({ client, functions: [define(client)], onState, ...options });
    connections.push(connection);
    return { client, connection, states };
  }

  /** @returns the event's ID */
  async function send(name: string): Promise<string> {
    return (await service.post('/e/key', { name, data: {} })).body.ids[0];
  }

  /** Whether the service knows of a call that the client has begun it: until then, the call goes to the next connection as well. */
  async function isAcknowledged(): Promise<boolean> {
    const calls = await service.redis.keys(`${service.prefix}*connect-call:*`);
    const fields = await Promise.all(calls.map((key) => service.redis.hget(key, 'acknowledged')));
    return fields.some(Boolean);
  }

  async function ended(eventId: string) {
    const response = await service.waitFor(`/v1/events/${eventId}/runs`, ({ body }) => body.data[0]?.ended_at);
    return response.body.data[0];
  }

  const reaches = (states: ConnectionState[], ...expected: ConnectionState[]) =>
    until(() => states.join() === expected.join(), { describe: () => `${states} becomes ${expected}` });

  it('runs functions with their steps, and fails them as over HTTP', async () => {
    const attempts: number[] = [];
    const shop = await shopOf('steps', (client) =>
      client.createFunction({ id: 'fn', retries: 2, triggers: { event: 'steps/go' } }, async ({ step, attempt }) => {
        const a = await step.run('a', () => ({ text: 'ä "quoted" \u2028' }));
        await step.sleep('nap', '1ms');
        attempts.push(attempt);
        if (attempt === 0) throw new RetryAfterError('later', 1);
        if (attempt === 1) throw new NonRetriableError(`never: ${a.text}`);
      }),
    );
    expect(shop.states).to.deep.equal(['connecting', 'ready']);
    const run = await ended(await send('steps/go'));
    expect(run).to.include({ status: 'Failed', attempt: 1 });
    expect(run.error).to.include({ name: 'NonRetriableError', message: 'never: ä "quoted" \u2028' });
    expect(attempts).to.deep.equal([0, 1]);
  });

  it('takes no more calls at a time than it wants', async () => {
    let [now, most] = [0, 0];
    const { promise: two, resolve: areTwo } = Promise.withResolvers<void>();
    const define = (client: Tidegate) =>
      client.createFunction({ id: 'fn', triggers: { event: 'few/go' } }, async () => {
        most = Math.max(most, ++now);
        if (now === 2) areTwo();
        await two;
        // A third would come meanwhile.
        await new Promise((resolve) => setTimeout(resolve, 20));
        now--;
      });
    // Node 20 has no WebSocket of its own.
    await shopOf('few', define, { maxConcurrency: 2, WebSocket: WebSocketOfNode20 });
    const ids = await Promise.all(Array.from({ length: 6 }, () => send('few/go')));
    for (const id of ids) expect((await ended(id)).status).to.equal('Completed');
    expect(most).to.equal(2);
  });

  it('continues its calls after a lost connection, and runs none twice', async () => {
    const { promise: release, resolve } = Promise.withResolvers<void>();
    let started = 0;
    const shop = await shopOf('break', (client) =>
      client.createFunction({ id: 'fn', retries: 0, triggers: { event: 'break/go' } }, async () => {
        started++;
        await release;
        return 'here';
      }),
    );
    const eventId = await send('break/go');
    await until(isAcknowledged, { describe: 'the call is acknowledged' });
    proxy.cut();
    await reaches(shop.states, 'connecting', 'ready', 'reconnecting', 'ready');
    resolve();
    expect(await ended(eventId)).to.include({ status: 'Completed', output: 'here' });
    expect(started).to.equal(1);
  });

  it('leaves a connection that has gone silent', async () => {
    class Impatient extends WebSocket {
      override dispatchEvent(event: Event): boolean {
        if (event.type !== 'message') return super.dispatchEvent(event);
        const data = String((event as MessageEvent).data).replace(
          '"heartbeatInterval":"10s"',
          '"heartbeatInterval":"1s"',
        );
        return super.dispatchEvent(new MessageEvent('message', { data }));
      }
    }
    const define = (client: Tidegate) =>
      client.createFunction({ id: 'fn', triggers: { event: 'frozen/go' } }, () => 'thawed');
    const shop = await shopOf('frozen', define, { WebSocket: Impatient });
    proxy.freeze();
    await reaches(shop.states, 'connecting', 'ready', 'reconnecting');
    proxy.cut();
    await reaches(shop.states, 'connecting', 'ready', 'reconnecting', 'ready');
    expect(await ended(await send('frozen/go'))).to.include({ status: 'Completed', output: 'thawed' });
  });

  it('stores steps over its connection during a call, even after a lost connection, and runs each once', async () => {
    const held = Promise.withResolvers<void>();
    const ran: string[] = [];
    const paths: string[] = [];
    const client = new Tidegate({
      id: 'several',
      isDev: true,
      baseUrl: proxy.url,
      logger: quiet,
      fetch(input, init) {
        paths.push(new URL(String(input)).pathname);
        return fetch(input, init);
      },
    });
    const step = (name: string) => {
      ran.push(name);
      return name;
    };
    let calls = 0;
    const fn = client.createFunction({ id: 'fn', retries: 0, triggers: { event: 'several/go' } }, async (context) => {
      calls++;
      const a = await context.step.run('a', () => step('a'));
      const b = await context.step.run('b', () => held.promise.then(() => step('b')));
      return [a, b, await context.step.run('c', () => step('c'))];
    });
    const states: ConnectionState[] = [];
    connections.push(await connect({ client, functions: [fn], onState: (state) => void states.push(state) }));
    const eventId = await send('several/go');
    const { body } = await service.waitFor(`/v1/events/${eventId}/runs`, ({ body }) => body.data[0]);
    const { run_id } = body.data[0];
    await service.waitFor(`/v1/runs/${run_id}`, ({ body }) =>
      body.data.history.some(
        ({ name, status }: { name: string; status: string }) => name === 'a' && status === 'Completed',
      ),
    );
    proxy.cut();
    held.resolve();
    expect(await ended(eventId)).to.deep.include({ status: 'Completed', attempt: 0, output: ['a', 'b', 'c'] });
    expect([ran, calls]).to.deep.equal([['a', 'b', 'c'], 1]);
    expect(paths.filter((path) => path !== '/v0/connect/start')).to.deep.equal([]);
  });

  it('continues a call with stored steps when the worker that waits for it dies', async () => {
    const held = Promise.withResolvers<void>();
    const ran: string[] = [];
    await shopOf('orphan', (client) =>
      client.createFunction({ id: 'fn', retries: 0, triggers: { event: 'orphan/go' } }, async ({ step }) => {
        await step.run('a', () => ran.push('a'));
        await step.run('b', () => held.promise.then(() => ran.push('b')));
        return step.run('c', () => ran.push('c'));
      }),
    );
    const eventId = await send('orphan/go');
    await until(() => ran.length === 1, { describe: 'the first step has run' });
    const [worker] = service.workers.splice(0, 1);
    await worker?.kill();
    await service.startWorker();
    held.resolve();
    expect(await ended(eventId)).to.deep.include({ status: 'Completed', output: 3 });
    expect(ran).to.deep.equal(['a', 'b', 'c']);
  });

  it('sends a reply by HTTP if no connection has confirmed it', async () => {
    class LosesReplies extends WebSocket {
      override send(data: string): void {
        if (!data.includes('"workerReply"')) super.send(data);
      }
    }
    const define = (client: Tidegate) =>
      client.createFunction({ id: 'fn', retries: 0, triggers: { event: 'flush/go' } }, () => 'flushed');
    await shopOf('flush', define, { WebSocket: LosesReplies });
    expect(await ended(await send('flush/go'))).to.include({ status: 'Completed', output: 'flushed' });
  });

  it('moves to another gateway when its own shuts down, with its calls', async () => {
    const web = await service.startWeb();
    service.webs.pop();
    proxy.target = Number(web.port);
    const { promise: release, resolve } = Promise.withResolvers<void>();
    let started = 0;
    const shop = await shopOf('move', (client) =>
      client.createFunction({ id: 'fn', retries: 0, triggers: { event: 'move/go' } }, async () => {
        started++;
        await release;
        return 'moved';
      }),
    );
    const eventId = await send('move/go');
    await until(() => started > 0, { describe: 'the call is in flight' });
    proxy.target = Number(service.webs[1]?.port);
    await web.stop();
    expect(shop.states).to.deep.equal(['connecting', 'ready']);
    resolve();
    expect(await ended(eventId)).to.include({ status: 'Completed', output: 'moved' });
    expect(started).to.equal(1);
    expect(await ended(await send('move/go'))).to.include({ status: 'Completed' });
  });

  it('finishes its calls before it closes, and accepts no others', async () => {
    const { promise: release, resolve } = Promise.withResolvers<void>();
    let started = 0;
    const define = (client: Tidegate) =>
      client.createFunction({ id: 'fn', triggers: { event: 'close/go' } }, async () => {
        started++;
        await release;
        return 'closed';
      });
    const old = await shopOf('close', define);
    const eventId = await send('close/go');
    await until(() => started > 0, { describe: 'the call is in flight' });
    const closed = old.connection.close();
    const status = async () => (await service.get('/v1/apps/close/connections')).body.data[0]?.status;
    await until(async () => (await status()) === 'paused', { describe: 'the connection is paused' });
    const waiting = await send('close/go');
    await service.stored(waiting);
    resolve();
    await closed;
    expect(old.states).to.deep.equal(['connecting', 'ready', 'closing', 'closed']);
    expect(await ended(eventId)).to.include({ status: 'Completed', output: 'closed' });
    expect(started).to.equal(1);
    await shopOf('close', define);
    expect(await ended(waiting)).to.include({ status: 'Completed', attempt: 0 });
  });

  it('leaves its calls, with their finished steps, to another instance when it is killed', async () => {
    const program = spawn(process.execPath, [join(import.meta.dirname, 'killed-app.ts')], {
      env: { ...process.env, SERVICE_DEV: service.url },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(program.stdout, 'data');
    const eventId = await send('killed/go');
    await until(() => program.exitCode !== null || program.signalCode !== null, {
      describe: 'the app has killed itself',
    });
    await shopOf('killed', (client) =>
      client.createFunction({ id: 'fn', retries: 1, triggers: { event: 'killed/go' } }, async ({ step }) => {
        const by = await step.run('first', () => 'the second');
        return step.run('second', () => `${by}, then the second`);
      }),
    );
    expect(await ended(eventId)).to.include({ status: 'Completed', output: 'the first, then the second' });
  });

  it('cannot connect without a WebSocket, and says where to get one', async () => {
    const client = new Tidegate({ id: 'none', isDev: true });
    const { WebSocket } = globalThis;
    Reflect.deleteProperty(globalThis, 'WebSocket');
    const error = await connect({ client, functions: [] }).catch((thrown) => thrown);
    globalThis.WebSocket = WebSocket;
    expect(error.message).to.include('Node has from version 22').and.to.include("from 'ws'");
  });
});

describe('The TypeScript client that may not connect', () => {
  it('learns why at once', async () => {
    const service = await startService({ dev: false });
    try {
      const options = { id: 'shop', baseUrl: service.url, logger: quiet };
      const stranger = new Tidegate({ ...options, signingKey: 'signkey-test-00' });
      const unnamed = new Tidegate({ ...options, id: 'x'.repeat(500), signingKey: service.env.SIGNING_KEY as string });
      for (const [client, code] of [
        [stranger, 'credentials_invalid'],
        [unnamed, 'registration_invalid'],
      ] as const) {
        const error = await connect({ client, functions: [] }).catch((thrown) => thrown);
        expect(error).to.be.instanceOf(ConnectError);
        expect(error.code, error.message).to.equal(code);
      }
    } finally {
      await service.stop();
    }
  });
});
