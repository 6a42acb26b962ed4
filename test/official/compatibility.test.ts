import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect } from 'chai';
import { request } from '../support/http.ts';
import type { HostProgram } from '../support/program.ts';
import { type Service, startService } from '../support/service.ts';
import { expectEffect, ROWS, SDKS } from './compatibility.ts';
import { functionOf } from './feature-names.ts';
import { type Effect, PROBES, SHOWN_BY_SCENARIOS } from './features.ts';
import { FEATURES, IN_DEV_MODE, type OfficialApp, STREAMING } from './hosts.ts';
import { Outside } from './outside.ts';
import { SCENARIOS } from './scenarios.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const INSTALL_MS = 900_000;
const MINUTE_MS = 60_000;
const STREAMING_ROW = 'streaming responses';
const BRANCHES_ROW = 'branch environments';

interface ProbedApp {
  official: OfficialApp;
  host: HostProgram;
  /** By feature. */
  effects: ReadonlyMap<string, Promise<Effect>>;
}

describe('docs/compatibility.md', () => {
  let service: Service;
  let apps: ProbedApp[] = [];
  before(async function () {
    this.timeout(INSTALL_MS);
    service = await startService();
    apps = await Promise.all(FEATURES.map((official) => beginProbes(official, service)));
  });
  after(async () => {
    await Promise.all(apps.map(({ host }) => host.stop()));
    await service?.stop();
  });

  it('has a row for every tested feature, and no other', () => {
    const elsewhere = ROWS.filter((row) => row.shown_by).map(({ feature }) => feature);
    const tested = [...Object.keys(SHOWN_BY_SCENARIOS), ...Object.keys(PROBES), ...elsewhere];
    expect(ROWS.map(({ feature }) => feature)).to.have.members([...tested, STREAMING_ROW, BRANCHES_ROW]);
  });

  it('names a test for every feature that another test shows', () => {
    for (const { feature, shown_by } of ROWS) {
      if (!shown_by) continue;
      expect(existsSync(resolve(ROOT, shown_by.file)), `${feature}: ${shown_by.file}`).to.equal(true);
      expect(readFileSync(resolve(ROOT, shown_by.file), 'utf8'), feature).to.include(shown_by.title);
    }
  });

  it('has the versions that run here', () => {
    const sources = ['test/package.json', 'test/python/requirements.txt', 'test/go/official/go.mod'];
    const pinned = sources.map((file) => readFileSync(resolve(ROOT, file), 'utf8')).join('\n');
    for (const { name, version } of SDKS) expect(pinned, name).to.match(new RegExp(`inngest\\S*\\W+${version}\\b`));
  });

  it('says "acts" for every feature that a passing scenario shows', () => {
    for (const { name } of SDKS) {
      const lacks = IN_DEV_MODE.find((app) => app.sdk === name)?.lacks ?? {};
      for (const [feature, functions] of Object.entries(SHOWN_BY_SCENARIOS)) {
        const known = functions.every((fn) => fn === 'hopeless' || SCENARIOS.some((scenario) => scenario.fn === fn));
        expect(known, feature).to.equal(true);
        const has = functions.every((fn) => lacks[fn] === undefined) && lacks[feature] === undefined;
        expectEffect(feature, name, has ? 'acts' : '–');
      }
    }
  });

  for (const official of STREAMING) {
    it(`${official.sdk}: ${STREAMING_ROW}`, async () => {
      const host = await official.start(service);
      try {
        expect((await request('PUT', host.url)).status).to.equal(200);
        const outside = new Outside(service, official.app);
        const run = await outside.endedRun(await outside.send('streaming-responses', { ms: 0 }));
        expectEffect(STREAMING_ROW, official.sdk, run.status === 'Completed' ? 'acts' : 'not there');
        if (run.status === 'Completed') expect(run.output.events).to.equal(1);
      } finally {
        await host.stop();
      }
    });
  }

  for (const official of FEATURES) {
    const { sdk } = official;

    describe(sdk, () => {
      for (const feature of Object.keys(PROBES)) {
        it(feature, async function () {
          this.timeout(2 * MINUTE_MS);
          const probed = apps.find((app) => app.official === official);
          expectEffect(feature, sdk, await probed?.effects.get(feature));
        });
      }

      it(BRANCHES_ROW, async function () {
        this.timeout(INSTALL_MS);
        const branch = `branch-${sdk.toLowerCase().replace(' ', '-')}`;
        const host = await official.start(service, branch);
        try {
          expect((await request('PUT', host.url)).status).to.equal(200);
          const { status } = await service.get(`/v1/apps/${official.app}`, { 'x-service-env': branch });
          expectEffect(BRANCHES_ROW, sdk, status === 200 ? 'acts' : 'not there');
        } finally {
          await host.stop();
        }
      });
    });
  }
});

/** Has the app register, and begins all probes that it has a function for. They run side by side: one takes a minute. */
async function beginProbes(official: OfficialApp, service: Service): Promise<ProbedApp> {
  await official.install();
  const host = await official.start(service);
  const { status, body } = await request('PUT', host.url);
  expect(status, JSON.stringify(body)).to.equal(200);
  const { functions, unsupported } = (await service.get(`/v1/apps/${official.app}`)).body.data;
  expect(unsupported).to.deep.equal([]);
  const ids = new Set(functions.map(({ id }: { id: string }) => id));
  const outside = new Outside(service, official.app);
  const effects = new Map<string, Promise<Effect>>();
  for (const [feature, probe] of Object.entries(PROBES)) {
    const fn = functionOf(feature);
    const effect: Promise<Effect> = ids.has(`${official.app}-${fn}`) ? probe(outside, fn) : Promise.resolve('–');
    effect.catch(() => {});
    effects.set(feature, effect);
  }
  return { official, host, effects };
}
