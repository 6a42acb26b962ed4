import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { currentStep, NonRetriableError, RetryAfterError, StepError } from 'tidegate';
import { hashStepId } from '../../src/steps/ids.ts';
import { useServers } from '../servers.ts';
import { type AnyContext, hostFunction } from './app.ts';

/** Closed after each test. */
function useFunctions() {
  const closers: (() => void)[] = [];
  afterEach(() => {
    for (const close of closers.splice(0)) close();
  });
  return async (handler: (context: AnyContext) => unknown, options: { sendTo?: string } = {}) => {
    const { call, close } = await hostFunction(handler, options);
    closers.push(close);
    return call;
  };
}

describe('Steps of a TypeScript function', () => {
  const host = useFunctions();
  const { startService } = useServers();

  it('run one per call, and later calls have their results', async () => {
    const ran: string[] = [];
    const call = await host(async ({ step }) => {
      const order = await step.run('load order', () => {
        ran.push('load');
        return { total: 3, at: new Date(0) };
      });
      return step.run('charge', () => {
        ran.push('charge');
        return order.total * 2;
      });
    });

    const first = await call();
    expect(first.status).to.equal(206);
    expect(first.body).to.deep.equal([
      {
        id: hashStepId('load order'),
        op: 'StepRun',
        name: 'load order',
        displayName: 'load order',
        opts: {},
        data: { total: 3, at: '1970-01-01T00:00:00.000Z' },
      },
    ]);
    const loaded = { 'load order': { data: { total: 3 } } };
    expect((await call({ steps: loaded })).body[0]).to.include({ op: 'StepRun', displayName: 'charge', data: 6 });
    const last = await call({ steps: { ...loaded, charge: { data: 6 } } });
    expect(last).to.deep.include({ status: 200, body: 6 });
    expect(ran).to.deep.equal(['load', 'charge']);
  });

  it('call a function that declares no parameter without arguments, so that any function works', async () => {
    const call = await host(({ step }) => step.run('a', (...args: unknown[]) => args.length));
    expect((await call()).body[0]).to.include({ data: 0 });
  });

  it('have an idempotency key, the same in all attempts, for their function and all that it calls', async () => {
    const deeper = async () => currentStep()?.idempotencyKey;
    const call = await host(async ({ step }) => {
      const outside = currentStep();
      return step.run('charge', async ({ idempotencyKey }) => [outside, idempotencyKey, await deeper()]);
    });
    const key = `01HZZZZZZZZZZZZZZZZZZZZZZZ-${hashStepId('charge')}`;
    for (const attempt of [0, 1]) expect((await call({ attempt })).body[0].data).to.deep.equal([null, key, key]);
  });

  it('return null if their function returns nothing', async () => {
    const call = await host(({ step }) => step.run('a', () => {}));
    expect((await call()).body[0]).to.include({ op: 'StepRun', data: null });
    expect(await call({ steps: { a: { data: null } } })).to.deep.include({ status: 200, body: null });
  });

  it('with the same ID are numbered, without collisions with numbered IDs in the code', async () => {
    const call = await host(async ({ step }) => {
      const results: unknown[] = [];
      for (const id of ['a', 'a', 'a:1', 'a']) results.push(await step.run(id, () => results.length));
      return results;
    });
    const steps: Record<string, { data: unknown }> = {};
    for (const id of ['a', 'a:1', 'a:1:1', 'a:2']) {
      const { body } = await call({ steps });
      expect(body[0]).to.include({ id: hashStepId(id), displayName: id });
      steps[id] = { data: body[0].data };
    }
    expect((await call({ steps })).body).to.deep.equal([0, 1, 2, 3]);
  });

  it('that appear together are planned, and each runs in its own call', async () => {
    const ran: string[] = [];
    const call = await host(({ step }) =>
      Promise.all(['a', 'b', 'c'].map((id) => step.run(id, () => ran.push(id) && id))),
    );
    expect((await call()).ops).to.deep.equal([
      { op: 'StepPlanned', displayName: 'a' },
      { op: 'StepPlanned', displayName: 'b' },
      { op: 'StepPlanned', displayName: 'c' },
    ]);
    expect(ran).to.deep.equal([]);
    expect((await call({ stepId: 'b' })).body[0]).to.include({ op: 'StepRun', displayName: 'b', data: 'b' });
    const others = { a: { data: 'a' }, b: { data: 'b' } };
    expect((await call({ stepId: 'c', steps: others })).ops).to.deep.equal([{ op: 'StepRun', displayName: 'c' }]);
    expect(ran).to.deep.equal(['b', 'c']);
    expect((await call({ steps: { ...others, c: { data: 'c' } } })).body).to.deep.equal(['a', 'b', 'c']);
  });

  it('are planned even if single, if the service requests that', async () => {
    const call = await host(({ step }) => step.run('a', () => 'must not run'));
    expect((await call({ disableImmediateExecution: true })).ops).to.deep.equal([
      { op: 'StepPlanned', displayName: 'a' },
    ]);
  });

  it('of every kind are reported together', async () => {
    const call = await host(({ step }) =>
      Promise.all([
        step.run('work', () => {}),
        step.sleep('nap', '2h'),
        step.waitForEvent('answer', { event: 'order/answered', timeout: '1d', if: 'async.data.id == event.data.id' }),
        step.invoke('other', { function: 'shop-other', data: { a: 1 }, user: { id: 7 }, v: '2', timeout: 90_000 }),
        step.sendEvent('tell', { name: 'order/told', data: {} }),
      ]),
    );
    const { body } = await call();
    expect(body).to.deep.equal([
      { id: hashStepId('work'), op: 'StepPlanned', name: 'work', displayName: 'work', opts: {} },
      { id: hashStepId('nap'), op: 'Sleep', name: '2h', displayName: 'nap', opts: { duration: '2h' } },
      {
        id: hashStepId('answer'),
        op: 'WaitForEvent',
        name: 'order/answered',
        displayName: 'answer',
        opts: { event: 'order/answered', timeout: '1d', if: 'async.data.id == event.data.id' },
      },
      {
        id: hashStepId('other'),
        op: 'InvokeFunction',
        name: 'other',
        displayName: 'other',
        opts: {
          function_id: 'shop-other',
          payload: { data: { a: 1 }, user: { id: 7 }, v: '2' },
          timeout: '90000ms',
        },
      },
      {
        id: hashStepId('tell'),
        op: 'StepPlanned',
        name: 'sendEvent',
        displayName: 'tell',
        opts: { type: 'step.sendEvent' },
      },
    ]);
  });

  it('sleep for a while, or until a date', async () => {
    const call = await host(async ({ step }) => {
      await step.sleep('short', 1_500.2);
      await step.sleepUntil('date', new Date(0));
      await step.sleepUntil('text', '2026-01-01T00:00:00+01:00');
      return 'awake';
    });
    expect((await call()).body[0]).to.include({ op: 'Sleep', name: '1501ms' });
    expect((await call({ steps: { short: null } })).body[0]).to.include({ name: '1970-01-01T00:00:00.000Z' });
    const both = { short: null, date: null };
    expect((await call({ steps: both })).body[0]).to.include({ name: '2025-12-31T23:00:00.000Z' });
    expect((await call({ steps: { ...both, text: null } })).body).to.equal('awake');
  });

  it('fail the attempt for an invalid time or ID', async () => {
    const wrong: [(context: AnyContext) => unknown, string][] = [
      [({ step }) => step.sleep('a', '2 hours'), '2 hours'],
      [({ step }) => step.sleep('a', Number.NaN), 'a length of time'],
      [({ step }) => step.sleepUntil('a', 'tomorrow'), 'tomorrow'],
      [({ step }) => step.waitForEvent('a', { event: 'b', timeout: 'ever' }), 'ever'],
      [({ step }) => step.run('', () => {}), 'needs an ID'],
    ];
    for (const [handler, message] of wrong) {
      const { status, body } = await (await host(handler))();
      expect(status).to.equal(500);
      expect(body).to.have.property('name', 'TypeError');
      expect(body.message).to.include(message);
    }
  });

  it('waiting for an event resolve to it, or to null after the timeout', async () => {
    const call = await host(({ step }) => step.waitForEvent('w', { event: 'a/b', timeout: '1h' }));
    const event = { name: 'a/b', data: { n: 1 }, id: '01W', ts: 2, error: 'a field like others' };
    expect((await call({ steps: { w: event } })).body).to.deep.equal(event);
    expect((await call({ steps: { w: null } })).body).to.equal(null);
  });

  it('that invoke a function resolve to its output, or throw its error', async () => {
    const call = await host(({ step }) => step.invoke('i', { function: 'shop-other' }));
    expect((await call({ steps: { i: { data: { n: 1 } } } })).body).to.deep.equal({ n: 1 });
    const failed = await call({ steps: { i: { error: { name: 'RangeError', message: 'too far' } } } });
    expect(failed.status).to.equal(400);
    expect(failed.body).to.include({ name: 'RangeError', message: 'too far' });
  });

  describe('that fail', () => {
    it('are retried, and keep name, message and stack', async () => {
      const call = await host(({ step }) =>
        step.run('a', () => {
          throw new RangeError('too far');
        }),
      );
      const { status, headers, body } = await call();
      expect(status).to.equal(206);
      expect(body[0]).to.include({ op: 'StepError', displayName: 'a' });
      expect(body[0].error).to.include({ name: 'RangeError', message: 'too far' });
      expect(body[0].error.stack).to.include('steps.test.ts');
      expect(headers.get('x-service-no-retry')).to.equal('false');
      expect(headers.has('retry-after')).to.equal(false);
    });

    it('are not retried after a NonRetriableError', async () => {
      const call = await host(({ step }) =>
        step.run('a', async () => {
          throw new NonRetriableError('never');
        }),
      );
      const { headers, body } = await call();
      expect(body[0]).to.include({ op: 'StepFailed' });
      expect(body[0].error).to.include({ name: 'NonRetriableError', message: 'never' });
      expect(headers.get('x-service-no-retry')).to.equal('true');
    });

    it('are retried after the delay of a RetryAfterError', async () => {
      const call = await host(({ step }) =>
        step.run('a', () => {
          throw new RetryAfterError('busy', 5_000);
        }),
      );
      const { headers, ops } = await call();
      expect(ops).to.deep.equal([{ op: 'StepError', displayName: 'a' }]);
      expect(headers.get('retry-after')).to.equal('5');
    });

    it('include steps whose result JSON cannot represent', async () => {
      const call = await host(({ step }) => step.run('a', () => 3n));
      expect((await call()).body[0].error.message).to.include('BigInt');
    });

    it('permanently throw a StepError, which the function can catch', async () => {
      const call = await host(async ({ step }) => {
        try {
          await step.run('a', () => {});
        } catch (error) {
          if (!(error instanceof StepError)) throw error;
          const cause = error.cause as Error;
          return step.run('mend', () => [error.name, error.message, error.stepId, cause.name, cause.stack]);
        }
      });
      const error = { name: 'RangeError', message: 'too far', stack: 'RangeError: too far\n  at there' };
      const { body } = await call({ steps: { a: { error } } });
      expect(body[0].data).to.deep.equal(['RangeError', 'too far', 'a', 'RangeError', error.stack]);
    });

    it('permanently fail the run if the function does not catch it', async () => {
      const call = await host(({ step }) => step.run('a', () => {}));
      const { status, headers } = await call({ steps: { a: { error: { name: 'E', message: 'm' } } } });
      expect(status).to.equal(400);
      expect(headers.get('x-service-no-retry')).to.equal('true');
    });

    it('do not end the process before they are awaited', async () => {
      const call = await host(async ({ step }) => {
        const early = step.run('a', () => {});
        await step.run('b', () => {});
        return early.catch((error) => error.message);
      });
      expect((await call({ steps: { a: { error: { message: 'boom' } } } })).ops).to.deep.equal([
        { op: 'StepRun', displayName: 'b' },
      ]);
      const { body } = await call({ steps: { a: { error: { message: 'boom' } }, b: { data: null } } });
      expect(body).to.equal('boom');
    });
  });

  it('inside steps are rejected permanently, with their names', async () => {
    const call = await host(({ step }) => step.run('outer', () => step.run('inner', () => {})));
    const { body } = await call();
    expect(body[0]).to.include({ op: 'StepFailed', displayName: 'outer' });
    expect(body[0].error.message).to.include('"inner" is inside of step "outer"');
  });

  it('that win a race win it in every replay', async () => {
    const call = await host(async ({ step }) => {
      const winner = await Promise.race([step.run('slow', () => 'slow'), step.sleep('nap', '1m').then(() => 'nap')]);
      return step.run(`after ${winner}`, () => {});
    });
    const steps = { slow: { data: 'slow' }, nap: null };
    expect((await call({ steps, order: ['nap', 'slow'] })).ops[0]?.displayName).to.equal('after nap');
    expect((await call({ steps, order: ['slow', 'nap'] })).ops[0]?.displayName).to.equal('after slow');
  });

  it('that lost a race do not keep the function from ending', async () => {
    const call = await host(({ step }) => Promise.race([step.run('a', () => 'a'), step.sleep('b', '1m')]));
    expect(await call({ steps: { a: { data: 'a' } } })).to.deep.include({ status: 200, body: 'a' });
  });

  it('are found after other awaits in the code', async () => {
    const call = await host(async ({ step }) => {
      await wait(5);
      const a = await step.run('a', () => 1);
      await fetch('http://127.0.0.1:1').catch(() => {});
      const b = await step.run('b', () => 2);
      return [a, b];
    });
    expect((await call()).ops).to.deep.equal([{ op: 'StepRun', displayName: 'a' }]);
    expect((await call({ steps: { a: { data: 1 } } })).ops).to.deep.equal([{ op: 'StepRun', displayName: 'b' }]);
    expect((await call({ steps: { a: { data: 1 }, b: { data: 2 } } })).body).to.deep.equal([1, 2]);
  });

  it('that were planned are found after other awaits, while others are pending', async () => {
    const call = await host(({ step }) =>
      Promise.all([step.run('a', () => 1), wait(5).then(() => step.run('b', () => 2))]),
    );
    expect((await call({ stepId: 'b' })).ops).to.deep.equal([{ op: 'StepRun', displayName: 'b' }]);
  });

  it('that are missing in the code are reported as not found', async () => {
    const call = await host(async ({ step }) => {
      await step.run('a', () => {});
    });
    const { status, body } = await call({ stepId: 'gone', steps: { a: { data: null } } });
    expect(status).to.equal(206);
    expect(body[0]).to.include({ op: 'StepNotFound', id: hashStepId('gone') });
    expect(body[0].error.message).to.include('its code has changed under the run');
  });

  it('requested again return their result without running', async () => {
    const call = await host(({ step }) => step.run('a', () => 'must not run'));
    const { body } = await call({ stepId: 'a', steps: { a: { data: 7 } } });
    expect(body[0]).to.include({ op: 'StepRun', data: 7 });
  });

  it('sending events return their IDs, with the same seed in every attempt', async () => {
    const service = await startService('hang up', { body: { ids: ['01A', '01B'], status: 200 } });
    const events = [
      { name: 'a', data: {} },
      { name: 'b', data: {} },
    ];
    const call = await host(
      async ({ step }) => [await step.sendEvent('tell', events), await step.sendEvent('tell', events)],
      { sendTo: service.url },
    );
    expect((await call()).body[0]).to.deep.include({ op: 'StepRun', data: { ids: ['01A', '01B'] } });
    await call({ attempt: 1 });
    await call({ steps: { tell: { data: { ids: [] } } } });
    const seeds = service.requests.map(({ headers }) => headers['x-service-event-id-seed']);
    expect(seeds).to.have.length(4);
    expect(seeds[0]).to.match(/^\d+,[\w+/]{14}==$/);
    expect(new Set(seeds.slice(0, 3)).size).to.equal(1);
    expect(seeds[3]).not.to.equal(seeds[0]);
  });

  it('do not catch errors of the code around them, which fail only the attempt', async () => {
    const call = await host(async ({ step }) => {
      await step.run('a', () => {});
      throw new Error('between steps');
    });
    const { status, body } = await call({ steps: { a: { data: null } } });
    expect(status).to.equal(500);
    expect(body.message).to.equal('between steps');
  });
});
