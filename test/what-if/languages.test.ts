import { expect } from 'chai';
import { IN_PRODUCTION } from '../official/hosts.ts';
import { startGoHost } from '../support/go.ts';
import { request } from '../support/http.ts';
import type { HostProgram } from '../support/program.ts';
import { startPythonHost } from '../support/python.ts';
import { type Service, startService } from '../support/service.ts';

/** An app in another language: the same program is its candidate. */
interface Language {
  title: string;
  dev: boolean;
  install?(): Promise<unknown>;
  start(service: Service): Promise<HostProgram>;
  /** Events that start a run each; how many of them complete. */
  events: { name: string; data: object }[];
  completing: number;
}

const official = (sdk: 'Python' | 'Go'): Language => {
  const app = IN_PRODUCTION.find((item) => item.sdk === sdk);
  if (!app) throw new Error(`no app with the official SDK of ${sdk}`);
  const event = (fn: string) => ({ name: `${app.app}/${fn}`, data: { n: 3 } });
  const events = ['chain', 'branches', 'sends', 'waits'].map(event);
  return {
    title: `the official SDK of ${sdk}`,
    dev: false,
    install: () => app.install(),
    start: (service) => app.start(service),
    // `sends` starts a run of `receipt`.
    ...{ events, completing: 4 },
  };
};

const LANGUAGES: Language[] = [
  official('Python'),
  official('Go'),
  {
    title: 'our Python client',
    dev: true,
    start: ({ url }) => startPythonHost('together.py', { SERVICE_DEV: url }),
    events: [{ name: 'together/never-sent', data: { n: 21 } }],
    completing: 1,
  },
  {
    title: 'our Go client',
    dev: true,
    start: ({ url }) => startGoHost('together', '.', { SERVICE_DEV: url }),
    events: [{ name: 'together/listen', data: { n: 21 } }],
    completing: 0,
  },
];

for (const { title, dev, install, start, events, completing } of LANGUAGES) {
  describe(`What-if of an app with ${title}`, function () {
    // The first run installs and compiles.
    this.timeout(600_000);
    let service: Service;
    const hosts: HostProgram[] = [];

    before(async () => {
      await install?.();
      service = await startService({ dev });
    });
    after(async () => {
      for (const host of hosts) await host.stop();
      await service?.stop();
    });

    it('plans the same steps as before, and runs none', async () => {
      const present = await start(service);
      hosts.push(present);
      if (dev) expect((await request('PUT', present.url)).status).to.equal(200);
      else await service.post('/v1/apps', { url: present.url }, service.apiHeaders);
      await service.post(service.eventPath, events);
      await service.waitFor('/v1/runs?status=Completed', ({ body }) => body.data?.length === completing);
      const waiting = events.length + (dev ? 0 : 1) - completing;
      await service.waitFor('/v1/runs?state=waiting_for_event', ({ body }) => body.data?.length === waiting);
      const eventsBefore = (await service.get('/v1/events?limit=100')).body.data.length;

      const candidate = await start(service);
      hosts.push(candidate);
      const given = { url: candidate.url, last: '1d' };
      const { status, body } = await service.post('/v1/what-ifs', given, service.apiHeaders);
      expect(status, JSON.stringify(body)).to.equal(201);
      const path = `/v1/what-ifs/${body.data.id}`;
      const found = (await service.waitFor(path, ({ body: now }) => now.data?.status === 'done')).body.data;
      const checked = completing + waiting;
      expect(found, JSON.stringify(found)).to.deep.include({ checked, unchanged: checked, skipped: 0 });
      expect(found.triggers.problem).to.equal(null);
      expect(found.triggers.functions.filter(({ change }: { change: string | null }) => change)).to.deep.equal([]);
      expect((await service.get('/v1/events?limit=100')).body.data).to.have.length(eventsBefore);
      const [app] = (await service.get('/v1/apps')).body.data;
      expect(new URL(app.url).host).to.equal(new URL(present.url).host);
    });
  });
}
