import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { type Service, startService } from '../support/service.ts';

const FAILURE = { status: 500, body: { name: 'Error', message: 'down' } };
const step = (name: string) => createHash('sha1').update(name).digest('hex');
const ops = (...list: object[]) => ({ status: 206, body: list });

describe('Retry now', () => {
  let service: Service;
  let host: AppHost;
  before(async () => {
    // The tests do not wait for these delays.
    service = await startService({ env: { RETRY_SCALE: '100' } });
    host = await startAppHost();
    await host.register(
      service,
      ['plain', 'stepwise', 'asleep', 'later', 'twice', 'memos'].map((id) => ({
        id,
        triggers: [{ event: `try/${id}` }],
      })),
    );
  });
  after(async () => {
    await host.close();
    await service.stop();
  });

  // biome-ignore lint/suspicious/noExplicitAny: tests say what they expect of it
  type Run = any;
  async function send(name: string, fields: object = {}): Promise<string> {
    return (await service.post('/e/key', { name, data: {}, ...fields })).body.ids[0];
  }
  async function runOf(eventId: string, wished: (run: Run) => boolean): Promise<Run> {
    const path = `/v1/events/${eventId}/runs`;
    const { body } = await service.waitFor(path, (response) => response.body.data?.length === 1);
    const id = body.data[0].run_id;
    return (await service.waitFor(`/v1/runs/${id}`, (response) => wished(response.body.data))).body.data;
  }
  const retryNow = (id: string) => service.post(`/v1/runs/${id}/retry-now`);
  const isWaiting = (run: Run) => run.next_try_at !== null;

  it('makes the next attempt, whose time the run shows, at once', async () => {
    host.on('plain', ({ number }) => (number === 0 ? FAILURE : { body: 'done' }));
    const run = await runOf(await send('try/plain'), isWaiting);
    // 15 s and up to 30 s more, a hundred times.
    expect(Date.parse(run.next_try_at) - Date.now()).to.be.within(1_400_000, 4_500_000);
    expect(run.status).to.equal('Running');
    const { status, body } = await retryNow(run.run_id);
    expect(status, JSON.stringify(body)).to.equal(200);
    expect(body.data.run_id).to.equal(run.run_id);
    const done = await service.waitFor(
      `/v1/runs/${run.run_id}`,
      (response) => response.body.data.status === 'Completed',
    );
    expect(done.body.data).to.deep.include({ output: 'done', attempt: 1, next_try_at: null });
  });

  it('retries a planned step at once', async () => {
    const [a, b] = [step('a'), step('b')];
    host.on('stepwise', ({ stepId, number, body }) => {
      if (stepId === a) return number < 3 ? FAILURE : ops({ id: a, op: 'StepRun', data: 1 });
      if (stepId === b) return number < 3 ? FAILURE : ops({ id: b, op: 'StepRun', data: 2 });
      if (Object.keys(body.steps).length === 2) return { body: 'done' };
      return ops({ id: a, op: 'StepPlanned', name: 'a' }, { id: b, op: 'StepPlanned', name: 'b' });
    });
    const run = await runOf(
      await send('try/stepwise'),
      ({ history, ...rest }) =>
        isWaiting(rest) && history.filter((entry: Run) => entry.status === 'Failed').length === 2,
    );
    // The failure is visible before its job is delayed.
    await service.waitFor('/v1/overview', ({ body }) => {
      const { queues } = body.data;
      return queues.find((queue: { name: string }) => queue.name === 'runs').delayed === 2;
    });
    await retryNow(run.run_id);
    const done = await service.waitFor(`/v1/runs/${run.run_id}`, ({ body }) => body.data.status === 'Completed');
    expect(done.body.data.output).to.equal('done');
  });

  it('makes the first call of a run on a future event at once', async () => {
    const ts = Date.now() + 3_600_000;
    const run = await runOf(await send('try/later', { ts }), isWaiting);
    expect(Date.parse(run.next_try_at)).to.be.closeTo(ts, 5_000);
    await retryNow(run.run_id);
    expect((await host.nextCall('later')).body.ctx.run_id).to.equal(run.run_id);
  });

  it('makes the attempt once, however many requests ask for it', async () => {
    host.on('twice', ({ number }) => (number === 0 ? FAILURE : { body: 'done' }));
    const run = await runOf(await send('try/twice'), isWaiting);
    const responses = await Promise.all([1, 2, 3, 4].map(() => retryNow(run.run_id)));
    const codes = responses.map(({ status, body }) => (status === 200 ? 'ok' : body.code));
    expect(codes.filter((code) => code === 'ok')).to.have.length(1);
    expect(codes.filter((code) => code === 'run_not_waiting')).to.have.length(3);
    await service.waitFor(`/v1/runs/${run.run_id}`, ({ body }) => body.data.status === 'Completed');
    expect(host.calls('twice')).to.have.length(2);
  });

  it('rejects runs that sleep, have ended or do not exist', async () => {
    const id = step('nap');
    host.on('asleep', ({ body }) =>
      body.steps[id] === undefined ? ops({ id, op: 'Sleep', name: '1h', opts: { duration: '1h' } }) : {},
    );
    const asleep = await runOf(await send('try/asleep'), ({ history }) => history.at(-1)?.op === 'Sleep');
    expect(asleep.next_try_at).to.equal(null);
    const early = await retryNow(asleep.run_id);
    expect([early.status, early.body.code]).to.deep.equal([409, 'run_not_waiting']);
    await service.request('DELETE', `/v1/runs/${asleep.run_id}`);
    const ended = await retryNow(asleep.run_id);
    expect([ended.status, ended.body.code]).to.deep.equal([409, 'run_not_waiting']);
    expect((await retryNow('nope')).status).to.equal(404);
  });

  it('shows the result of each finished step with the run', async () => {
    const [good, bad, nap, wait] = ['good', 'bad', 'nap', 'wait'].map(step) as [string, string, string, string];
    host.on('memos', ({ body: { steps } }) => {
      if (!(good in steps)) return ops({ id: good, op: 'StepRun', name: 'good', data: { n: 7 } });
      if (!(bad in steps))
        return ops({ id: bad, op: 'StepFailed', name: 'bad', error: { name: 'Bad', message: 'no' } });
      if (!(nap in steps)) return ops({ id: nap, op: 'Sleep', name: '1ms', opts: { duration: '1s' } });
      if (!(wait in steps)) return ops({ id: wait, op: 'WaitForEvent', name: 'try/word', opts: { event: 'try/word' } });
      return { body: 'done' };
    });
    const run = await runOf(await send('try/memos'), ({ history }) => history.at(-1)?.op === 'WaitForEvent');
    const read = async (id: string) => (await service.get(`/v1/runs/${run.run_id}/steps/${id}`)).body;
    expect((await read(wait)).code).to.equal('not_found');
    const word = await send('try/word', { data: { said: true } });
    await service.waitFor(`/v1/runs/${run.run_id}`, ({ body }) => body.data.status === 'Completed');
    expect((await read(good)).data).to.deep.equal({ step_id: good, data: { n: 7 } });
    expect((await read(bad)).data).to.deep.equal({ step_id: bad, error: { name: 'Bad', message: 'no' } });
    expect((await read(nap)).data).to.deep.equal({ step_id: nap, data: null });
    expect((await read(wait)).data.data).to.deep.include({ name: 'try/word', id: word, data: { said: true } });
    expect((await read('nope')).code).to.equal('not_found');
  });
});
