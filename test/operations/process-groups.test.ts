import { once } from 'node:events';
import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { listProcesses } from '../../scripts/lib/processes.ts';
import { restartDelayMs } from '../../src/supervision/restart-delay.ts';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { type ProgramResult, run } from '../support/program.ts';
import { connectRedis, deleteKeys, freshPrefix, redisUrl } from '../support/redis.ts';
import { scrape } from '../support/scrape.ts';
import { SECRETS, type Service, startService } from '../support/service.ts';
import type { ServiceProcess } from '../support/service-process.ts';
import { until } from '../support/until.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const EVENT = JSON.stringify({ name: 'group/x', data: {} });
const TOKEN = 'metrics-token-0123456789';
const COUNT = 2;

const childrenOf = (parent: number) => listProcesses().filter((process) => process.parent === parent);
const isAlive = (pid: number) => listProcesses().some((process) => process.pid === pid);

interface LogLine {
  msg: string;
  process?: number;
  port?: number;
  request_id?: string;
}

const linesOf = (web: ServiceProcess): LogLine[] =>
  web
    .output()
    .split('\n')
    .map((line) => JSON.parse(line));

/** A client with one connection, which it keeps open. */
class Client {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #port: number;

  constructor(port: number) {
    this.#port = port;
  }

  /** @throws Node's error when the connection breaks */
  async send(path: string, body: string): Promise<IncomingMessage> {
    const headers = { 'content-type': 'application/json' };
    const options = { agent: this.#agent, host: '127.0.0.1', port: this.#port, path, method: 'POST', headers };
    const [response] = (await once(request(options).end(body), 'response')) as [IncomingMessage];
    await once(response.resume(), 'end');
    return response;
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** Opens connections until it has one to each process. Linux chooses the process; its log line about a rejected request
 *  tells which it is. */
async function oneClientEach(web: ServiceProcess): Promise<Client[]> {
  const clients = new Map<number, Client>();
  while (clients.size < COUNT) {
    const client = new Client(web.port as number);
    const { headers } = await client.send('/e/', '');
    const line = () => linesOf(web).find((line) => line.request_id === headers['x-request-id']);
    const { process } = await until(line, { describe: 'the request is logged' });
    if (clients.has(process as number)) client.close();
    else clients.set(process as number, client);
  }
  return [...clients].sort(([a], [b]) => a - b).map(([, client]) => client);
}

/** A request that a process has begun to read, on a connection of its own. */
class HeldRequest {
  readonly #request: ClientRequest;
  readonly response: Promise<IncomingMessage>;

  private constructor(sent: ClientRequest, response: Promise<IncomingMessage>) {
    this.#request = sent;
    this.response = response;
  }

  static async start(port: number, path: string): Promise<HeldRequest> {
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(EVENT),
      expect: '100-continue',
    };
    const sent = request({ agent: false, host: '127.0.0.1', port, path, method: 'POST', headers });
    const response = once(sent, 'response').then(([response]: IncomingMessage[]) =>
      (response as IncomingMessage).resume(),
    );
    response.catch(() => {});
    sent.flushHeaders();
    await once(sent, 'continue');
    return new HeldRequest(sent, response);
  }

  async finish(): Promise<number | undefined> {
    this.#request.end(EVENT);
    return (await this.response).statusCode;
  }
}

describe('Several processes in one container (WEB_CONCURRENCY, WORKER_CONCURRENCY)', () => {
  let service: Service;
  const start = async (env: Record<string, string> = {}, dev = true) => {
    service = await startService({ dev, workers: 0, env: { WEB_CONCURRENCY: String(COUNT), ...env } });
    return service.webs[0] as ServiceProcess;
  };
  const hold = (count: number) =>
    Promise.all(
      Array.from({ length: count }, () => HeldRequest.start(service.webs[0]?.port as number, service.eventPath)),
    );

  const isClosed = () =>
    fetch(service.url).then(
      () => false,
      () => true,
    );

  describe('web', () => {
    afterEach(() => service.stop());

    it('shares one port among all processes, which number their log lines; one logs the link for the first admin', async () => {
      const web = await start({ LOG_LEVEL: 'info' }, false);
      const clients = await oneClientEach(web);
      const isReady = ({ msg }: LogLine) => msg === 'ready';
      await until(() => linesOf(web).filter(isReady).length > COUNT, { describe: 'each says that it is ready' });
      const ready = linesOf(web).filter(isReady);
      expect(ready.map(({ process }) => process)).to.have.members([1, 2, undefined]);
      expect(new Set(ready.map(({ port }) => port))).to.deep.equal(new Set([web.port]));
      await service.logs('/set-up?token=');
      expect(web.output().match(/\/set-up\?token=/g)).to.have.length(1);
      for (const client of clients) client.close();
    });

    it('replaces a killed process without affecting requests on connections to the others', async () => {
      const web = await start({ LOG_LEVEL: 'info' });
      const clients = await oneClientEach(web);
      let isOver = false;
      const succeeded = clients.map(() => 0);
      const failed = clients.map(() => 0);
      const sending = clients.map(async (client, index) => {
        while (!isOver) {
          const status = await client.send(service.eventPath, EVENT).then(
            ({ statusCode }) => statusCode,
            () => undefined,
          );
          const counts = status === 200 ? succeeded : failed;
          counts[index] = (counts[index] ?? 0) + 1;
        }
        client.close();
      });
      const allSucceed = () => {
        const enough = succeeded.map((count) => count + 20);
        const check = () => succeeded.every((count, i) => count > (enough[i] as number));
        return until(check, { describe: 'every client gets responses' });
      };
      await allSucceed();
      const before = childrenOf(web.pid);
      process.kill(before.find(({ command }) => /web\.[jt]s 2$/.test(command))?.pid as number, 'SIGKILL');
      const readyAgain = () => linesOf(web).filter(({ msg, process }) => msg === 'ready' && process === 2).length === 2;
      await until(readyAgain, { describe: 'another process replaces it' });
      await allSucceed();
      isOver = true;
      await Promise.all(sending);
      expect(failed[0], 'of the connection to the other process').to.equal(0);
      expect(failed[1]).to.be.greaterThan(0);
      expect(childrenOf(web.pid)).to.have.length(COUNT);
      const replaced = linesOf(web).filter(({ msg }) => msg === 'a process ended; another replaces it');
      expect(replaced).to.have.length(1);
      expect(replaced[0]).to.include({ process: 2, exit_code: 137, delay_ms: 0 });
    });

    it('does not start on a port that another program uses', async () => {
      const other = createServer().listen(0, '127.0.0.1');
      await once(other, 'listening');
      const { port } = other.address() as AddressInfo;
      service = await startService({ workers: 0, webs: 0, env: { WEB_CONCURRENCY: '2', PORT: String(port) } });
      const failure = await service.startWeb().catch((error: Error) => error);
      other.close();
      expect(String(failure))
        .to.include('(exit code 1)')
        .and.match(/PORT: cannot listen on \S+: listen EADDRINUSE/);
      expect(String(failure)).to.include('Stop the process that has the port, or set another PORT');
    });

    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      it(`responds to its requests after ${signal} and frees the port, even if each process gets the signal twice, as on Heroku`, async () => {
        const web = await start();
        const held = await hold(8);
        const children = childrenOf(web.pid);
        for (const { pid } of children) process.kill(pid, signal);
        const stopped = web.stop();
        await until(isClosed, { describe: 'the port is closed' });
        expect(await Promise.all(held.map((event) => event.finish()))).to.deep.equal(Array(8).fill(200));
        await stopped;
        service.webs.length = 0;
        expect(children.filter(({ pid }) => isAlive(pid))).to.deep.equal([]);
        const server = createServer().listen(web.port, '127.0.0.1');
        await once(server, 'listening');
        server.close();
      });
    }

    it('responds to its requests when each process gets one signal after another', async () => {
      const web = await start();
      const held = await hold(8);
      const children = childrenOf(web.pid);
      const stopped = web.stop();
      // Until they have shut down: none may come while a process does not listen to it.
      let isOver = false;
      const signalling = (async () => {
        while (!isOver) {
          for (const { pid } of children) {
            try {
              process.kill(pid, 'SIGTERM');
            } catch {
              // It has ended.
            }
          }
          // Each process needs time to shut down, also on a busy machine.
          await setTimeout(1);
        }
      })();
      await until(isClosed, { describe: 'the port is closed' });
      isOver = true;
      await signalling;
      expect(await Promise.all(held.map((event) => event.finish()))).to.deep.equal(Array(8).fill(200));
      await stopped;
      service.webs.length = 0;
    });

    it('ends at once on a second signal', async () => {
      const web = await start();
      const held = await hold(8);
      const children = childrenOf(web.pid);
      process.kill(web.pid, 'SIGTERM');
      await until(isClosed, { describe: 'it shuts down' });
      expect(web.running()).to.equal(true);
      process.kill(web.pid, 'SIGTERM');
      await until(() => !web.running(), { describe: 'it has ended' });
      await Promise.allSettled(held.map(({ response }) => response));
      await until(() => children.every(({ pid }) => !isAlive(pid)), { describe: 'its processes have ended' });
      service.webs.length = 0;
    });

    it('shuts down in order when the supervisor is killed', async () => {
      const web = await start();
      const held = await hold(8);
      const children = childrenOf(web.pid);
      await web.kill();
      await until(isClosed, { describe: 'the port is closed' });
      expect(await Promise.all(held.map((event) => event.finish()))).to.deep.equal(Array(8).fill(200));
      await until(() => children.every(({ pid }) => !isAlive(pid)), { describe: 'its processes have ended' });
    });

    it('counts all processes in one scrape, including ended ones, and the values of Redis once', async () => {
      const web = await start({ METRICS_PORT: '0', METRICS_TOKEN: TOKEN, TRANSFORM_THREADS: '2' });
      const headers = { authorization: `Bearer ${TOKEN}` };
      const send = async () => {
        const held = await hold(8);
        await Promise.all(held.map((event) => event.finish()));
      };
      const urls = [`http://127.0.0.1:${web.metricsPort}`, service.url];
      await send();
      for (const url of urls) {
        const read = () => scrape(url, headers);
        const counted = { route: '/e/:key', status: '2xx' };
        const metrics = await until(
          async () =>
            [await read()].find(
              (one) =>
                one.value('tidegate_processes', { kind: 'web' }) === COUNT &&
                one.value('tidegate_http_requests_total', counted) === 8,
            ),
          { describe: 'each has sent its heartbeat, and all requests are counted' },
        );
        expect(metrics.value('tidegate_events_accepted_total', { duplicate: 'false' })).to.equal(8);
        expect(metrics.value('tidegate_transform_threads')).to.equal(2 * COUNT);
        expect(metrics.value('tidegate_redis_up')).to.equal(1);
        expect(metrics.value('tidegate_build_info')).to.equal(1);
        expect(metrics.value('process_resident_memory_bytes')).to.be.greaterThan(COUNT * 80e6);
      }
      const [killed] = childrenOf(web.pid);
      process.kill(killed?.pid as number, 'SIGKILL');
      await until(() => web.output().includes('another replaces it'), { describe: 'one is replaced' });
      await send();
      for (const url of urls) {
        const accepted = async () =>
          (await scrape(url, headers)).value('tidegate_events_accepted_total', { duplicate: 'false' });
        await until(async () => (await accepted()) === 16, { describe: 'the events of the ended one count, too' });
      }
    });
  });

  describe('workers', () => {
    let host: AppHost;
    before(async () => {
      host = await startAppHost();
    });
    after(() => host.close());

    it('run functions while one process is killed and replaced', async () => {
      const EVENTS = 40;
      service = await startService({ env: { WORKER_CONCURRENCY: '2', STALLED_AFTER_SECONDS: '1' } });
      try {
        const [worker] = service.workers as [ServiceProcess];
        await host.register(service, [{ id: 'f', triggers: [{ event: 'group/x' }] }]);
        host.on('f', () => ({ body: 'done' }));
        const send = async () => {
          const events = Array.from({ length: EVENTS }, () => ({ name: 'group/x', data: {} }));
          return (await service.post('/e/key', events)).body.ids as string[];
        };
        const ids = await send();
        const before = childrenOf(worker.pid).map(({ pid }) => pid);
        expect(before).to.have.length(2);
        process.kill(before[0] as number, 'SIGKILL');
        ids.push(...(await send()));
        for (const id of ids) {
          await service.waitFor(`/v1/events/${id}/runs`, ({ body }) => body.data?.[0]?.status === 'Completed');
        }
        await until(() => childrenOf(worker.pid).filter(({ pid }) => pid !== before[0]).length === 2, {
          describe: 'two workers run',
        });
      } finally {
        await service.stop();
      }
    });
  });

  describe('a wrong setting', () => {
    const prefix = freshPrefix();
    after(async () => {
      const redis = connectRedis();
      await deleteKeys(redis, prefix);
      redis.disconnect();
    });
    const start = (role: string, concurrency: string, env: Record<string, string>): Promise<ProgramResult> =>
      run('scripts/start', [role], {
        cwd: ROOT,
        env: {
          MODE: 'production',
          REDIS_URL: redisUrl(),
          KEY_PREFIX: prefix,
          PORT: '0',
          ...SECRETS,
          [`${role.toUpperCase()}_CONCURRENCY`]: concurrency,
          ...env,
        },
      });
    const messages = ({ output }: ProgramResult) => output.match(/ConfigError: .*|"err":.*/g);

    for (const role of ['web', 'worker']) {
      for (const [name, value] of [
        ['SECRET_KEY', 'short'],
        ['INGEST_DURABILITY', 'fsync'],
      ] as const) {
        it(`ends ${role} as a single process does, with one message (${name})`, async () => {
          const [single, group] = await Promise.all(['1', '3'].map((count) => start(role, count, { [name]: value })));
          expect([group?.exitCode, messages(group as ProgramResult)]).to.deep.equal([
            single?.exitCode,
            messages(single as ProgramResult),
          ]);
          expect(group?.exitCode).to.equal(1);
          expect(messages(group as ProgramResult)).to.have.length(1);
          expect(group?.output).to.include(name);
        });
      }
    }

    for (const value of ['0', '201', '1.5', 'many']) {
      it(`is WEB_CONCURRENCY=${value}`, async () => {
        const { exitCode, output } = await start('web', value, {});
        expect(exitCode).to.equal(1);
        expect(output.trimEnd().split('\n').at(-1)).to.include(`ConfigError: WEB_CONCURRENCY: got "${value}"`);
      });
    }
  });

  it('waits longer before each replacement of a process that ends soon', () => {
    const delays = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 100].map(restartDelayMs);
    expect(delays).to.deep.equal([0, 0, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  });
});
