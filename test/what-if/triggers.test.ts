import { expect } from 'chai';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { cli } from '../support/cli.ts';
import { startHost } from '../support/program.ts';
import { type Service, startService } from '../support/service.ts';

const EVENTS = 30;
const sized = (id: string, above: number) => ({
  id,
  triggers: [{ event: 'order/paid', expression: `event.data.total > ${above}` }],
});
const PRESENT = [
  { id: 'same', triggers: [{ event: 'order/paid' }] },
  sized('filtered', 19),
  { id: 'moved', triggers: [{ event: 'order/*' }] },
  { id: 'old', triggers: [{ event: 'order/paid' }] },
];
const CANDIDATE = [
  { id: 'same', triggers: [{ event: 'order/paid' }] },
  sized('filtered', 9),
  { id: 'moved', triggers: [{ event: 'order/none' }] },
  { id: 'fresh', triggers: [{ event: 'order/paid' }] },
];

describe('Triggers in a what-if', () => {
  let service: Service;
  let present: AppHost;
  let candidate: AppHost;

  before(async () => {
    service = await startService();
    [present, candidate] = await Promise.all([startAppHost(), startAppHost()]);
    for (const { id } of PRESENT) present.on(id, () => ({ status: 200, body: null }));
    await present.register(service, PRESENT, { appName: 'shop' });
    const events = Array.from({ length: EVENTS }, (_, total) => ({ name: 'order/paid', data: { total } }));
    await service.post(service.eventPath, [...events, { name: 'other/heard-by-nobody', data: {} }]);
    await service.waitFor('/v1/events?name=order/paid&limit=100', ({ body }) => body.data?.length === EVENTS);
  });
  after(async () => {
    await Promise.all([present.close(), candidate.close()]);
    await service.stop();
  });

  async function whatIf() {
    const { status, body: responseBody } = await service.post('/v1/what-ifs', { url: candidate.url });
    expect(status, JSON.stringify(responseBody)).to.equal(201);
    return responseBody.data;
  }

  it('shows how many of the sampled events would start each function, and which functions come and go', async () => {
    candidate.offer(service, CANDIDATE, { appName: 'shop' });
    const { triggers } = await whatIf();
    expect(triggers).to.deep.include({ problem: null, sampled: EVENTS, complete: true });
    const found = triggers.functions.map((fn: Record<string, unknown>) =>
      ['id', 'change', 'received', 'sampled', 'present', 'candidate'].map((field) => fn[field]),
    );
    expect(found).to.have.deep.members([
      ['shop-same', null, EVENTS, EVENTS, EVENTS, EVENTS],
      ['shop-filtered', null, EVENTS, EVENTS, 10, 20],
      ['shop-moved', null, EVENTS, EVENTS, EVENTS, 0],
      ['shop-old', 'removed', EVENTS, EVENTS, EVENTS, 0],
      ['shop-fresh', 'added', EVENTS, EVENTS, 0, EVENTS],
    ]);
  });

  it('shows which ticks changed schedules would have more and fewer', async () => {
    const daily = { id: 'report', triggers: [{ cron: 'TZ=UTC 0 9 * * *' }] };
    const workdays = { id: 'report', triggers: [{ cron: 'TZ=UTC 0 9 * * 1-5' }, { cron: 'TZ=UTC 30 9 * * 1' }] };
    await present.register(service, [...PRESENT, daily], { appName: 'shop' });
    candidate.offer(service, [...CANDIDATE, workdays], { appName: 'shop' });
    const { functions } = (await whatIf()).triggers;
    const { schedules } = functions.find(({ id }: { id: string }) => id === 'shop-report');
    expect(schedules).to.deep.include({ present: 7, candidate: 6, complete: true });
    expect([schedules.more.count, schedules.fewer.count]).to.deep.equal([1, 2]);
    const [latest] = schedules.fewer.latest;
    expect([new Date(latest).getUTCDay() % 6, latest.slice(11)]).to.deep.equal([0, '09:00:00.000Z']);
    const { stdout } = await cli(['what-if', '--app', candidate.url], { service });
    expect(stdout).to.include('"shop-report": its schedules would have ticked 6 times, and did 7 times; 1 more, ');
    await present.register(service, PRESENT, { appName: 'shop' });
  });

  it('registers nothing, and the app can register again', async () => {
    const { body } = await service.get('/v1/apps');
    expect(body.data.map(({ name, url }: { name: string; url: string }) => [name, url])).to.deep.equal([
      ['shop', present.url],
    ]);
    const { body: functions } = await service.get('/v1/functions');
    expect(functions.data.map(({ id }: { id: string }) => id))
      .to.include('shop-old')
      .and.not.include('shop-fresh');
    await present.register(service, PRESENT, { appName: 'shop' });
  });

  it('are in the report of tidegate what-if, and --fail-on takes them', async () => {
    candidate.offer(service, CANDIDATE, { appName: 'shop' });
    const args = ['what-if', '--app', candidate.url];
    const line = 'would start 20 of the 30 sampled events, now 10 (30 received)';
    const text = await cli([...args, '--fail-on', 'changed-triggers'], { service });
    expect(text.exitCode, text.stderr).to.equal(7);
    expect(text.stdout).to.include('1 functions as before, 4 not').and.include(`"shop-filtered": ${line}`);
    const markdown = await cli([...args, '--markdown'], { service });
    expect(markdown.exitCode).to.equal(0);
    expect(markdown.stdout).to.include(`- \`shop-filtered\`: ${line}`).and.include('- `shop-fresh`: added; ');
    const { json } = await cli(['--json', ...args, '--no-triggers'], { service });
    expect(json.triggers).to.equal(null);
  });

  it('are not compared if the candidate is another app or does not register, and the report says why', async () => {
    candidate.offer(service, CANDIDATE, { appName: 'other' });
    const other = (await whatIf()).triggers;
    expect([other.since, other.functions]).to.deep.equal([null, []]);
    expect(other.problem).to.include('the candidate registers as "other"');
    expect((await service.get('/v1/apps')).body.data).to.have.length(1);
  });

  it('of a candidate that registers with the URL of the app do not become those of the app', async () => {
    const own = candidate.registration;
    candidate.registration = (functions, options) => present.registration(functions, options);
    candidate.offer(service, CANDIDATE, { appName: 'shop' });
    candidate.registration = own;
    expect((await whatIf()).triggers).to.deep.include({ problem: null, sampled: EVENTS });
    const ids = (await service.get('/v1/functions')).body.data.map(({ id }: { id: string }) => id);
    expect(ids).to.include('shop-old').and.not.include('shop-fresh');
  });

  for (const sdk of ['inngest', 'inngest-3']) {
    it(`of a candidate with ${sdk} that registers with the URL of the app do not become those of the app`, async () => {
      const { origin } = new URL(present.url);
      const args = ['host.ts', sdk, 'shop', '2', '{}'];
      const names = { INNGEST_SERVE_HOST: origin, INNGEST_SERVE_ORIGIN: origin };
      const env = { WHAT_IF_SERVICE: service.url, WHAT_IF_KEYS: JSON.stringify({ eventKey: 'any' }), ...names };
      const host = await startHost(process.execPath, args, { cwd: import.meta.dirname, env });
      try {
        const { body } = await service.post('/v1/what-ifs', { url: host.url });
        expect(body.data.triggers.problem).to.equal(null);
        expect(body.data.triggers.functions.map(({ id }: { id: string }) => id)).to.include.members([
          'shop-f0',
          'shop-f1',
        ]);
        const ids = (await service.get('/v1/functions')).body.data.map(({ id }: { id: string }) => id);
        expect(ids).to.include('shop-old').and.not.include('shop-f0');
      } finally {
        await host.stop();
      }
    });
  }

  it('do not hold up the app itself, which registers while the candidate is asked', async () => {
    candidate.offer(service, CANDIDATE, { appName: 'shop' });
    const deployed = await startAppHost();
    const asked = Promise.withResolvers<void>();
    candidate.beforePut = async () => {
      const { status, body } = await deployed.register(service, [...PRESENT, CANDIDATE[3] as never], {
        appName: 'shop',
      });
      expect([status, body.modified]).to.deep.equal([200, true]);
      asked.resolve();
    };
    try {
      expect((await whatIf()).triggers.problem).to.equal(null);
      await asked.promise;
      const { body } = await service.get('/v1/apps');
      expect(body.data[0].url).to.equal(deployed.url);
    } finally {
      candidate.beforePut = async () => {};
      await present.register(service, PRESENT, { appName: 'shop' });
      await deployed.close();
    }
  });
});
