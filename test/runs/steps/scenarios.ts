/** Scenarios: a function and its expected result. Each is written once, for any SDK. */
import type { Loose, SdkAdapter } from './sdk-adapters.ts';

export interface Scenario {
  title: string;
  /** Configuration beside id and triggers. */
  config?: Loose;
  /** The function. `log` records effects, `send` sends an event of the scenario. */
  handler(tools: Tools): Loose;
  /** Further functions, by id, on events of that name or on none. */
  others?: Record<string, { config?: Loose; handler(tools: Tools): Loose }>;
  /** Data of the event that starts it. */
  data?: object;
  /** Runs beside the function. */
  during?(outside: Outside): Promise<void>;
  status?: 'Completed' | 'Failed' | 'Cancelled';
  output?: unknown;
  /** Name of the error, or a pattern of its message. */
  error?: RegExp;
  /** Recorded effects, in any order. */
  effects?: string[];
}

export interface Tools {
  step: Loose;
  event: Loose;
  attempt: number;
  error: Loose;
  log(effect: string): void;
  /** Records an effect, and returns the value. */
  note<T>(effect: string, value: T): T;
  send(name: string, data?: object): Promise<void>;
  sdk: SdkAdapter;
  /** Full name of an event of the scenario. */
  named(name: string): string;
  /** Another function of the scenario, for step.invoke. */
  fn(id: string): Loose;
}

export interface Outside {
  /** Resolves when the effect is recorded. */
  noted(effect: string): Promise<void>;
  send(name: string, data?: object): Promise<void>;
  /** Resolves when a step of the run waits. */
  waiting(op: string): Promise<void>;
  cancel(): Promise<void>;
}

export const SCENARIOS: Scenario[] = [
  {
    title: 'a function without steps returns its output',
    handler: ({ event }) => ({ got: event.data.n }),
    data: { n: 7 },
    output: { got: 7 },
  },
  {
    title: 'steps run once each, one after the other, and their outputs are replayed',
    async handler({ step, note }) {
      const a = await step.run('a', () => note('a', 1));
      const b = await step.run('b', () => note('b', a + 1));
      return step.run('c', () => note('c', { sum: a + b }));
    },
    output: { sum: 3 },
    effects: ['a', 'b', 'c'],
  },
  {
    title: 'a step that returns nothing finishes',
    async handler({ step, log }) {
      await step.run('nothing', () => log('nothing'));
      return 'on';
    },
    output: 'on',
    effects: ['nothing'],
  },
  {
    title: 'steps under Promise.all run once each, in parallel calls',
    async handler({ step, note }) {
      const all = await Promise.all(['a', 'b', 'c', 'd'].map((id) => step.run(id, () => note(id, id))));
      return step.run('join', () => note('join', all.join('')));
    },
    output: 'abcd',
    effects: ['a', 'b', 'c', 'd', 'join'],
  },
  {
    title: 'chains of steps under Promise.all progress independently',
    async handler({ step, note }) {
      const chain = async (name: string, length: number) => {
        let sum = 0;
        for (let i = 0; i < length; i++) sum += await step.run(`${name}${i}`, () => note(`${name}${i}`, 1));
        return sum;
      };
      return Promise.all([chain('x', 1), chain('y', 3), chain('z', 2)]);
    },
    output: [1, 3, 2],
    effects: ['x0', 'y0', 'y1', 'y2', 'z0', 'z1'],
  },
  {
    title: 'the first step of a Promise.race wins',
    async handler({ step }) {
      const first = await Promise.race([step.run('quick', () => 'quick'), step.sleep('slow', '2s').then(() => 'slow')]);
      return step.run('after', () => `${first} won`);
    },
    output: 'quick won',
  },
  {
    title: 'a step in a loop may keep its ID',
    async handler({ step, note }) {
      const seen: number[] = [];
      for (let i = 0; i < 5; i++) seen.push(await step.run('again', () => note(`round ${i}`, i)));
      return seen;
    },
    output: [0, 1, 2, 3, 4],
    effects: ['round 0', 'round 1', 'round 2', 'round 3', 'round 4'],
  },
  {
    title: 'a sleep lasts as long as it says',
    async handler({ step }) {
      const before: number = await step.run('before', () => Date.now());
      await step.sleep('nap', '300ms');
      const slept: number = await step.run('after', () => Date.now() - before);
      return slept >= 300;
    },
    output: true,
  },
  {
    title: 'a sleep until a date ends at that time, and at once if the date is past',
    async handler({ step }) {
      const until: string = await step.run('when', () => new Date(Date.now() + 300).toISOString());
      await step.sleepUntil('then', until);
      await step.sleepUntil('past', '2020-01-01T00:00:00Z');
      return step.run('after', () => Date.now() >= Date.parse(until));
    },
    output: true,
  },
  {
    title: 'a step that throws is retried, alone, until it succeeds',
    config: { retries: 3 },
    async handler({ step, log, attempt }) {
      await step.run('first', () => log('first'));
      return step.run('flaky', () => {
        log('flaky');
        if (attempt < 2) throw new Error('not yet');
        return attempt;
      });
    },
    output: 2,
    effects: ['first', 'flaky', 'flaky', 'flaky'],
  },
  {
    title: 'each step has all attempts of the function',
    config: { retries: 1 },
    async handler({ step, log, attempt }) {
      for (const id of ['a', 'b', 'c']) {
        await step.run(id, () => {
          log(`${id}${attempt}`);
          if (attempt === 0) throw new Error('first attempt');
        });
      }
      return 'done';
    },
    output: 'done',
    effects: ['a0', 'a1', 'b0', 'b1', 'c0', 'c1'],
  },
  {
    title: 'a function can catch a permanently failed step',
    config: { retries: 1 },
    async handler({ step, log }) {
      try {
        await step.run('hopeless', () => {
          log('hopeless');
          throw new Error('no way');
        });
      } catch (error) {
        return step.run('instead', () => `caught: ${(error as Error).message}`);
      }
    },
    output: 'caught: no way',
    effects: ['hopeless', 'hopeless'],
  },
  {
    title: 'a permanently failed step that is not caught fails the run, and the failure handler runs',
    config: { retries: 0, onFailure: ({ error, sdk: _sdk, log }: Tools) => log(`handler: ${error.message}`) },
    async handler({ step }) {
      await step.run('hopeless', () => {
        throw new Error('no way');
      });
    },
    async during({ noted }) {
      await noted('handler: no way');
    },
    status: 'Failed',
    error: /no way/,
  },
  {
    title: 'a non-retriable error in a step fails the step at once, and can be caught',
    config: { retries: 3 },
    async handler({ step, log, sdk }) {
      try {
        await step.run('bad', () => {
          log('bad');
          throw new sdk.NonRetriableError('never again');
        });
      } catch (error) {
        return `caught: ${(error as Error).message}`;
      }
    },
    output: 'caught: never again',
    effects: ['bad'],
  },
  {
    title: 'a step can set the time of its retry',
    config: { retries: 1 },
    async handler({ step, log, attempt, sdk }) {
      return step.run('later', () => {
        log(`later ${attempt}`);
        if (attempt === 0) throw new sdk.RetryAfterError('in a second', 1_000);
        return 'served';
      });
    },
    output: 'served',
    effects: ['later 0', 'later 1'],
  },
  {
    title: 'an error between steps is retried, and finished steps do not run again',
    config: { retries: 2 },
    async handler({ step, log, attempt }) {
      await step.run('once', () => log('once'));
      if (attempt < 2) throw new Error('between');
      return 'done';
    },
    output: 'done',
    effects: ['once'],
  },
  {
    title: 'one of several parallel steps fails while each of the others runs once',
    config: { retries: 0 },
    async handler({ step, log, note }) {
      const results = await Promise.allSettled([
        step.run('good', () => note('good', 'good')),
        step.run('bad', () => {
          log('bad');
          throw new Error('bad');
        }),
        step.run('fine', () => note('fine', 'fine')),
      ]);
      return results.map(({ status }) => status);
    },
    output: ['fulfilled', 'rejected', 'fulfilled'],
    effects: ['good', 'bad', 'fine'],
  },
  {
    title: 'a wait ends with the event that matches its expression, and with no other',
    async handler({ step, named }) {
      const event = await step.waitForEvent('approval', {
        event: named('approved'),
        timeout: '1h',
        if: 'async.data.order == event.data.order',
      });
      return event.data;
    },
    data: { order: 'A1' },
    async during({ waiting, send }) {
      await waiting('WaitForEvent');
      await send('approved', { order: 'B2', by: 'nobody' });
      await send('approved', { order: 'A1', by: 'me' });
    },
    output: { order: 'A1', by: 'me' },
  },
  {
    title: 'a wait without a match returns null after its timeout',
    async handler({ step, named }) {
      return { met: await step.waitForEvent('never', { event: named('never'), timeout: '300ms' }) };
    },
    output: { met: null },
  },
  {
    title: 'a wait ends with an event that arrives while the wait is stored',
    async handler({ step, named, send }) {
      // Outside a step: the call that sends it also starts the wait.
      await send('meanwhile', { quick: true });
      const event = await step.waitForEvent('meanwhile', { event: named('meanwhile'), timeout: '20s' });
      return event?.data;
    },
    output: { quick: true },
  },
  {
    title: 'a wait does not match the event that triggered the run',
    async handler({ step, event }) {
      return { met: await step.waitForEvent('self', { event: event.name, timeout: '300ms' }) };
    },
    output: { met: null },
  },
  {
    title: 'several waits and sleeps run in parallel',
    async handler({ step, named }) {
      const [a, b] = await Promise.all([
        step.waitForEvent('a', { event: named('a'), timeout: '1h' }),
        step.waitForEvent('b', { event: named('b'), timeout: '1h' }),
        step.sleep('nap', '100ms'),
      ]);
      return [a.data.n, b.data.n];
    },
    async during({ waiting, send }) {
      await waiting('WaitForEvent');
      await send('b', { n: 2 });
      await send('a', { n: 1 });
    },
    output: [1, 2],
  },
  {
    title: 'an invoked function returns its result to the invoker',
    handler: async ({ step, fn }) => ({ sum: await step.invoke('add', { function: fn('add'), data: { a: 1, b: 2 } }) }),
    others: { add: { handler: ({ event }) => event.data.a + event.data.b } },
    output: { sum: 3 },
  },
  {
    title: 'an invocation waits for a function with steps',
    handler: async ({ step, fn }) =>
      Promise.all([1, 2, 3].map((n) => step.invoke(`i${n}`, { function: fn('double'), data: { n } }))),
    others: {
      double: {
        handler: async ({ step, event }) => {
          await step.sleep('nap', '50ms');
          return step.run('twice', () => 2 * event.data.n);
        },
      },
    },
    output: [2, 4, 6],
  },
  {
    title: 'an invoked function that fails throws in the invoker',
    async handler({ step, fn }) {
      try {
        await step.invoke('call', { function: fn('broken'), data: {} });
      } catch (error) {
        return `caught: ${(error as Error).message}`;
      }
    },
    others: {
      broken: {
        config: { retries: 0 },
        handler: () => {
          throw new Error('broken inside');
        },
      },
    },
    output: 'caught: broken inside',
  },
  {
    title: 'an invoked function that exceeds the timeout throws in the invoker',
    async handler({ step, fn }) {
      try {
        await step.invoke('call', { function: fn('slow'), data: {}, timeout: '300ms' });
      } catch {
        return 'gave up';
      }
    },
    others: { slow: { handler: async ({ step }) => step.sleep('long', '1h') } },
    output: 'gave up',
  },
  {
    title: 'invoking a function that does not exist throws at once',
    async handler({ step, fn }) {
      try {
        await step.invoke('call', { function: fn('unregistered'), data: {} });
      } catch (error) {
        return (error as Error).message.includes('could not find function');
      }
    },
    output: true,
  },
  {
    title: 'an event sent by a step triggers other functions, once',
    async handler({ step, named, log }) {
      const { ids } = await step.sendEvent('tell', [
        { name: named('listener'), data: { n: 1 } },
        { name: named('listener'), data: { n: 2 } },
      ]);
      await step.run('after', () => log('after'));
      return ids.length;
    },
    others: { listener: { handler: ({ event, log }) => log(`heard ${event.data.n}`) } },
    async during({ noted }) {
      await noted('heard 1');
      await noted('heard 2');
    },
    output: 2,
    effects: ['after', 'heard 1', 'heard 2'],
  },
  {
    title: 'a sleeping run that the API cancels runs no further step',
    async handler({ step, log }) {
      await step.sleep('long', '700ms');
      await step.run('never', () => log('never'));
    },
    async during({ waiting, cancel }) {
      await waiting('Sleep');
      await cancel();
    },
    status: 'Cancelled',
    effects: [],
  },
  {
    title: 'an event that matches the expression of a cancel trigger cancels the run, and no other does',
    config: { cancelOn: [{ event: 'cancelled', if: 'async.data.order == event.data.order' }] },
    handler: async ({ step }) => step.sleep('long', '1h'),
    data: { order: 'A1' },
    async during({ waiting, send }) {
      await waiting('Sleep');
      await send('cancelled', { order: 'B2' });
      await send('cancelled', { order: 'A1' });
    },
    status: 'Cancelled',
  },
  {
    title: 'an event after the timeout of a cancel trigger does not cancel the run',
    config: { cancelOn: [{ event: 'too-late', timeout: '1s' }] },
    async handler({ step, log }) {
      await step.sleep('first', '1200ms');
      await step.run('note', () => log('slept'));
      await step.sleep('second', '500ms');
      return 'lived';
    },
    async during({ noted, send }) {
      await noted('slept');
      await send('too-late');
    },
    output: 'lived',
  },
  {
    title: 'an app fetches memos of more than 4 MiB in total',
    async handler({ step }) {
      let length = 0;
      for (const id of ['a', 'b', 'c']) length += (await step.run(id, () => id.repeat(2_000_000))).length;
      return length;
    },
    output: 6_000_000,
  },
  {
    title: 'a step output larger than 4 MiB fails the run with a clear error',
    handler: async ({ step }) => step.run('huge', () => 'x'.repeat(4 * 1_024 * 1_024 + 1)),
    status: 'Failed',
    error: /larger than 4194304|more than 4194304/,
  },
];
