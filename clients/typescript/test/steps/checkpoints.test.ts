/** Checkpoints beside the cases of clients/conformance/checkpoints.json. */
import type { RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { type Checkpoint, Tidegate } from 'tidegate';
import { serve } from 'tidegate/node';
import { type Service, startService } from '../../../../test/support/service.ts';
import { until } from '../../../../test/support/until.ts';
import { type FakeService, useServers } from '../servers.ts';
import { type AnyContext, hostFunction } from './app.ts';

const quiet = { debug() {}, info() {}, warn() {}, error() {} };

describe('Checkpoints of a TypeScript function', () => {
  const { listen, startService: startFake } = useServers();
  const closers: (() => void)[] = [];
  afterEach(() => {
    for (const close of closers.splice(0)) close();
  });

  async function host(handler: (context: AnyContext) => unknown, sendTo: string, checkpoint?: Checkpoint) {
    const { call, close } = await hostFunction(handler, { sendTo, ...(checkpoint && { checkpoint }) });
    closers.push(close);
    return () => call({ checkpoints: true });
  }

  const two = async ({ step }: AnyContext) => [await step.run('a', () => 1), await step.run('b', () => 2)];
  const stored = ({ requests }: FakeService) =>
    requests
      .filter(({ url }) => url.startsWith('/v1/checkpoint/'))
      .map(({ body }) => JSON.parse(body).steps.map(({ name }: { name: string }) => name));

  it('store the buffer before it is full when its results are large', async () => {
    const service = await startFake({ body: {} });
    const large = async ({ step }: AnyContext) => {
      for (const id of ['a', 'b', 'c', 'd', 'e']) await step.run(id, () => 'x'.repeat(600_000));
    };
    const call = await host(large, service.url, { buffer: 100 });
    expect((await call()).ops.map(({ displayName }) => displayName)).to.deep.equal(['e', 'complete']);
    expect(stored(service)).to.deep.equal([
      ['a', 'b'],
      ['c', 'd'],
    ]);
  });

  it('store a result as it was returned, even if the function changes it later', async () => {
    const service = await startFake({ body: {} });
    const changing = async ({ step }: AnyContext) => {
      const list = await step.run('a', () => [1]);
      list.push(2);
      return list;
    };
    const { body } = await (await host(changing, service.url, { buffer: 2 }))();
    expect([body[0].data, body[1].data]).to.deep.equal([[1], [1, 2]]);
  });

  it('of calls at the same time share requests, each with its own status', async () => {
    const waiting: (() => void)[] = [];
    const bodies: { url: string; body: { run_id?: string; checkpoints?: { steps: { data: number }[] }[] } }[] = [];
    const url = await listen(async (req, res) => {
      const body = JSON.parse(await text(req));
      bodies.push({ url: req.url ?? '', body });
      if (bodies.length <= 2) await new Promise<void>((resolve) => waiting.push(resolve));
      const refuses = ({ steps: [step] }: { steps: { data: number }[] }) => step?.data === 3;
      const results = body.checkpoints?.map((one: never) => ({ status: refuses(one) ? 409 : 200 }));
      res.end(JSON.stringify({ results }));
    });
    let count = 0;
    const call = await host(async ({ step }: AnyContext) => {
      const number = count++;
      return step.run('a', () => number);
    }, url);
    const calls = [call(), call()];
    await until(() => bodies.length === 2, { describe: () => `${bodies.length} requests` });
    for (const _ of [1, 2, 3]) calls.push(call());
    await until(() => count === 5, { describe: () => `${count} calls` });
    for (const respond of waiting) respond();
    const responses = await Promise.all(calls);
    expect(responses.map(({ status }) => status)).to.have.members([200, 200, 200, 200, 206]);
    expect(bodies.map(({ url }) => url.split('/')[2])).to.deep.equal(['checkpoint', 'checkpoint', 'checkpoints']);
    const [, , group] = bodies;
    expect(group?.body.checkpoints?.map(({ steps: [step] }) => step?.data)).to.have.members([2, 3, 4]);
  });

  it('have a request each at a service that is older than shared ones', async () => {
    const urls: string[] = [];
    const url = await listen(async (req, res) => {
      urls.push(req.url?.split('/')[2] ?? '');
      await text(req);
      res.writeHead(req.url === '/v1/checkpoints' ? 404 : 200).end('{}');
    });
    const call = await host(two, url);
    const responses = await Promise.all(Array.from({ length: 8 }, call));
    expect(responses.map(({ status }) => status)).to.deep.equal(Array.from({ length: 8 }, () => 200));
    expect(urls.filter((name) => name === 'checkpoint')).to.have.length(16);
    expect(urls.filter((name) => name === 'checkpoints')).to.have.length.within(1, 2);
  });

  it('pause for a while when the service does not support them', async () => {
    const service = await startFake({ status: 404, body: {} });
    const call = await host(two, service.url);
    for (const _ of [1, 2, 3]) expect((await call()).ops).to.deep.equal([{ op: 'StepRun', displayName: 'a' }]);
    expect(stored(service)).to.deep.equal([['a']]);
  });

  it('are tried again in the next call after the service failed', async () => {
    const service = await startFake({ status: 503, body: {} }, { body: {} });
    const call = await host(two, service.url);
    expect((await call()).status).to.equal(206);
    expect((await call()).body).to.deep.equal([1, 2]);
  });

  it('send the lines logged so far, so that each step has the limit of a call', async () => {
    const service = await startFake({ body: {} });
    const logging = async ({ step, logger }: AnyContext) => {
      for (const id of ['a', 'b']) {
        await step.run(id, () => {
          for (let n = 0; n < 200; n++) logger.info(id);
        });
      }
    };
    const { call, close } = await hostFunction(logging, { sendTo: service.url, logger: quiet });
    closers.push(close);
    await call({ checkpoints: true });
    const batches = () =>
      service.requests.filter(({ url }) => url.endsWith('/logs')).map(({ body }) => JSON.parse(body));
    await until(() => batches().length === 2, { describe: 'both batches arrive' });
    expect(batches().map(({ lines, dropped }) => [lines.length, dropped])).to.deep.equal([
      [200, 0],
      [200, 0],
    ]);
  });
});

for (const mode of ['dev mode', 'production'] as const) {
  describe(`A real service in ${mode}`, () => {
    const { listen } = useServers();
    let service: Service;
    before(async () => {
      service = await startService({ dev: mode === 'dev mode' });
    });
    after(async () => service?.stop());

    it('runs all steps of a TypeScript function in one call, unless the function opts out', async () => {
      const { EVENT_KEYS: eventKey = '', SIGNING_KEY: signingKey = '' } = service.env;
      const keys = service.dev ? {} : { eventKey, signingKey };
      const client = new Tidegate({ id: 'shop', isDev: service.dev, baseUrl: service.url, ...keys });
      const calls = new Map<string, number>();
      const on = (id: string, checkpoint?: Checkpoint) =>
        client.createFunction({ id, triggers: { event: `shop/${id}` }, checkpoint }, async ({ step }) => {
          calls.set(id, (calls.get(id) ?? 0) + 1);
          return [await step.run('a', () => 1), await step.run('b', () => 2), await step.run('c', () => 3)];
        });
      const functions = [on('default'), on('buffer', { buffer: 2 }), on('off', false), on('short', { maxRuntime: 0 })];
      let handler: RequestListener | undefined;
      const serveOrigin = await listen((req, res) => handler?.(req, res));
      handler = serve({ client, functions, serveOrigin });
      const registered = await fetch(`${serveOrigin}/api/service`, { method: 'PUT' });
      expect(registered.status, await registered.text()).to.equal(200);
      for (const { id } of functions) {
        const { ids } = await client.send({ name: `shop/${id}`, data: {} });
        const path = `/v1/events/${ids[0]}/runs`;
        const { body } = await service.waitFor(path, ({ body }) => body.data?.[0]?.ended_at);
        expect([body.data[0].status, body.data[0].output]).to.deep.equal(['Completed', [1, 2, 3]]);
        const { data } = (await service.get(`/v1/runs/${body.data[0].run_id}`)).body;
        const steps = data.history.filter(({ kind }: { kind: string }) => kind === 'step');
        expect(steps.map(({ name }: { name: string }) => name)).to.deep.equal(['a', 'b', 'c']);
      }
      expect([...calls]).to.deep.equal([
        ['default', 1],
        ['buffer', 1],
        ['off', 4],
        ['short', 4],
      ]);
    });
  });
}
