/** Durable endpoints of the official TypeScript SDK: HTTP handlers with steps. */
import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { Inngest, NonRetriableError, step } from 'inngest';
import { stream } from 'inngest/experimental/durable-endpoints';
import { fetchWithStream } from 'inngest/experimental/durable-endpoints/client';
import { createEndpointServer, endpointAdapter, serve as serveFunctions } from 'inngest/node';
import { sign } from '../../src/functions/signing.ts';
import { type Service, startService } from '../support/service.ts';
import type { Loose } from './outside.ts';

/** fetch writes the Host header itself. */
async function forge(
  url: string,
  headers: Record<string, string>,
  body: string,
): Promise<{ status: number | undefined }> {
  const forged = request(url, { method: 'POST', headers });
  forged.end(body);
  const [response] = await once(forged, 'response');
  response.resume();
  return { status: response.statusCode };
}

const silent = { info() {}, warn() {}, error() {}, debug() {} };

for (const mode of ['dev mode', 'production'] as const) {
  describe(`In ${mode}, a durable endpoint of the official TypeScript SDK`, () => {
    let service: Service;
    const servers: Server[] = [];

    before(async () => {
      service = await startService({ env: { RETRY_SCALE: '0.0005' }, dev: mode === 'dev mode' });
    });
    let ended = new AbortController();
    afterEach(async () => {
      // The SDK leaves the stream of a call open that does not end the run.
      ended.abort();
      ended = new AbortController();
      for (const server of servers.splice(0)) {
        server.closeAllConnections();
        server.close();
        await once(server, 'close');
      }
    });
    after(() => service?.stop());

    function clientOf(options: Loose): Inngest {
      const { EVENT_KEYS: eventKey = '', SIGNING_KEY: signingKey = '' } = service.env;
      return new Inngest({
        id: 'endpoints',
        baseUrl: service.url,
        isDev: service.dev,
        logger: silent,
        fetch: (url: Loose, init: Loose) => fetch(url, { ...init, signal: ended.signal }),
        // The adapter keeps the options that it got before.
        endpointAdapter: endpointAdapter.withOptions({ asyncResponse: 'redirect', ...options }) as Loose,
        ...(!service.dev && { eventKey, signingKey }),
      });
    }

    async function serve(handler: (request: Request) => Promise<Loose>, options: Loose = {}): Promise<string> {
      const client = clientOf(options);
      const server = createEndpointServer((client.endpoint as Loose)(handler));
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      servers.push(server);
      const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      if (!service.dev)
        await service.request('PUT', '/v1/allowed-origins/endpoints', { origins: [origin] }, service.apiHeaders);
      return `${origin}/api/demo`;
    }

    async function runOf(url: string, method = 'GET'): Promise<Loose> {
      const functionId = encodeURIComponent(`${new URL(url).host}-${method} /api/demo`);
      const path = `/v1/runs?function_id=${functionId}`;
      const { body } = await service.waitFor(path, ({ body }) => body.data?.[0]?.ended_at);
      return (await service.get(`/v1/runs/${body.data[0].run_id}`)).body.data;
    }

    const stepsOf = ({ history }: Loose) =>
      history.filter(({ kind }: Loose) => kind === 'step').map(({ name, status }: Loose) => `${name} ${status}`);

    it('responds to its client itself when no step waits, and has a run', async () => {
      const url = await serve(async () => {
        const a = await step.run('a', () => 'hello');
        const b = await step.run('b', () => 'world');
        return Response.json(`${a} ${b}`, { status: 202 });
      });
      const response = await fetch(url);
      expect([response.status, await response.json()]).to.deep.equal([202, 'hello world']);
      const run = await runOf(url);
      expect([run.status, stepsOf(run)]).to.deep.equal(['Completed', ['a Completed', 'b Completed']]);
    });

    it('redirects its client to the response when it sleeps', async () => {
      let ran = 0;
      const url = await serve(async (request) => {
        const a = await step.run('a', () => {
          ran++;
          return new URL(request.url).searchParams.get('name');
        });
        await step.sleep('go async', '1s');
        const b = await step.run('b', () => 'world');
        return `${a} ${b}`;
      });
      const first = await fetch(`${url}?name=you`, { redirect: 'manual' });
      expect(first.status).to.equal(302);
      const location = first.headers.get('location') as string;
      expect(new URL(location).origin).to.equal(service.url);
      const response = await fetch(location);
      expect(response.status).to.equal(200);
      expect([response.headers.get('content-type'), await response.text()]).to.deep.equal([
        'application/json',
        '"you world"',
      ]);
      expect(ran).to.equal(1);
      const forged = await fetch(location.replace(/token=.*/, 'token=x.y.z'));
      expect(forged.status).to.equal(401);
      const run = await runOf(url);
      expect([run.output, stepsOf(run)]).to.deep.equal([
        'you world',
        ['a Completed', 'go async Completed', 'b Completed'],
      ]);
    });

    it('retries a step that fails', async () => {
      let attempts = 0;
      const url = await serve(async () =>
        step.run('flaky', () => {
          if (++attempts < 3) throw new Error('flaky');
          return attempts;
        }),
      );
      const response = await fetch(url);
      expect(response.status).to.equal(200);
      expect(await response.json()).to.equal(3);
    });

    it('runs steps in parallel', async () => {
      const url = await serve(async () => {
        const both = await Promise.all(['a', 'b'].map((id) => step.run(id, () => id)));
        return both.join('');
      });
      const response = await fetch(url);
      expect(await response.json()).to.equal('ab');
    });

    it('fails when its step fails permanently', async () => {
      const url = await serve(async () =>
        step.run('hopeless', () => {
          throw new NonRetriableError('hopeless');
        }),
      );
      const response = await fetch(url);
      expect(response.status).to.equal(500);
      const error = (await response.json()) as Loose;
      expect(error).to.have.property('name').that.is.a('string');
      expect(error.message).to.include('hopeless');
      const run = await runOf(url);
      expect([run.status, stepsOf(run)]).to.deep.equal(['Failed', ['hopeless Failed']]);
    });

    it('streams to its client, even after a sleep', async () => {
      const url = await serve(async () => {
        await step.run('a', () => stream.push('from a'));
        await step.sleep('nap', '1s');
        await step.run('b', () => stream.push('from b'));
        return Response.json('done', { status: 202 });
      });
      const chunks: unknown[] = [];
      const response = await fetchWithStream(url, {
        fetchOpts: { signal: ended.signal },
        onData: ({ data }: Loose) => chunks.push(data),
      });
      expect([response.status, await response.json()]).to.deep.equal([202, 'done']);
      expect(chunks).to.deep.equal(['from a', 'from b']);
    });

    if (mode === 'production') {
      it('is continued neither at another Host that its client wrote nor with a body that a function would accept', async () => {
        const url = await serve(async (request) => {
          await step.run('read', () => request.json());
          await step.sleep('nap', '1s');
          return 'done';
        });
        const response = await forge(url, { host: 'attacker.example' }, '{"total":1}');
        expect(response.status).to.equal(500);
        const id = encodeURIComponent('attacker.example-POST /api/demo');
        expect((await service.get(`/v1/functions/${id}`)).status).to.equal(404);

        const call = { event: { name: 'pay', data: { amount: 1 } }, events: [], steps: {}, ctx: { run_id: 'x' } };
        await fetch(url, { method: 'POST', body: JSON.stringify(call), redirect: 'manual' });
        const { status, error } = await runOf(url, 'POST');
        expect([status, error.name]).to.deep.equal(['Failed', 'EndpointRefused']);
        expect(error.message).to.include('"event"');
      });

      it('gets requests whose signatures cannot run a function of the app', async () => {
        const url = await serve(async () => {
          await step.sleep('nap', '1s');
          return 'done';
        });
        const signatures: string[] = [];
        servers.at(-1)?.on('request', ({ headers }) => {
          if (headers['x-inngest-signature']) signatures.push(String(headers['x-inngest-signature']));
        });
        let paid = 0;
        const client = clientOf({});
        const pay = client.createFunction({ id: 'pay', triggers: [{ event: 'pay' }] } as Loose, () => ++paid);
        const app = createServer(serveFunctions({ client, functions: [pay] }) as Loose).listen(0, '127.0.0.1');
        servers.push(app);
        await once(app, 'listening');
        const target = `http://127.0.0.1:${(app.address() as AddressInfo).port}/api/inngest?fnId=endpoints-pay&stepId=step`;
        const replay = (body: string, signature: string) =>
          fetch(target, { method: 'POST', body, headers: { 'x-inngest-signature': signature } });
        for (const [method, body = ''] of [
          ['POST', '{"total":1,"ctx":{"run_id":"x"}}'],
          ['PUT', '[{"event":{"name":"pay"}}]'],
          ['GET'],
        ] as const) {
          await fetch(url, { method, ...(body && { body }), redirect: 'manual' });
          expect((await runOf(url, method)).status).to.equal('Completed');
          expect(signatures).to.have.lengthOf.at.least(1);
          for (const signature of signatures.splice(0)) {
            expect((await replay(body, signature)).status).to.be.oneOf([401, 500]);
            expect((await replay('{"event":{"name":"pay","data":{}}}', signature)).status).to.equal(401);
          }
        }
        const call = '{"event":{"data":{},"name":"pay"},"events":[],"steps":{}}';
        expect((await replay(call, sign(call, service.env.SIGNING_KEY ?? '', Date.now()))).status).to.equal(200);
        expect(paid).to.equal(1);
      });
    }

    it('returns a token instead of a redirect', async () => {
      const url = await serve(
        async () => {
          await step.run('a', () => 1);
          await step.sleep('nap', '1s');
          return 'done';
        },
        { asyncResponse: 'token' },
      );
      const { run_id, token } = (await (await fetch(url)).json()) as Loose;
      const response = await fetch(`${service.url}/v1/http/runs/${run_id}/output?token=${token}`);
      expect(await response.json()).to.equal('done');
    });
  });
}
