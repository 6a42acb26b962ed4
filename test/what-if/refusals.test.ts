import { expect } from 'chai';
import { refusalOfSdk } from '../../src/model/what-if/planning-sdks.ts';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { type Service, startService } from '../support/service.ts';

const ID = 'a'.repeat(40);
const SLEEPS = { status: 206, body: [{ id: ID, op: 'Sleep', name: '1h', displayName: 'nap' }] };
const RUNS = { status: 206, body: [{ id: ID, op: 'StepRun', name: 'charge', data: 1 }] };
const RUNS_EACH = 4;

describe('A what-if that an app cannot answer', () => {
  let service: Service;
  let present: AppHost;
  let candidate: AppHost;

  before(async () => {
    service = await startService();
    [present, candidate] = await Promise.all([startAppHost(), startAppHost()]);
    const functions = ['one', 'two'].map((id) => ({ id, triggers: [{ event: `refused/${id}` }] }));
    for (const { id } of functions) present.on(id, () => SLEEPS);
    await present.register(service, functions, { appName: 'refused' });
    candidate.registration(functions, { appName: 'refused' });
    const events = Array.from({ length: 2 * RUNS_EACH }, (_, n) => ({
      name: `refused/${n % 2 ? 'one' : 'two'}`,
      data: {},
    }));
    await service.post(service.eventPath, events);
    await service.waitFor('/v1/runs?state=sleeping', ({ body }) => body.data?.length === 2 * RUNS_EACH);
  });
  after(async () => {
    await Promise.all([present.close(), candidate.close()]);
    await service.stop();
  });

  async function whatIf(url: string) {
    const { status, body } = await service.post('/v1/what-ifs', { url });
    expect(status, JSON.stringify(body)).to.equal(201);
    const path = `/v1/what-ifs/${body.data.id}`;
    return (await service.waitFor(path, ({ body: now }) => now.data?.status === 'done')).body.data;
  }

  it('does not call a function again that has run a step, and continues with the others', async () => {
    candidate.on('one', () => RUNS);
    candidate.on('two', () => SLEEPS);
    const found = await whatIf(candidate.url);
    expect(found).to.deep.include({ checked: RUNS_EACH, unchanged: RUNS_EACH, skipped: 1 });
    const one = found.functions.find(({ id }: { id: string }) => id === 'refused-one');
    expect([one.refused, one.active.skips]).to.deep.equal([true, { executes_steps: 1 }]);
    const calls = candidate.calls('one');
    expect(calls).to.have.length(1);
    const [{ headers, body }] = calls as [(typeof calls)[0]];
    expect(headers['x-service-what-if']).to.equal('1');
    expect([body.ctx.disable_immediate_execution, body.ctx.qi_id, body.use_api]).to.deep.equal([
      true,
      'what-if',
      false,
    ]);
    expect(candidate.calls('two')).to.have.length(RUNS_EACH);
  });

  it('ends when the candidate no longer responds', async () => {
    candidate.on('one', () => 'hang up');
    candidate.on('two', () => 'hang up');
    const found = await whatIf(candidate.url);
    expect(found).to.deep.include({ stopped_because: 'app_unreachable', checked: 0 });
    expect(found.skipped).to.be.within(5, 2 * RUNS_EACH);
  });

  it('recognizes a missing function of the candidate by its response to a function that no app has', async () => {
    const none = (id: string) => ({ status: 500, body: { name: 'Error', message: `there is no ${id}` } });
    candidate.on('one', () => none('refused-one'));
    candidate.on('what-if-without-a-function', () => none('what-if-without-a-function'));
    candidate.on('two', () => ({ status: 500, body: { name: 'Error', message: 'broken' } }));
    const found = await whatIf(candidate.url);
    const causes = Object.fromEntries(
      found.functions.map((fn: { id: string; active: { causes: object } }) => [fn.id, fn.active.causes]),
    );
    expect(causes).to.deep.equal({
      'refused-one': { function_gone: RUNS_EACH },
      'refused-two': { throws: RUNS_EACH },
    });
  });

  it('is refused before any call: of an unknown SDK, of a URL where no app is, and of nothing to compare', async () => {
    const other = await startAppHost();
    try {
      other.offer(service, [], { dialect: 'inngest' });
      const unknown = await service.post('/v1/what-ifs', { url: other.url });
      expect([unknown.status, unknown.body.code]).to.deep.equal([400, 'sdk_unsupported']);
      expect(refusalOfSdk('inngest-constructor:v1.0.0')).to.include('may run a step');
      expect(other.calls().filter(({ fnId }) => fnId !== 'check-without-a-function')).to.deep.equal([]);
    } finally {
      await other.close();
    }
    const nowhere = await service.post('/v1/what-ifs', { url: other.url });
    expect([nowhere.status, nowhere.body.code]).to.deep.equal([400, 'app_unreachable']);
    const nothing = await service.post('/v1/what-ifs', { url: candidate.url, active: false });
    expect([nothing.status, nothing.body.field]).to.deep.equal([400, 'last']);
  });

  it('is in the audit log with the URL of the candidate', async () => {
    const { body } = await service.get('/v1/audit?limit=100');
    const entries = body.data.filter(({ action }: { action: string }) => action === 'POST /v1/what-ifs');
    expect(entries).to.have.length(3);
    expect(entries[0].summary).to.include(`url ${candidate.url}`);
  });
});
