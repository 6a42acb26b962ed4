import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { request } from '../support/http.ts';
import type { HostProgram } from '../support/program.ts';
import { type Service, startService } from '../support/service.ts';
import { ADDRESSES, type Effect, functionOf, PROBES, SHOWN_BY_SCENARIOS } from './features.ts';
import { FEATURES, IN_DEV_MODE, type OfficialApp, streamingNpm } from './hosts.ts';
import { Outside } from './outside.ts';
import { SCENARIOS } from './scenarios.ts';

const PAGE = readFileSync(new URL('../../docs/compatibility.md', import.meta.url), 'utf8');
const INSTALL_MS = 300_000;
const MINUTE_MS = 60_000;
const STREAMING = 'streaming responses';
const BRANCHES = 'branch environments';
const COLUMNS = ['TypeScript', 'Python', 'Go'] as const;
/** What is ignored is a field of the registered function. */
const KEPT = new Set(Object.keys(PROBES).filter((feature) => !['cron', 'checkpointing'].includes(feature)));

interface ProbedApp {
  host: HostProgram;
  /** By feature. */
  effects: ReadonlyMap<string, Promise<Effect>>;
}

/** Feature, and what the page says of it in each language. */
const rows = [...PAGE.matchAll(/^\| ([^|]+) \| (acts|ignored|refused|–) \| (\S+) \| (\S+) \|$/gm)].map(
  ([, feature = '', ...cells]) => ({ feature: plain(feature), cells: cells as Effect[] }),
);

/** `step.run` of "`step.run`"; "large state" of "large state (more than …)"; "`if` of triggers" as it is. */
function plain(cell: string): string {
  const [, code] = /^`([^`]+)`(?:$| \(|,)/.exec(cell) ?? [];
  return code ?? (/^(?:catching a step|[^(,]+?)(?='s| \(|,|$)/.exec(cell)?.[0] as string);
}

describe('docs/compatibility.md', () => {
  let service: Service;
  /** In the order of the columns. */
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
    const tested = [...Object.keys(SHOWN_BY_SCENARIOS), ...Object.keys(ADDRESSES), ...Object.keys(PROBES)];
    expect(rows.map(({ feature }) => feature)).to.have.members([...tested, STREAMING, BRANCHES]);
  });

  it('says "acts" for every feature that a passing scenario shows', () => {
    for (const [column, language] of COLUMNS.entries()) {
      const lacks = IN_DEV_MODE.find((app) => app.language === language)?.lacks ?? {};
      for (const [feature, functions] of Object.entries(SHOWN_BY_SCENARIOS)) {
        const known = functions.every((fn) => fn === 'hopeless' || SCENARIOS.some((scenario) => scenario.fn === fn));
        expect(known, feature).to.equal(true);
        const has = functions.every((fn) => lacks[fn] === undefined) && lacks[feature] === undefined;
        expect([language, feature, cell(feature, column)]).to.deep.equal([language, feature, has ? 'acts' : '–']);
      }
    }
  });

  it('says "refused" for every feature whose endpoint the service lacks', async () => {
    for (const [feature, path] of Object.entries(ADDRESSES)) {
      const { status } = await service.post(path, {});
      expect(status, path).to.equal(404);
      for (const column of COLUMNS.keys()) expect(cell(feature, column), feature).to.equal('refused');
    }
  });

  it('says "refused" for streaming responses of TypeScript', async () => {
    const host = await streamingNpm(service);
    try {
      expect((await request('PUT', host.url)).status).to.equal(200);
      const outside = new Outside(service, 'official-npm-streaming');
      const run = await outside.endedRun(await outside.send('streaming-responses', { ms: 0 }));
      expect([run.status, run.error.message]).to.satisfy(([status, message]: string[]) => {
        return status === 'Failed' && message?.includes('status 201');
      });
      expect(rows.find(({ feature }) => feature === STREAMING)?.cells).to.deep.equal(['refused', '–', '–']);
    } finally {
      await host.stop();
    }
  });

  for (const official of FEATURES) {
    const column = COLUMNS.indexOf(official.language);

    describe(official.language, () => {
      for (const feature of Object.keys(PROBES)) {
        it(`${feature}: ${cell(feature, column)}`, async function () {
          this.timeout(2 * MINUTE_MS);
          expect(await apps[column]?.effects.get(feature)).to.equal(cell(feature, column));
        });
      }

      it(`branch environments: ${cell(BRANCHES, column)}`, async function () {
        this.timeout(INSTALL_MS);
        const branch = `branch-${official.language.toLowerCase()}`;
        const host = await official.start(service, branch);
        try {
          expect((await request('PUT', host.url)).status).to.equal(200);
          const { status } = await service.get(`/v1/apps/${official.app}`, { 'x-service-env': branch });
          expect(status === 200 ? 'acts' : 'ignored', host.output()).to.equal(cell(BRANCHES, column));
        } finally {
          await host.stop();
        }
      });

      it('stores every ignored option with the function', async () => {
        for (const { feature, cells } of rows) {
          if (cells[column] !== 'ignored' || !KEPT.has(feature)) continue;
          const { body } = await service.get(`/v1/functions/${official.app}-${functionOf(feature)}`);
          const names = Object.keys(body.data.configuration).map((name) => name.toLowerCase());
          expect(names, feature).to.include(feature.toLowerCase());
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
  const { functions } = (await service.get(`/v1/apps/${official.app}`)).body.data;
  const ids = new Set(functions.map(({ id }: { id: string }) => id));
  const outside = new Outside(service, official.app);
  const effects = new Map<string, Promise<Effect>>();
  for (const [feature, probe] of Object.entries(PROBES)) {
    const fn = functionOf(feature);
    const effect: Promise<Effect> = ids.has(`${official.app}-${fn}`) ? probe(outside, fn) : Promise.resolve('–');
    effect.catch(() => {});
    effects.set(feature, effect);
  }
  return { host, effects };
}

function cell(feature: string, column: number): Effect | undefined {
  return rows.find((row) => row.feature === feature)?.cells[column];
}
