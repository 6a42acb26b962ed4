import { expect } from 'chai';
import { cli } from '../support/cli.ts';
import { type HostProgram, startHost } from '../support/program.ts';
import { type Service, startService } from '../support/service.ts';
import type { Change } from './shapes.ts';

const FUNCTIONS = 12;
const RUNS_EACH = 3;
/** Of a candidate: what was changed in which function. */
const SEEDED: Record<number, Change> = {
  1: 'renamed',
  2: 'removed',
  3: 'inserted',
  4: 'output',
  5: 'throws',
  6: 'gone',
  8: 'removed',
};
const ACTIVE: Record<Change, string | undefined> = {
  renamed: 'broken results_unused',
  removed: 'broken results_unused',
  inserted: 'changed new_step',
  output: undefined,
  throws: 'broken throws',
  gone: 'broken function_gone',
};
const PAST: Record<Change, string> = {
  renamed: 'changed new_step',
  removed: 'changed results_unused',
  inserted: 'changed new_step',
  output: 'changed other_output',
  throws: 'broken throws',
  gone: 'broken function_gone',
};

for (const client of ['tidegate', 'inngest', 'inngest-3']) {
  describe(`What-if of an app with ${client}`, () => {
    const app = `what-if-${client}`;
    let service: Service;
    const hosts: HostProgram[] = [];

    async function start(changes: Record<number, Change> = {}): Promise<HostProgram> {
      const { EVENT_KEYS: eventKey, SIGNING_KEY: signingKey } = service.env;
      const env = { WHAT_IF_SERVICE: service.url, WHAT_IF_KEYS: JSON.stringify({ eventKey, signingKey }) };
      const args = ['host.ts', client, app, String(FUNCTIONS), JSON.stringify(changes)];
      const host = await startHost(process.execPath, args, { cwd: import.meta.dirname, env });
      hosts.push(host);
      return host;
    }

    async function executionsOf({ url }: HostProgram) {
      return (await (await fetch(new URL('/executions', url))).json()) as { executions: number; whatIfCalls: number };
    }

    async function whatIf(body: object) {
      const { status, body: responseBody } = await service.post('/v1/what-ifs', body, service.apiHeaders);
      expect(status, JSON.stringify(responseBody)).to.equal(201);
      const path = `/v1/what-ifs/${responseBody.data.id}`;
      return (await service.waitFor(path, ({ body: now }) => now.data?.status === 'done', 120_000)).body.data;
    }

    before(async () => {
      service = await startService({ dev: false });
      const present = await start();
      const { status, body } = await service.post('/v1/apps', { url: present.url }, service.apiHeaders);
      expect(status, JSON.stringify(body)).to.equal(200);
      const events = Array.from({ length: FUNCTIONS * RUNS_EACH * 2 }, (_, i) => ({
        name: `what-if/${i % FUNCTIONS}`,
        data: { n: i, waits: i >= FUNCTIONS * RUNS_EACH },
      }));
      await service.post(service.eventPath, events);
      const count = FUNCTIONS * RUNS_EACH;
      await service.waitFor(`/v1/runs?status=Completed&limit=100`, ({ body: now }) => now.data?.length === count);
      await service.waitFor(
        `/v1/runs?state=waiting_for_event&limit=100`,
        ({ body: now }) => now.data?.length === count,
      );
    });
    after(async () => {
      await Promise.all(hosts.map((host) => host.stop()));
      await service.stop();
    });

    it('the same code changes nothing, and runs no step', async () => {
      const candidate = await start();
      const found = await whatIf({ url: candidate.url, last: '7d' });
      expect(found.functions.filter((fn: { examples: unknown[] }) => fn.examples.length > 0)).to.deep.equal([]);
      const count = 2 * FUNCTIONS * RUNS_EACH;
      expect(found).to.deep.include({ checked: count, unchanged: count, changed: 0, broken: 0, skipped: 0 });
      const { problem, functions } = found.triggers;
      expect(problem).to.equal(null);
      expect(functions).to.have.length(FUNCTIONS);
      for (const { change, present, candidate: there } of functions) {
        expect([change, there]).to.deep.equal([null, present]);
        expect(present).to.equal(2 * RUNS_EACH);
      }
      const { executions, whatIfCalls } = await executionsOf(candidate);
      expect(executions).to.equal(0);
      expect(whatIfCalls).to.be.above(count);
    });

    it('every change of the code is found in the runs of its function, in no other, and no step runs', async () => {
      const candidate = await start(SEEDED);
      const found = await whatIf({ url: candidate.url, last: '7d' });
      expect(found.functions).to.have.length(FUNCTIONS);
      for (const { id, active, past, examples } of found.functions) {
        const n = Number(id.slice(`${app}-f`.length));
        const change = SEEDED[n];
        const expected = (kind: string | undefined) => {
          const [result, cause] = kind?.split(' ') ?? [];
          const none = { unchanged: RUNS_EACH, changed: 0, broken: 0, causes: {} };
          return cause
            ? { ...none, unchanged: 0, [result as string]: RUNS_EACH, causes: { [cause]: RUNS_EACH } }
            : none;
        };
        expect(active, `active runs of ${id}: ${JSON.stringify(examples)}`).to.deep.include(
          expected(change && ACTIVE[change]),
        );
        expect(past, `past runs of ${id}: ${JSON.stringify(examples)}`).to.deep.include(
          expected(change && PAST[change]),
        );
      }
      expect((await executionsOf(candidate)).executions).to.equal(0);
    });

    it('nothing of it is stored with the runs', async () => {
      const { body } = await service.get('/v1/runs?state=waiting_for_event&limit=100');
      expect(body.data).to.have.length(FUNCTIONS * RUNS_EACH);
      const { body: apps } = await service.get('/v1/apps');
      expect(apps.data).to.have.length(1);
      expect(apps.data[0].url).to.include(new URL((hosts[0] as HostProgram).url).host);
    });

    if (client !== 'tidegate') return;

    it('tidegate what-if prints the report, and exits with 7 where --fail-on says so', async () => {
      const candidate = await start({ 1: 'renamed' });
      const args = ['what-if', '--app', candidate.url, '--active'];
      const { exitCode, stdout, stderr } = await cli([...args, '--fail-on', 'broken-active'], { service });
      expect(exitCode, stderr).to.equal(7);
      expect(stdout).to.include('it never uses the result of "load"').and.include('candidate: "load again"');
      expect((await cli([...args, '--fail-on', 'broken-past'], { service })).exitCode).to.equal(0);
      const markdown = await cli([...args, '--markdown'], { service });
      expect(markdown.stdout).to.include(`| \`${app}-f1\` | 3 active | 0 | 0 | 3 | 0 |`);
      const { json } = await cli(['--json', ...args, '--last', '1d'], { service });
      expect(json).to.deep.include({ broken: RUNS_EACH, changed: RUNS_EACH });
    });
  });
}
