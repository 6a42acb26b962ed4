import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { expect } from 'chai';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { type Service, startService } from '../support/service.ts';
import type { ServiceProcess } from '../support/service-process.ts';
import { follow } from '../support/stream.ts';
import { until } from '../support/until.ts';

const EVENT = JSON.stringify({ name: 'shutdown/x', data: {} });

/** A client with one keep-alive connection. */
class KeepAliveClient {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });

  /** @throws Node's error when the connection breaks, or cannot be opened */
  send(port: number | undefined, path: string, body = EVENT): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const headers = { 'content-type': 'application/json' };
      const sent = request(
        { agent: this.#agent, host: '127.0.0.1', port, path, method: 'POST', headers },
        (response) => {
          response.resume().on('end', () => resolve(response));
        },
      );
      sent.on('error', reject);
      sent.end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

describe('shutdown', () => {
  let service: Service;
  afterEach(() => service.stop());

  describe('web', () => {
    it('SIGTERM to one of two web processes breaks no request of clients with keep-alive connections', async () => {
      // Long enough for the load balancer below to notice, also on a busy machine.
      service = await startService({ processes: true, webs: 2, workers: 0, env: { SHUTDOWN_DRAIN_SECONDS: '3' } });
      const path = service.eventPath;
      const failures: string[] = [];
      let succeeded = 0;
      let isOver = false;
      /** Like a load balancer, it sends requests to the processes that are ready. */
      let ready = service.webs.map(({ port }) => port as number);
      async function balance(): Promise<void> {
        while (!isOver) {
          const asked = service.webs.map(async ({ port }) => {
            const isReady = await fetch(`http://127.0.0.1:${port}/readyz`).then(
              ({ ok }) => ok,
              () => false,
            );
            return isReady ? [port as number] : [];
          });
          ready = (await Promise.all(asked)).flat();
        }
      }
      async function client(index: number): Promise<void> {
        const connections = new Map<number, KeepAliveClient>();
        for (let turn = index; !isOver; turn++) {
          const port = ready[turn % ready.length] as number;
          const connection = connections.get(port) ?? new KeepAliveClient();
          connections.set(port, connection);
          const { statusCode } = await connection
            .send(port, path)
            .catch(({ message }: Error) => ({ statusCode: message }));
          if (statusCode === 200) succeeded++;
          else failures.push(`${statusCode} at ${port}`);
        }
        for (const connection of connections.values()) connection.close();
      }
      const balancing = balance();
      const clients = Array.from({ length: 8 }, (_, index) => client(index));
      const [first, second] = service.webs as [ServiceProcess, ServiceProcess];
      for (const old of [first, second]) {
        const enough = succeeded + 100;
        await until(() => succeeded > enough, { describe: 'requests are on their way' });
        await old.stop();
        service.webs.splice(service.webs.indexOf(old), 1);
        await service.startWeb();
      }
      const enough = succeeded + 100;
      await until(() => succeeded > enough, { describe: 'the new processes respond' });
      isOver = true;
      await Promise.all([...clients, balancing]);
      expect(failures).to.deep.equal([]);
    });

    it('after SIGTERM /readyz responds with 503, and requests get responses with connection: close', async () => {
      service = await startService({ processes: true, workers: 0, env: { SHUTDOWN_DRAIN_SECONDS: '1' } });
      const [web] = service.webs as [ServiceProcess];
      const kept = new KeepAliveClient();
      expect((await kept.send(web.port, service.eventPath)).headers.connection).to.equal('keep-alive');
      const stopped = web.stop();
      await until(async () => (await service.get('/readyz')).status === 503, { describe: '/readyz says 503' });
      const { statusCode, headers } = await kept.send(web.port, service.eventPath);
      expect([statusCode, headers.connection]).to.deep.equal([200, 'close']);
      await stopped;
      service.webs.length = 0;
      kept.close();
    });

    it('SIGTERM ends a web process with an idle connection, a stream and an incomplete request', async () => {
      service = await startService({ processes: true, workers: 0, env: { SHUTDOWN_GRACE_SECONDS: '1' } });
      const [web] = service.webs as [ServiceProcess];
      const kept = new KeepAliveClient();
      await kept.send(web.port, service.eventPath);
      const stream = await follow(`${service.url}/v1/stream`, service.apiHeaders);
      const half = request({ host: '127.0.0.1', port: web.port, path: service.eventPath, method: 'POST' });
      half.on('error', () => {});
      half.write('{"name":');
      await once(half, 'socket');
      await web.stop();
      service.webs.length = 0;
      stream.close();
      kept.close();
    });
  });

  describe('worker', () => {
    let host: AppHost;
    beforeEach(async () => {
      host = await startAppHost();
    });
    afterEach(() => host.close());

    it('SIGTERM to a worker releases calls in flight to another worker after the grace period, without using up an attempt', async () => {
      const CALLS = 100;
      service = await startService({
        processes: true,
        env: { SHUTDOWN_GRACE_SECONDS: '0.5', APP_CONCURRENCY_PERCENT: '100' },
      });
      const [first] = service.workers as [ServiceProcess];
      let isHanging = true;
      host.on('f', () => (isHanging ? new Promise(() => {}) : { body: 'done' }));
      await host.register(service, [{ id: 'f', triggers: [{ event: 'hang/x' }], retries: 0 }]);
      const events = Array.from({ length: CALLS }, () => ({ name: 'hang/x', data: {} }));
      const { ids } = (await service.post('/e/key', events)).body;
      await until(() => host.calls('f').length === CALLS, { describe: 'all calls are in flight' });
      await first.stop();
      service.workers.length = 0;
      isHanging = false;
      await service.startWorker();
      for (const id of ids) {
        const { body } = await service.waitFor(
          `/v1/events/${id}/runs`,
          ({ body }) => body.data?.[0]?.status !== 'Running',
        );
        expect(body.data.map((run: { status: string }) => run.status)).to.deep.equal(['Completed']);
      }
      const calls = host.calls('f');
      expect(calls).to.have.length(2 * CALLS);
      expect(new Set(calls.map(({ body }) => body.ctx.attempt))).to.deep.equal(new Set([0]));
    });
  });
});
