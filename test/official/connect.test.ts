import { expect } from 'chai';
import type { HostProgram } from '../support/program.ts';
import { type Service, startService } from '../support/service.ts';
import type { ServiceProcess } from '../support/service-process.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';
import { CONNECTED, type OfficialApp } from './hosts.ts';
import { type Loose, Outside } from './outside.ts';
import { failsForGood, SCENARIOS } from './scenarios.ts';

const INSTALL_MS = 900_000;

describe('A connected app of the official SDK', () => {
  let service: Service;
  before(async () => {
    service = await startService({
      processes: 'web',
      env: { RETRY_SCALE: '0.0005', SHUTDOWN_GRACE_SECONDS: '8' },
      dev: false,
    });
  });
  after(() => service?.stop());

  for (const official of CONNECTED) {
    // Version 3 speaks the wire as version 4 does.
    if (official.sdk === 'TypeScript 3' && !process.env.TEST_ALL) continue;
    describe(`(${official.sdk})`, () => describeApp(official, () => service));
  }
});

function describeApp(official: OfficialApp, serviceOf: () => Service): void {
  let service: Service;
  let proxy: TcpProxy;
  let host: HostProgram;
  let outside: Outside;
  before(async function () {
    this.timeout(INSTALL_MS);
    await official.install();
    service = serviceOf();
    proxy = await TcpProxy.start(service.webs[0]?.port as number);
    outside = new Outside(service, official.app);
    host = await official.start(service, undefined, proxy.url);
  });
  after(async () => {
    // The Python SDK (0.5.19) does not always end in time after a connection that broke; then it is killed.
    await host?.stop().catch(() => undefined);
    await proxy?.stop();
  });
  afterEach(function () {
    const error = this.currentTest?.state === 'failed' ? this.currentTest.err : undefined;
    if (error) error.stack += `\n\nOutput of the app:\n${host.output().slice(-8_000)}`;
  });

  const connectionsPath = `/v1/apps/${official.app}/connections`;

  it('is registered and connected', async () => {
    const { url, functions } = (await service.get(`/v1/apps/${official.app}`)).body.data;
    expect(url).to.equal('wss://connect');
    expect(functions.length).to.be.above(SCENARIOS.length);
    const [connection] = (await service.get(connectionsPath)).body.data;
    expect(connection).to.include({ status: 'ready', calls: 0 });
    const { body } = await service.post(`/v1/apps/${official.app}/check`, undefined, service.apiHeaders);
    expect(body.data.problems).to.deep.equal([]);
  });

  for (const { title, fn, data, during, output } of SCENARIOS) {
    if (official.lacks?.[fn] !== undefined) continue;
    it(title, async () => {
      const eventId = await outside.send(fn, data);
      await during?.(outside, eventId);
      const put = await outside.output(eventId);
      if (typeof output === 'function') await output(put, outside);
      else expect(put).to.deep.equal(output);
    });
  }

  it('has its failure handler called when a run fails permanently', () => failsForGood(outside));

  it('shares its calls with another instance, and loses none when that shuts down', async () => {
    const second = await official.start(service);
    const ids = await Promise.all(Array.from({ length: 6 }, () => outside.send('slow', { n: 3 })));
    // On a busy machine the first calls end before the last ones begin.
    await service.waitFor(
      connectionsPath,
      ({ body }) => body.data.length === 2 && body.data.every(({ calls }: Loose) => calls > 0),
    );
    await second.stop();
    for (const id of ids) {
      const run = await outside.endedRun(id);
      expect(run).to.include({ status: 'Completed', attempt: 0 });
    }
  });

  for (const [what, end] of [
    ['shuts down', (web) => web.stop()],
    ['dies', (web) => web.kill()],
  ] as [string, (web: ServiceProcess) => Promise<void>][]) {
    if (what === 'dies' && official.lacks?.brokenConnection !== undefined) continue;
    it(`continues a call when its web process ${what}`, async () => {
      const next = await service.startWeb();
      const id = await outside.send('slow', { n: 9 });
      await service.waitFor(connectionsPath, ({ body }) => body.data[0]?.calls === 1);
      const [web] = service.webs.splice(0, service.webs.length, next);
      proxy.target = next.port as number;
      await end(web as ServiceProcess);
      const run = await outside.endedRun(id);
      expect(run).to.include({ status: 'Completed', attempt: 0 });
      expect(run.output).to.deep.equal({ slept: 9 });
      await service.waitFor(connectionsPath, ({ body }) => body.data.length === 1);
    });
  }
}
