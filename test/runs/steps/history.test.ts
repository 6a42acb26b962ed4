import { expect } from 'chai';
import { referenceFunction, Tidegate } from 'tidegate';
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
  step_id: string | null;
  attempt: number | null;
  group: number | null;
  run_id: string | null;
  event_id: string | null;
  event_ids: string[];
  events_sent: number | null;
}

describe('The history of a run', () => {
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
      await step.waitForEvent('a response', { event: 'history/answer', timeout: '1h' });
      await step.waitForEvent('in vain', { event: 'history/never', timeout: '50ms' });
      await step.invoke('another', { function: invoked });
      await step.invoke('a broken one', { function: broken }).catch(() => {});
    });
    const slow = client.createFunction({ id: 'slow', triggers: { event: 'history/none' } }, ({ step }) =>
      step.sleep('for long', '1h'),
    );
    const nobody = referenceFunction({ appId: 'history', functionId: 'nobody' });
    let failures = 0;
    const linked = client.createFunction({ id: 'linked', triggers: { event: 'history/linked' } }, async ({ step }) => {
      await Promise.all([
        step.run('first', () => {
          if (failures++ === 0) throw new Error('not yet');
        }),
        step.run('second', () => 2),
        step.sleep('third', '20ms'),
      ]);
      await step.run('alone', () => 1);
      await step.sendEvent('tell', [
        { name: 'history/told', data: {} },
        { name: 'history/told', data: {} },
      ]);
      await step.sendEvent(
        'tell many',
        Array.from({ length: 25 }, () => ({ name: 'history/told', data: {} })),
      );
      await step.waitForEvent('a response', { event: 'history/linked-answer', timeout: '1h' });
      await step.invoke('another', { function: invoked });
      await step.invoke('slow one', { function: slow, timeout: '200ms' }).catch(() => {});
      await step.invoke('nobody', { function: nobody }).catch(() => {});
    });
    const listens = client.createFunction({ id: 'listens', triggers: { event: 'history/listen' } }, ({ step }) =>
      step.waitForSignal('a call', { signal: 'history-call', timeout: '1h' }),
    );
    const calls = client.createFunction({ id: 'calls', triggers: { event: 'history/call' } }, ({ step }) =>
      step.sendSignal('call out', { signal: 'history-call' }),
    );
    const functions = [invoked, broken, waiting, slow, linked, listens, calls];
    app = await startApp(serve({ client, functions }));
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
      name === 'a response' && waits_for === 'history/answer' && status === 'Waiting';
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
      ['a response', 'history/answer'],
      ['in vain', 'history/never'],
      ['another', null],
      ['a broken one', null],
    ]);
    for (const { started_at, ended_at } of steps) expect(Date.parse(ended_at)).to.be.at.least(Date.parse(started_at));
    expect(run.status).to.equal('Completed');
  });

  it('links each step to its runs, its events and the steps planned with it', async () => {
    const { body } = await service.post('/e/key', { name: 'history/linked', data: {} });
    const [{ run_id }] = (
      await service.waitFor(`/v1/events/${body.ids[0]}/runs`, ({ body }) => body.data?.length === 1)
    ).body.data;
    const path = `/v1/runs/${run_id}`;
    const waits = ({ name, status }: Entry) => name === 'a response' && status === 'Waiting';
    await service.waitFor(path, ({ body }) => body.data.history.some(waits));
    const answer = (await service.post('/e/key', { name: 'history/linked-answer', data: {} })).body.ids[0];
    const isInvoking = ({ name, status }: Entry) => name === 'slow one' && status === 'Waiting';
    const invoking = await service.waitFor(path, ({ body }) => body.data.history.some(isInvoking));
    const pending = (invoking.body.data.history as Entry[]).find(isInvoking) as Entry;
    const { data: run } = (await service.waitFor(path, ({ body }) => body.data.ended_at !== null)).body;
    expect(run.status).to.equal('Completed');
    const history = run.history as Entry[];
    const named = (name: string) => history.filter((entry) => entry.name === name && entry.kind === 'step');
    const last = (name: string) => named(name).at(-1) as Entry;

    const groups = Object.fromEntries(['first', 'second', 'third', 'alone'].map((name) => [name, last(name).group]));
    expect(groups).to.deep.equal({ first: 0, second: 0, third: 0, alone: null });
    const { step_id } = last('first');
    const ofFirst = history.filter((entry) => entry.step_id === step_id);
    expect(ofFirst.map(({ kind, name, group, attempt, status }) => [kind, name, group, attempt, status])).to.deep.equal(
      [
        ['attempt', 'first', 0, 0, 'Completed'],
        ['step', 'first', 0, 0, 'Failed'],
        ['attempt', 'first', 0, 1, 'Completed'],
        ['step', 'first', 0, 1, 'Completed'],
      ],
    );

    const { event_ids, events_sent } = last('tell');
    expect([event_ids.length, events_sent]).to.deep.equal([2, 2]);
    for (const id of event_ids) {
      const sent = await service.stored(id);
      expect(sent.body.data.name).to.equal('history/told');
    }
    expect([last('tell many').event_ids.length, last('tell many').events_sent]).to.deep.equal([20, 25]);
    expect(last('a response').event_id).to.equal(answer);

    const invokedBy = async (name: string) => (await service.get(`/v1/runs/${last(name).run_id}`)).body.data;
    expect((await invokedBy('another')).function_id).to.equal('history-invoked');
    expect((await invokedBy('slow one')).function_id).to.equal('history-slow');
    expect(pending.run_id).to.equal(last('slow one').run_id);
    expect([last('nobody').status, last('nobody').run_id]).to.deep.equal(['Failed', null]);
  });

  it('links a step that sent a signal to the run that received it', async () => {
    const { body } = await service.post('/e/key', { name: 'history/listen', data: {} });
    const [{ run_id }] = (
      await service.waitFor(`/v1/events/${body.ids[0]}/runs`, ({ body }) => body.data?.length === 1)
    ).body.data;
    await service.waitFor(`/v1/runs/${run_id}`, ({ body }) =>
      body.data.history.some(({ op }: Entry) => op === 'WaitForSignal'),
    );
    const sent = await service.post('/e/key', { name: 'history/call', data: {} });
    const [sender] = (
      await service.waitFor(`/v1/events/${sent.body.ids[0]}/runs`, ({ body }) => body.data?.[0]?.ended_at)
    ).body.data;
    const { history } = (await service.get(`/v1/runs/${sender.run_id}`)).body.data;
    expect((history as Entry[]).find(({ name }) => name === 'call out')?.run_id).to.equal(run_id);
  });
});
