import { expect } from 'chai';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { type Service, startService } from '../support/service.ts';
import { eachCase } from './cases.ts';

interface Case {
  title: string;
  ids: string[];
  names: string[];
  hashes: string[];
}

interface HistoryEntry {
  kind: string;
  name: string;
  step_id: string;
}

describe('The service conforms: step IDs', () => {
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService();
    host = await startAppHost();
    await host.register(service, [{ id: 'f', triggers: [{ event: 'step-ids/x' }] }]);
  });
  after(async () => {
    await service.stop();
    await host.close();
  });

  eachCase<Case>('step-ids', { ids: true, names: true, hashes: true }, async ({ ids, names, hashes }) => {
    host.on('f', ({ body }) => {
      const n = Object.keys(body.steps).length;
      if (n === hashes.length) return { body: body.steps };
      return { status: 206, body: [{ id: hashes[n], op: 'StepRun', name: ids[n], displayName: names[n], data: n }] };
    });
    const sent = await service.post('/e/key', { name: 'step-ids/x', data: {} });
    const path = `/v1/events/${sent.body.ids[0]}/runs`;
    const runs = await service.waitFor(path, ({ body }) => body.data?.[0]?.ended_at);
    const [run] = runs.body.data;
    expect(run.output).to.deep.equal(Object.fromEntries(hashes.map((hash, n) => [hash, { data: n }])));
    expect(host.calls('f').at(-1)?.body.ctx.stack.stack).to.deep.equal(hashes);
    const { history } = (await service.get(`/v1/runs/${run.run_id}`)).body.data;
    const steps = history.filter(({ kind }: HistoryEntry) => kind === 'step');
    expect(steps.map(({ name, step_id }: HistoryEntry) => [name, step_id])).to.deep.equal(
      names.map((name, n) => [name, hashes[n]]),
    );
  });
});
