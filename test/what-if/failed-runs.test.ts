import { expect } from 'chai';
import { type AppHost, type HostResponse, startAppHost } from '../support/app-host.ts';
import { cli } from '../support/cli.ts';
import { type Service, startService } from '../support/service.ts';

const [LOADED, CHARGED] = ['a'.repeat(40), 'b'.repeat(40)];
const IDS = ['same', 'step', 'fixed', 'further', 'other'];
const bug = (message: string): HostResponse => ({ status: 400, body: { name: 'Bug', message } });
const planned = (op: string, id: string, name: string, more: object = {}): HostResponse => ({
  status: 206,
  body: [{ id, op, name, ...more }],
});

describe('Failed runs in a what-if', () => {
  let service: Service;
  let present: AppHost;
  let candidate: AppHost;

  before(async () => {
    service = await startService();
    [present, candidate] = await Promise.all([startAppHost(), startAppHost()]);
    const functions = IDS.map((id) => ({ id, triggers: [{ event: 'bug/found' }], retries: 0 }));
    for (const id of IDS) {
      const fails =
        id === 'step' ? planned('StepFailed', CHARGED, 'charge', { error: { name: 'Bug', message: 'no' } }) : bug('no');
      present.on(id, ({ number }) => (number === 0 ? planned('StepRun', LOADED, 'load', { data: 1 }) : fails));
    }
    await present.register(service, functions, { appName: 'shop' });
    candidate.registration(functions, { appName: 'shop' });
    await service.post(service.eventPath, { name: 'bug/found', data: {} });
    await service.waitFor('/v1/runs?status=Failed', ({ body }) => body.data?.length === IDS.length);
    const then: Record<string, HostResponse> = {
      same: bug('no'),
      step: planned('StepPlanned', CHARGED, 'charge'),
      fixed: { status: 200, body: 'done' },
      further: planned('StepPlanned', CHARGED, 'charge'),
      other: bug('yes'),
    };
    for (const id of IDS) {
      candidate.on(id, ({ body }) => {
        return LOADED in body.steps ? (then[id] as HostResponse) : planned('StepPlanned', LOADED, 'load');
      });
    }
  });
  after(async () => {
    await Promise.all([present.close(), candidate.close()]);
    await service.stop();
  });

  it('are walked to where they failed: with the same error, another one or none', async () => {
    const args = ['what-if', '--app', candidate.url, '--last', '1h', '--no-triggers'];
    const { json, exitCode, stderr } = await cli(['--json', ...args], { service });
    expect(exitCode, stderr).to.equal(0);
    expect(json).to.deep.include({ checked: IDS.length, unchanged: 2, changed: 3, broken: 0, skipped: 0 });
    const causes = json.functions.map((fn: { id: string; failed: { causes: object } }) => [fn.id, fn.failed.causes]);
    expect(Object.fromEntries(causes)).to.deep.equal({
      'shop-same': {},
      'shop-step': {},
      'shop-fixed': { no_longer_fails: 1 },
      'shop-further': { no_longer_fails: 1 },
      'shop-other': { throws: 1 },
    });
    const { stdout, exitCode: code } = await cli([...args, '--fail-on', 'changed-failed'], { service });
    expect(code).to.equal(7);
    expect(stdout).to.include('it no longer fails, and would now run "charge"').and.include('recorded: Bug: "no"');
  });
});
