import { expect } from 'chai';
import { NonRetriableError, StepError, Tidegate } from 'tidegate';
import { advanceClock, testFunction } from 'tidegate/test';
import { rejection, useServers } from './servers.ts';

type Events = {
  'order/paid': { data: { total: number } };
  'order/answered': { data: { yes: boolean } };
};

const client = new Tidegate<Events>({ id: 'shop', isDev: true, baseUrl: 'http://127.0.0.1:1' });
const triggers = { event: 'order/paid' } as const;
const event = { data: { total: 3 } };

describe('testFunction', () => {
  it('runs the steps and returns their results', async () => {
    const fn = client.createFunction({ id: 'fn', triggers }, async ({ event, step }) => {
      const doubled = await step.run('double', () => event.data.total * 2);
      await step.sleep('nap', '30d');
      const { ids } = await step.sendEvent('tell', { name: 'order/answered', data: { yes: true } });
      return { doubled, ids, at: new Date(0) };
    });
    const now = Date.parse('2026-01-01T00:00:00Z');
    const [start, end] = [new Date(now), new Date('2026-01-31T00:00:00Z')];
    expect(await testFunction(fn, { event, now })).to.deep.equal({
      result: { doubled: 6, ids: ['test-event-1'], at: '1970-01-01T00:00:00.000Z' },
      steps: [
        { id: 'double', kind: 'run', data: 6, attempts: 1, endedAt: start },
        { id: 'nap', kind: 'sleep', data: null, attempts: 1, endedAt: end },
        { id: 'tell', kind: 'sendEvent', data: { ids: ['test-event-1'] }, attempts: 1, endedAt: end },
      ],
      sent: [{ name: 'order/answered', data: { yes: true } }],
      signals: [],
      published: [],
    });
  });

  it('runs a function that batches events with all events', async () => {
    const batchEvents = { maxSize: 10, timeout: '5s' };
    const fn = client.createFunction({ id: 'fn', triggers, batchEvents }, ({ event, events }) => ({
      names: events.map(({ name }) => name),
      first: event.data.total,
      sum: events.reduce((sum, { data }) => sum + data.total, 0),
    }));
    const { result } = await testFunction(fn, { events: [event, { data: { total: 4 }, id: 'evt-2' }] });
    expect(result).to.deep.equal({ names: ['order/paid', 'order/paid'], first: 3, sum: 7 });
  });

  it('accepts stubs: values, functions, errors, events', async () => {
    const fn = client.createFunction({ id: 'fn', triggers }, async ({ step }) => {
      const charged = await step.run('charge', (): string => {
        throw new Error('must not run');
      });
      const again = await step.run('charge', () => 'must not run');
      const mailed = await step.run('mail', () => 'must not run').catch((error: StepError) => error.message);
      const answer = await step.waitForEvent('answer', { event: 'order/answered', timeout: '1d' });
      const other = await step.invoke('other', { function: 'shop-other' });
      return [charged, again, mailed, answer?.data.yes, other];
    });
    const steps = {
      charge: 'ch_1',
      'charge:1': async () => 'ch_2',
      mail: new Error('no such address'),
      answer: { data: { yes: true } },
      other: { n: 7 },
    };
    const { result, steps: done } = await testFunction(fn, { event, steps });
    expect(result).to.deep.equal(['ch_1', 'ch_2', 'no such address', true, { n: 7 }]);
    expect(done.map(({ id, kind }) => `${kind} ${id}`)).to.deep.equal([
      'run charge',
      'run charge:1',
      'run mail',
      'waitForEvent answer',
      'invoke other',
    ]);
    expect(done[2]?.error).to.include({ name: 'Error', message: 'no such address' });
  });

  it('lets waits without a stub time out, and sleeps end in chronological order', async () => {
    const fn = client.createFunction({ id: 'fn', triggers }, ({ step }) =>
      Promise.race([
        step.waitForEvent('answer', { event: 'order/answered', timeout: '1d' }).then(() => 'timed out'),
        step.sleepUntil('date', '2026-01-01T06:00:00Z').then(() => 'date'),
        step.sleep('nap', '12h').then(() => 'nap'),
      ]),
    );
    expect((await testFunction(fn, { event, now: Date.parse('2026-01-01T00:00:00Z') })).result).to.equal('date');
    expect((await testFunction(fn, { event, now: Date.parse('2025-12-31T00:00:00Z') })).result).to.equal('nap');
  });

  it('retries failures as often as the function allows', async () => {
    const tries: string[] = [];
    const fn = client.createFunction({ id: 'fn', triggers, retries: 2 }, async ({ step, attempt, maxAttempts }) => {
      const caught = await step
        .run('flaky', () => {
          tries.push(`step ${attempt}`);
          throw new Error('always');
        })
        .catch((error) => error instanceof StepError);
      tries.push(`function ${attempt} of ${maxAttempts}`);
      if (attempt < 1) throw new Error('once');
      return caught;
    });
    expect((await testFunction(fn, { event })).result).to.equal(true);
    expect(tries).to.deep.equal(['step 0', 'step 1', 'step 2', 'function 0 of 3', 'function 1 of 3']);
    expect((await testFunction(fn, { event, retries: 0 })).error).to.have.property('message', 'once');
  });

  it('fails the first attempts of a step with given errors, and then runs it', async () => {
    const fn = client.createFunction({ id: 'fn', triggers, retries: 2 }, ({ step }) =>
      step.run('charge', () => 'ch_1').catch((error) => (error as StepError).message),
    );
    const failing = async (...errors: Error[]) => {
      const { result, steps } = await testFunction(fn, { event, failures: { charge: errors } });
      return [result, steps[0]?.attempts];
    };
    const busy = new Error('busy');
    expect(await failing(busy, busy)).to.deep.equal(['ch_1', 3]);
    expect(await failing(busy, busy, busy)).to.deep.equal(['busy', 3]);
    expect(await failing(new NonRetriableError('declined'))).to.deep.equal(['declined', 1]);
  });

  it('shows the signals and messages that steps would have sent', async () => {
    const fn = client.createFunction({ id: 'fn', triggers }, async ({ step }) => {
      await step.sendSignal('wake', { signal: 'order-7', data: { by: 'test' } });
      await step.publish('tell', { channel: 'order:7', topic: 'status', data: 'paid' });
    });
    const { signals, published } = await testFunction(fn, { event });
    expect(signals).to.deep.equal([{ signal: 'order-7', data: { by: 'test' } }]);
    expect(published).to.deep.equal([{ channel: 'order:7', topic: 'status', data: 'paid' }]);
  });

  it('returns the error of a run that fails permanently', async () => {
    const thrown = new NonRetriableError('never');
    const fn = client.createFunction({ id: 'fn', triggers }, () => {
      throw thrown;
    });
    expect(await testFunction(fn, { event })).to.deep.equal({
      error: thrown,
      steps: [],
      sent: [],
      signals: [],
      published: [],
    });
  });

  it('accepts stubs of signals, requests and models, and races', async () => {
    const fn = client.createFunction({ id: 'fn', triggers }, async ({ step }) => {
      const signal = await step.waitForSignal('wait', { signal: 's', timeout: '1h' });
      const { status, body } = await step.fetch('get', 'https://api.example.com');
      const answer = await step.infer('ask', { url: 'https://api.example.com', format: 'gemini', body: {} });
      const first = await step.race([() => step.sleep('nap', '2h'), () => step.run('now', () => 'now')]);
      return { signal, status, body, answer, first };
    });
    const steps = { wait: { data: 7 }, get: { body: 'text' }, ask: { text: 'Hi' } };
    expect((await testFunction(fn, { event, steps })).result).to.deep.equal({
      signal: { signal: 's', data: 7 },
      status: 200,
      body: 'text',
      answer: { text: 'Hi' },
      first: 'now',
    });
    expect((await rejection(testFunction(fn, { event }))).message).to.include('"get" asks https://api.example.com');
  });

  it('requires the result of an invoked function', async () => {
    const fn = client.createFunction({ id: 'fn', triggers }, ({ step }) =>
      step.invoke('i', { function: 'shop-other' }),
    );
    expect((await rejection(testFunction(fn))).message).to.include('"i" invokes shop-other');
  });
});

describe('advanceClock', () => {
  const { startService } = useServers();
  const moved = (reached: string, waiting: number) => {
    const data = { now: '2026-01-02T00:00:00.000Z', target: '2026-01-04T00:00:00.000Z', reached, waiting };
    return { body: { data: { ...data, runs_started: 2, runs_ended: 1 } } };
  };

  it('continues until the service has reached the time, and sums up', async () => {
    const service = await startService(moved('limit', 5), moved('target', 3));
    const now = new Date('2026-01-02T00:00:00.000Z');
    expect(await advanceClock(`${service.url}/`, '3d')).to.deep.equal({
      now,
      runsStarted: 4,
      runsEnded: 2,
      waiting: 3,
    });
    expect(service.requests.map(({ method, url, body }) => [method, url, JSON.parse(body)])).to.deep.equal([
      ['POST', '/v1/dev/clock', { advance: '3d' }],
      ['POST', '/v1/dev/clock', { to: '2026-01-04T00:00:00.000Z' }],
    ]);
  });

  it('says why the clock was not moved, or stopped', async () => {
    const service = await startService({ status: 403, body: { error: 'in dev mode only' } }, moved('busy', 1));
    const by = new Date(0);
    expect((await rejection(advanceClock(service.url, by))).message).to.include('in dev mode only');
    expect((await rejection(advanceClock(service.url, by))).message).to.include('something does not end');
  });
});
