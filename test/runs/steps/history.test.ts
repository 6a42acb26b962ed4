import { expect } from 'chai';
import { Tidegate } from 'tidegate';
import { serve } from 'tidegate/node';
import { type Service, startService } from '../../support/service.ts';
import { type App, startApp } from './sdk-adapters.ts';

interface Entry {
  kind: string;
  op: string | null;
  name: string | null;
  waits_for: string | null;
  status: string;
  started_at: string;
  ended_at: string;
  timed_out: boolean;
}

describe("a run's history", () => {
  let service: Service;
  let app: App;
  before(async () => {
    service = await startService({ env: { RETRY_SCALE: '0.0005' } });
    const client = new Tidegate({ id: 'history', isDev: true, baseUrl: service.url });
    const invoked = client.createFunction({ id: 'invoked', triggers: { event: 'history/none' } }, () => 'here');
    const broken = client.createFunction({ id: 'broken', retries: 0, triggers: { event: 'history/none' } }, () => {
      throw new Error('broken');
    });
    const waiting = client.createFunction({ id: 'waiting', triggers: { event: 'history/wait' } }, async ({ step }) => {
      await step.sleep('a nap', '50ms');
      await step.waitForEvent('an answer', { event: 'history/answer', timeout: '1h' });
      await step.waitForEvent('in vain', { event: 'history/never', timeout: '50ms' });
      await step.invoke('another', { function: invoked });
      await step.invoke('a broken one', { function: broken }).catch(() => {});
    });
    app = await startApp(serve({ client, functions: [invoked, broken, waiting] }));
  });
  after(async () => {
    await app.close();
    await service.stop();
  });

  it('has each wait from its start to its end, whatever ended it', async () => {
    const { body } = await service.post('/e/key', { name: 'history/wait', data: {} });
    const [{ run_id }] = (
      await service.waitFor(`/v1/events/${body.ids[0]}/runs`, ({ body }) => body.data?.length === 1)
    ).body.data;
    const path = `/v1/runs/${run_id}`;
    const waits = ({ name, waits_for, status }: Entry) =>
      name === 'an answer' && waits_for === 'history/answer' && status === 'Waiting';
    await service.waitFor(path, ({ body }) => body.data.history.some(waits));
    await service.post('/e/key', { name: 'history/answer', data: {} });
    const { data: run } = (await service.waitFor(path, ({ body }) => body.data.ended_at !== null)).body;
    const steps = (run.history as Entry[]).filter(({ kind }) => kind === 'step');
    expect(steps.map(({ op, status, timed_out }) => [op, timed_out ? 'timed out' : status])).to.deep.equal([
      ['Sleep', 'Completed'],
      ['WaitForEvent', 'Completed'],
      ['WaitForEvent', 'timed out'],
      ['InvokeFunction', 'Completed'],
      ['InvokeFunction', 'Failed'],
    ]);
    expect(steps.map(({ name, waits_for }) => [name, waits_for])).to.deep.equal([
      ['a nap', null],
      ['an answer', 'history/answer'],
      ['in vain', 'history/never'],
      ['another', null],
      ['a broken one', null],
    ]);
    for (const { started_at, ended_at } of steps) expect(Date.parse(ended_at)).to.be.at.least(Date.parse(started_at));
    expect(run.status).to.equal('Completed');
  });
});
