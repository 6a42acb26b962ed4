import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { expect } from 'chai';
import { startGoHost } from '../support/go.ts';
import type { HostProgram } from '../support/program.ts';
import { startPythonHost } from '../support/python.ts';
import { type Service, startService } from '../support/service.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';
import { until } from '../support/until.ts';

const CLIENT = {
  name: 'python-client',
  requirements: resolve(import.meta.dirname, '../../clients/python/requirements-dev.txt'),
};
/** On a busy machine an instance needs seconds to be back. */
const SETTINGS = { CONNECT_LEASE_SECONDS: '60' };

/** Each connects by its client, through the proxy. */
const PROGRAMS: Record<string, (env: Record<string, string>) => Promise<HostProgram>> = {
  python: (env) => startPythonHost('connected.py', env, CLIENT),
  go: (env) => startGoHost('connected', './connected', env),
};

/** A step of the app is a request here. The second one waits until it is released. */
class Steps {
  ran: string[] = [];
  #released = Promise.withResolvers<void>();
  readonly #server = createServer(async (request, response) => {
    const name = request.url?.slice(1) ?? '';
    this.ran.push(name);
    if (name === 'b') await this.#released.promise;
    response.end(name);
  });

  /** @returns its URL */
  async listen(): Promise<string> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  forget(): void {
    this.ran = [];
    this.#released = Promise.withResolvers<void>();
  }

  release(): void {
    this.#released.resolve();
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((closed) => this.#server.close(closed));
  }
}

/** The gateway's heartbeats, of which three may be missing. The frame keeps its length. */
const impatient = (bytes: Buffer) =>
  Buffer.from(bytes.toString('latin1').replace('"heartbeatInterval":"10s"', '"heartbeatInterval":"01s"'), 'latin1');

describe('Over a connection that breaks', function () {
  // The first run installs and compiles.
  this.timeout(600_000);
  const steps = new Steps();
  let service: Service;
  let stepsUrl: string;
  before(async () => {
    service = await startService({ processes: 'web', env: SETTINGS });
    stepsUrl = await steps.listen();
  });
  after(async () => {
    await service?.stop();
    await steps.close();
  });

  for (const [language, startProgram] of Object.entries(PROGRAMS)) {
    describe(`an app of the ${language} client`, () => {
      let proxy: TcpProxy;
      let app: HostProgram;
      before(async () => {
        proxy = await TcpProxy.start(Number(service.webs[0]?.port), impatient);
        app = await startProgram({ SERVICE_DEV: proxy.url, STEPS_URL: stepsUrl });
        await reached('connecting', 'ready');
      });
      beforeEach(() => steps.forget());
      after(async () => {
        await app?.stop();
        await proxy?.stop();
      });
      afterEach(function () {
        const error = this.currentTest?.state === 'failed' ? this.currentTest.err : undefined;
        if (error) error.stack += `\n\nOutput of the app:\n${app.output()}`;
      });

      const STATES = ['connecting', 'ready', 'reconnecting', 'closing', 'closed'];
      /** The last states of the app. */
      async function reached(...last: string[]): Promise<void> {
        const states = () =>
          app
            .output()
            .split('\n')
            .filter((line) => STATES.includes(line));
        await until(() => states().slice(-last.length).join() === last.join(), {
          describe: () => `the app is ${last.join(', then ')}: ${states()}`,
        });
      }

      /** The first step of a run is stored, and the second one is in progress. @returns the event's ID */
      async function inSecondStep(): Promise<string> {
        const eventId = (await service.post('/e/key', { name: `connected/${language}`, data: {} })).body.ids[0];
        await until(() => steps.ran.includes('b'), { describe: () => `the second step begins after ${steps.ran}` });
        return eventId;
      }

      /** Each step has run once, in one call. */
      async function ends(eventId: string): Promise<void> {
        const ended = await service.waitFor(`/v1/events/${eventId}/runs`, ({ body }) => body.data[0]?.ended_at);
        expect(ended.body.data[0]).to.deep.include({ status: 'Completed', attempt: 0, output: ['a', 'b', 'c'] });
        expect(steps.ran).to.deep.equal(['a', 'b', 'c']);
      }

      it('continues its call after the connection is cut', async () => {
        const eventId = await inSecondStep();
        proxy.cut();
        await reached('ready', 'reconnecting', 'ready');
        steps.release();
        await ends(eventId);
      });

      it('stores a step that ends while there is no connection', async () => {
        const eventId = await inSecondStep();
        proxy.cut();
        steps.release();
        await ends(eventId);
        await reached('reconnecting', 'ready');
      });

      it('leaves a connection that is open and silent, and continues its call over the next', async () => {
        const eventId = await inSecondStep();
        proxy.freeze();
        await reached('ready', 'reconnecting');
        proxy.cut();
        await reached('ready', 'reconnecting', 'ready');
        steps.release();
        await ends(eventId);
      });

      it('continues its call when the service is killed and started again', async () => {
        const eventId = await inSecondStep();
        await service.webs.shift()?.kill();
        await reached('ready', 'reconnecting');
        proxy.target = Number((await service.startWeb()).port);
        await reached('ready', 'reconnecting', 'ready');
        steps.release();
        await ends(eventId);
      });
    });
  }
});
