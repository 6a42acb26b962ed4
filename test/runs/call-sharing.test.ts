import { expect } from 'chai';
import { hashedKey } from '../../src/functions/signing.ts';
import { type AppHost, type HostResponse, startAppHost } from '../support/app-host.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const CONCURRENCY = 20;
const ENV = { RUN_CONCURRENCY: String(CONCURRENCY), RETRY_SCALE: '0.0005' };

/** A function that does not respond until the test lets it. */
class Hanging {
  readonly #barrier = Promise.withResolvers<HostResponse>();
  inFlight = 0;
  most = 0;

  readonly handler = async (): Promise<HostResponse> => {
    this.most = Math.max(this.most, ++this.inFlight);
    const response = await this.#barrier.promise;
    this.inFlight--;
    return response;
  };

  respond(): void {
    this.#barrier.resolve({ body: 'at last' });
  }
}

describe('The sharing of calls in flight', () => {
  let service: Service;
  const hosts: AppHost[] = [];
  const hanging: Hanging[] = [];
  beforeEach(async () => {
    service = await startService({ dev: false, env: ENV });
  });
  afterEach(async () => {
    for (const one of hanging.splice(0)) one.respond();
    await service.stop();
    await Promise.all(hosts.splice(0).map((host) => host.close()));
  });

  async function app(appName: string, fnId: string, event: string, headers?: Record<string, string>) {
    const host = await startAppHost();
    hosts.push(host);
    const response = await host.register(service, [{ id: fnId, triggers: [{ event }] }], {
      appName,
      ...(headers && { headers }),
    });
    expect(response.status, JSON.stringify(response.body)).to.equal(200);
    return host;
  }
  function hang(host: AppHost, fnId: string): Hanging {
    const one = new Hanging();
    hanging.push(one);
    host.on(fnId, one.handler);
    return one;
  }
  const many = (name: string, count: number) => Array.from({ length: count }, () => ({ name, data: {} }));
  const send = (name: string, count = 1) => service.post(service.eventPath, many(name, count));

  async function branch(name: string) {
    await service.post('/v1/environments', { name, kind: 'branch' }, service.apiHeaders);
    const { body } = await service.get(`/v1/environments/${name}/signing-key`);
    const key = await service.post('/v1/event-keys', { name, environment: 'branches' }, service.apiHeaders);
    const selecting = { 'x-service-env': name };
    return {
      headers: { ...selecting, authorization: `Bearer ${hashedKey(body.data.current)}` },
      send: (event: string, count: number) => service.post(`/e/${key.body.data.secret}`, many(event, count), selecting),
    };
  }

  it('allows calls of production while hundreds of calls of a branch hang and more wait', async () => {
    const feature = await branch('feature');
    const branchHost = await app('shop', 'slow', 'branch/slow', feature.headers);
    const slow = hang(branchHost, 'slow');
    const host = await app('shop', 'quick', 'shop/quick');
    expect((await feature.send('branch/slow', 400)).status).to.equal(200);
    await until(() => slow.inFlight >= CONCURRENCY / 4, { describe: 'calls of the branch hang' });
    for (let n = 0; n < 5; n++) {
      await send('shop/quick');
      await host.nextCall('quick');
    }
    expect(slow.most).to.be.at.most(CONCURRENCY / 2);
  });

  it('allows calls of an app of production while another app hangs, which loses no attempt', async () => {
    const slowHost = await app('slow', 'f', 'slow/x');
    const slow = hang(slowHost, 'f');
    const quickHost = await app('quick', 'f', 'quick/x');
    const { body } = await send('slow/x', 150);
    await until(() => slow.inFlight >= CONCURRENCY / 2, { describe: 'calls of the slow app hang' });
    await send('quick/x');
    await quickHost.nextCall('f');
    expect(slow.most).to.be.below(CONCURRENCY);
    slow.respond();
    await until(() => slowHost.calls('f').length === 150, {
      describe: 'all of the slow app is called',
    });
    for (const id of body.ids) {
      const run = await service.waitFor(`/v1/events/${id}/runs`, (response) => response.body.data?.[0]?.ended_at);
      expect(run.body.data[0].status).to.equal('Completed');
    }
    expect(slowHost.calls('f').map((call) => call.body.ctx.attempt)).to.deep.equal(Array(150).fill(0));
    expect(slowHost.calls('f').length).to.equal(150);
  });

  it('allows calls of a branch while another branch hangs', async () => {
    const [one, other] = await Promise.all([branch('one'), branch('other')]);
    const oneHost = await app('shop', 'f', 'branch/x', one.headers);
    const slow = hang(oneHost, 'f');
    const otherHost = await app('shop', 'f', 'branch/x', other.headers);
    await one.send('branch/x', 200);
    await until(() => slow.inFlight >= CONCURRENCY / 4, { describe: 'calls of the branch hang' });
    await other.send('branch/x', 1);
    await otherHost.nextCall('f');
  });

  it('gives a single app nearly all calls in flight, and completes them all', async () => {
    const host = await app('alone', 'f', 'alone/x');
    let inFlight = 0;
    let most = 0;
    host.on('f', async () => {
      most = Math.max(most, ++inFlight);
      await new Promise((resolve) => setImmediate(resolve));
      inFlight--;
      return {};
    });
    await send('alone/x', 400);
    await until(() => host.calls('f').length === 400, { describe: 'all are called' });
    expect(most).to.be.within(2, CONCURRENCY - 1);
  });

  it('slows an app that responds with 503, shows it as slowed, and speeds up when it has recovered', async () => {
    const host = await app('sick', 'f', 'sick/x');
    let well = false;
    let inFlight = 0;
    const peaks: number[] = [];
    host.on('f', async () => {
      peaks.push(++inFlight);
      await new Promise((resolve) => setTimeout(resolve, 5));
      inFlight--;
      return well
        ? {}
        : { status: 503, body: { name: 'Overloaded', message: 'too much' }, headers: { 'retry-after': '1' } };
    });
    await send('sick/x', 300);
    // How many calls arrive together at first, and until the responses are noticed, depends on the machine's load.
    await until(() => peaks.length >= 100 && Math.max(...peaks.slice(-50)) <= 2, {
      describe: () => `it is called less; the last were ${peaks.slice(-50)}`,
    });
    expect(Math.max(...peaks)).to.be.above(2);
    const shown = await service.waitFor('/v1/apps', ({ body }) => body.data[0].slowed);
    expect(shown.body.data[0].slowed).to.include({ by: 'overload', max: CONCURRENCY });
    expect(shown.body.data[0].slowed.limit).to.be.at.most(2);
    well = true;
    await until(() => inFlight > 4, { describe: 'it is called more again' });
    await service.waitFor('/v1/apps', ({ body }) => body.data[0].slowed?.limit !== 1);
  });

  it('lets a worker with waiting calls shut down, and other workers make these calls', async () => {
    const host = await app('slow', 'f', 'slow/x');
    const slow = hang(host, 'f');
    const { body } = await send('slow/x', 60);
    await until(() => slow.inFlight >= CONCURRENCY / 2, { describe: 'calls hang' });
    const stopped = service.workers.shift()?.stop();
    slow.respond();
    await stopped;
    await service.startWorker();
    for (const id of body.ids) {
      await service.waitFor(`/v1/events/${id}/runs`, (response) => response.body.data?.[0]?.status === 'Completed');
    }
    expect(host.calls('f').length).to.equal(60);
  });
});
