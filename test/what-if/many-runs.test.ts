/** With --all, 10,000 runs; otherwise some. */
import { expect } from 'chai';
import { type HostProgram, startHost } from '../support/program.ts';
import { type Service, startService } from '../support/service.ts';
import type { Change } from './shapes.ts';

const FUNCTIONS = 20;
const RUNS = process.env.TEST_ALL ? 10_000 : 600;
const EACH = RUNS / FUNCTIONS;
const CHANGED: Record<number, Change> = { 4: 'renamed', 9: 'removed', 11: 'inserted', 14: 'throws', 17: 'output' };
const RESULTS: Record<string, string> = {
  renamed: 'broken active, changed past',
  removed: 'broken active, changed past',
  inserted: 'changed active, changed past',
  throws: 'broken active, broken past',
  output: 'changed past',
};
const EVENTS_AT_ONCE = 500;

describe('What-if over many runs', function () {
  this.timeout(1_200_000);
  let service: Service;
  let candidate: HostProgram;
  const hosts: HostProgram[] = [];

  before(async () => {
    service = await startService();
    const start = async (changes: object) => {
      const env = { WHAT_IF_SERVICE: service.url, WHAT_IF_KEYS: '{}' };
      const args = ['host.ts', 'tidegate', 'many', String(FUNCTIONS), JSON.stringify(changes)];
      const host = await startHost(process.execPath, args, { cwd: import.meta.dirname, env });
      hosts.push(host);
      return host;
    };
    const present = await start({});
    await service.post('/v1/apps', { url: present.url });
    for (let from = 0; from < RUNS; from += EVENTS_AT_ONCE) {
      const count = Math.min(EVENTS_AT_ONCE, RUNS - from);
      const events = Array.from({ length: count }, (_, i) => {
        const n = from + i;
        return { name: `what-if/${n % FUNCTIONS}`, data: { n, waits: n < RUNS / 2 } };
      });
      const { status } = await service.post(service.eventPath, events);
      expect(status).to.equal(200);
    }
    const isThere = async (status: string, count: number) => {
      await service.waitFor(`/v1/runs/count?${status}`, ({ body }) => body.data?.count === count, 900_000);
    };
    await isThere('status=Completed', RUNS / 2);
    await service.waitFor('/v1/runs?state=running,queued', ({ body }) => body.data?.length === 0, 900_000);
    candidate = await start(CHANGED);
  });
  after(async () => {
    await Promise.all(hosts.map((host) => host.stop()));
    await service.stop();
  });

  it('finds every change in all runs of its function and in no other run, and no step runs', async () => {
    const given = { url: candidate.url, last: '1d', active_max: RUNS, past_max: RUNS };
    const { body } = await service.post('/v1/what-ifs', given);
    const path = `/v1/what-ifs/${body.data.id}`;
    const found = (await service.waitFor(path, ({ body: now }) => now.data?.status === 'done', 1_000_000)).body.data;
    expect(found).to.deep.include({ checked: RUNS, skipped: 0, stopped_because: null });
    for (const { id, active, past } of found.functions) {
      const results = [
        ...['changed', 'broken'].flatMap((result) => (active[result] === EACH / 2 ? [`${result} active`] : [])),
        ...['changed', 'broken'].flatMap((result) => (past[result] === EACH / 2 ? [`${result} past`] : [])),
      ];
      const change = CHANGED[Number(id.slice('many-f'.length))];
      expect(results.join(', '), id).to.equal(change ? RESULTS[change] : '');
      if (!change) expect([active.unchanged, past.unchanged], id).to.deep.equal([EACH / 2, EACH / 2]);
    }
    const { executions } = (await (await fetch(new URL('/executions', candidate.url))).json()) as {
      executions: number;
    };
    expect(executions).to.equal(0);
  });
});
