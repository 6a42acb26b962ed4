import { expect } from 'chai';
import { advanceClock } from 'tidegate/test';
import { cli, cliOk } from '../support/cli.ts';
import { startGoHost } from '../support/go.ts';
import { request } from '../support/http.ts';
import { type HostProgram, startHost } from '../support/program.ts';
import { startPythonHost } from '../support/python.ts';
import { type Service, startService } from '../support/service.ts';
import { sendTo, startUntil, statesOf } from '../support/waiting-runs.ts';

interface Language {
  title: string;
  app: string;
  /** Its SDK cannot say that its runs are pinned: a setting does. */
  isSet?: boolean;
  start(env: Record<string, string>): Promise<HostProgram>;
}

const inTypeScript = (name: string, app: string) => (env: Record<string, string>) =>
  startHost(process.execPath, ['versions-host.ts', name, app], { cwd: import.meta.dirname, env });

const LANGUAGES: Language[] = [
  { title: 'the official TypeScript SDK', app: 'official', isSet: true, start: inTypeScript('inngest', 'official') },
  { title: 'our TypeScript client', app: 'versions-ts', start: inTypeScript('tidegate', 'versions-ts') },
  { title: 'our Python client', app: 'versions-py', start: (env) => startPythonHost('versions.py', env) },
  { title: 'our Go client', app: 'versions-go', start: (env) => startGoHost('versions', './versions', env) },
];

describe('Three versions of an app', function () {
  // The first run installs and compiles.
  this.timeout(600_000);
  let service: Service;
  /** By version. */
  const hosts = new Map<string, HostProgram>();
  before(async () => {
    service = await startService({ processes: true });
  });
  afterEach(async function () {
    const error = this.currentTest?.state === 'failed' ? this.currentTest.err : undefined;
    if (error)
      error.stack += [...hosts].map(([version, { output }]) => `\n\nOutput of ${version}:\n${output()}`).join('');
    for (const version of [...hosts.keys()]) await stop(version);
  });
  after(() => service.stop());

  async function stop(version: string): Promise<void> {
    const host = hosts.get(version);
    hosts.delete(version);
    await host?.stop();
  }

  const output = async ({ run_id }: { run_id: string }) => {
    const { body } = await service.waitFor(`/v1/runs/${run_id}`, (response) => response.body.data.ended_at !== null);
    return body.data.output;
  };

  for (const { title, app, isSet, start } of LANGUAGES) {
    it(`with ${title}: runs end where they began, versions drain and are stopped, one comes back, and runs move`, async () => {
      const deploy = async (version: string) => {
        const host = await start({ SERVICE_DEV: service.url, INNGEST_DEV: service.url, TEST_VERSION: version });
        hosts.set(version, host);
        expect((await request('PUT', host.url)).status).to.equal(200);
      };
      const states = async () => statesOf((await cliOk(['deploys', 'list', '--app', app, '--json'], { service })).json);
      const waits = () => startUntil(service, 'waiting_for_event', `${app}/start`);
      const sleeps = () => startUntil(service, 'sleeping', `${app}/nap`);
      const goOn = async () => {
        await sendTo(service, `${app}/go`);
        await advanceClock(service.url, '31m');
      };

      await deploy('v1');
      if (isSet) await service.request('PATCH', `/v1/apps/${app}`, { versioning: 'pinned' });
      const onFirst = [await waits(), await sleeps()];
      await deploy('v2');
      const onSecond = [await waits(), await sleeps()];
      const moved = [await waits(), await sleeps()];
      await deploy('v3');
      const onThird = [await waits(), await sleeps()];
      expect(await states()).to.deep.equal({ v1: 'draining', v2: 'draining', v3: 'active' });
      const early = await cli(['deploys', 'wait', 'v1', '--app', app, '--timeout', '1s'], { service });
      expect(early.exitCode).to.equal(6);
      for (const { run_id } of moved) {
        expect((await service.post(`/v1/runs/${run_id}/move`, { version: 'v3' })).status).to.equal(200);
      }
      await goOn();
      for (const run of onFirst) expect(await output(run)).to.deep.equal({ first: 'v1', last: 'v1' });
      for (const run of onSecond) expect(await output(run)).to.deep.equal({ first: 'v2', last: 'v2' });
      for (const run of onThird) expect(await output(run)).to.deep.equal({ first: 'v3', last: 'v3' });
      for (const run of moved) expect(await output(run)).to.deep.equal({ first: 'v2', last: 'v3' });

      await cliOk(['deploys', 'wait', 'v1', '--app', app, '--drained'], { service });
      await stop('v1');
      await cliOk(['deploys', 'activate', 'v2', '--app', app, '--yes'], { service });
      const between = [await waits(), await sleeps()];
      expect(await states()).to.deep.equal({ v1: 'drained', v2: 'active', v3: 'drained' });
      await cliOk(['deploys', 'activate', 'v3', '--app', app, '--yes'], { service });
      const move = ['deploys', 'move', '--app', app, '--from', 'v2', '--to', 'v3', '--yes'];
      expect((await cliOk(move, { service })).stdout).to.match(/2 of 2 moved/);
      await cliOk(['deploys', 'wait', 'v2', '--app', app], { service });
      await stop('v2');
      await goOn();
      for (const run of between) expect(await output(run)).to.deep.equal({ first: 'v2', last: 'v3' });
      expect(await states()).to.deep.equal({ v1: 'drained', v2: 'drained', v3: 'active' });
    });
  }
});
