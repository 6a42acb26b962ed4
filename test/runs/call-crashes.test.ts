import { expect } from 'chai';
import {
  type Failure,
  type Outcome,
  permanentFailure,
  retriableFailure,
} from '../../src/functions/interpret-response.ts';
import { CronTicks } from '../../src/jobs/timers/cron.ts';
import { newId } from '../../src/model/ids.ts';
import { MAX_STEPS } from '../../src/model/runs/memo.ts';
import type { Op } from '../../src/model/runs/operation.ts';
import {
  type App,
  type CallBed,
  createCallBed,
  INVOKED,
  LIMITED,
  PAUSING,
  type RunOptions,
  TICKING,
} from './call-bed.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const completed = (output: unknown, ops?: Op[]): Outcome => ({
  kind: 'completed',
  output: JSON.stringify(output),
  ...(ops && { ops }),
});
const steps = (...ops: Op[]): Outcome => ({ kind: 'steps', ops });
const finished = (id: string, data: unknown = id): Op => ({ op: 'StepRun', id, displayName: id, data });
const planned = (id: string): Op => ({ op: 'StepPlanned', id, displayName: id });
const nap = (duration: string): Op => ({ op: 'Sleep', id: 'nap', name: duration, opts: { duration } });
const WAIT: Op = { op: 'WaitForEvent', id: 'answer', opts: { event: 'order/answered', timeout: '30d' } };
const TOO_MANY_STEPS = Array.from({ length: MAX_STEPS + 1 }, (_, i) => String(i));
const DECLINED = { name: 'Declined', message: 'the card was declined' };
const declined = (): Failure => retriableFailure(DECLINED.name, DECLINED.message);

interface Scenario extends Omit<RunOptions, 'startsAtOnce'> {
  title: string;
  /** Whether its calls depend on how the first one started. */
  atOnceToo?: boolean;
  app: App;
  status: 'Completed' | 'Failed' | 'Running';
  output?: unknown;
  error?: string;
  steps?: string[];
  /** Times of reconciliations. */
  reconciledAfterMs?: number[];
}

/** At least one for each decision (call-decision.ts). */
const SCENARIOS: Scenario[] = [
  {
    title: 'completes with its first call',
    app: () => completed('paid'),
    ...{ atOnceToo: true, status: 'Completed', output: 'paid' },
  },
  {
    title: 'completes with the request of a destination',
    app: () => ({ ...completed('sent'), request: { method: 'POST', origin: 'http://localhost', status: 200 } }),
    ...{ status: 'Completed', output: 'sent' },
  },
  {
    title: 'completes after a step',
    atOnceToo: true,
    app: ({ stack }) => (stack.length === 0 ? steps(finished('a')) : completed('paid')),
    ...{ status: 'Completed', output: 'paid', steps: ['a'] },
  },
  {
    title: 'runs two planned steps',
    atOnceToo: true,
    app({ stack, stepId }) {
      if (stepId) return steps(finished(stepId));
      return stack.length === 2 ? completed('paid') : steps(planned('a'), planned('b'));
    },
    ...{ status: 'Completed', output: 'paid', steps: ['a', 'b'] },
  },
  {
    title: 'finishes two steps in one response',
    app: ({ stack }) => (stack.length === 0 ? steps(finished('a'), finished('b')) : completed('paid')),
    ...{ status: 'Completed', output: 'paid', steps: ['a', 'b'] },
  },
  {
    title: 'sleeps',
    app: ({ stack }) =>
      stack.length === 0 ? steps({ op: 'Sleep', id: 'nap', name: '1m', opts: { duration: '1m' } }) : completed('paid'),
    ...{ status: 'Completed', output: 'paid', steps: ['nap'] },
  },
  {
    title: 'sleeps twice, and retries the call after it',
    atOnceToo: true,
    app: ({ stack, run: { attempt } }) =>
      [steps(nap('1m')), attempt === 0 ? declined() : steps({ ...nap('1m'), id: 'again' })][stack.length] ??
      completed('paid'),
    ...{ status: 'Completed', output: 'paid', steps: ['nap', 'again'] },
  },
  {
    title: 'sleeps after steps that its call has stored',
    async app({ stack }, checkpoint) {
      if (stack.length === 0) await checkpoint([finished('a'), finished('b')]);
      return stack.includes('nap') ? completed('paid') : steps(nap('1m'));
    },
    ...{ status: 'Completed', output: 'paid', steps: ['a', 'b', 'nap'] },
  },
  {
    title: 'holds limits as a whole, and sleeps after a step',
    fn: LIMITED,
    app: ({ stack }) => [steps(finished('a')), steps(nap('1m'))][stack.length] ?? completed('paid'),
    ...{ status: 'Completed', output: 'paid', steps: ['a', 'nap'] },
  },
  {
    title: 'sleeps for a month after a step',
    app: ({ stack }) => [steps(finished('a')), steps(nap('30d'))][stack.length] ?? completed('paid'),
    reconciledAfterMs: [5 * MINUTE_MS, 30 * DAY_MS - MINUTE_MS],
    ...{ status: 'Completed', output: 'paid', steps: ['a', 'nap'] },
  },
  {
    title: 'sleeps for a day and for a month at once',
    app: ({ stack }) => (stack.length === 0 ? steps(nap('1d'), { ...nap('30d'), id: 'long' }) : completed('paid')),
    reconciledAfterMs: [5 * MINUTE_MS, DAY_MS - MINUTE_MS, 2 * DAY_MS, 30 * DAY_MS - MINUTE_MS],
    ...{ status: 'Completed', output: 'paid', steps: ['nap', 'long'] },
  },
  {
    title: 'waits for an event that is sent as soon as the step has begun',
    app: ({ stack }) => (stack.length === 0 ? steps(WAIT) : completed('paid')),
    answer: 'order/answered',
    ...{ status: 'Completed', output: 'paid', steps: ['answer'] },
  },
  {
    title: 'waits for a month for an event that does not come',
    app: ({ stack }) => (stack.length === 0 ? steps(WAIT) : completed('paid')),
    reconciledAfterMs: [5 * MINUTE_MS, 30 * DAY_MS - MINUTE_MS],
    ...{ status: 'Completed', output: 'paid', steps: ['answer'] },
  },
  {
    title: 'invokes another function',
    app({ run, stack }) {
      if (run.functionId === INVOKED.id) return completed('a bill');
      const opts = { function_id: INVOKED.id, payload: { data: {} } };
      return stack.length === 0
        ? steps({ op: 'InvokeFunction', id: 'bill', displayName: 'bill', opts })
        : completed('paid');
    },
    ...{ status: 'Completed', output: 'paid', steps: ['bill'] },
  },
  {
    title: 'retries a step that has failed',
    app({ stack, run: { attempt } }) {
      if (stack.length === 1) return completed('paid');
      return attempt === 0
        ? steps({ op: 'StepError', id: 'a', displayName: 'a', error: DECLINED })
        : steps(finished('a'));
    },
    ...{ status: 'Completed', output: 'paid', steps: ['a'] },
  },
  {
    title: 'retries a failed call',
    atOnceToo: true,
    app: ({ run: { attempt } }) => (attempt === 0 ? declined() : completed('paid')),
    ...{ status: 'Completed', output: 'paid' },
  },
  { title: 'fails after its last attempt', app: declined, status: 'Failed', error: 'Declined' },
  {
    title: 'pauses after its last attempt',
    app: declined,
    fn: PAUSING,
    reconciledAfterMs: [5 * MINUTE_MS, DAY_MS],
    ...{ status: 'Running', error: 'Declined' },
  },
  {
    title: 'is resumed after its function has failed',
    app: ({ run }) => (run.error ? completed('paid') : declined()),
    ...{ fn: PAUSING, resumes: true, reconciledAfterMs: [5 * MINUTE_MS], status: 'Completed', output: 'paid' },
  },
  {
    title: 'is resumed after a step has failed beside another one',
    app({ run, stack, stepId }) {
      if (stepId === 'a' && !run.error) return steps({ op: 'StepError', id: 'a', displayName: 'a', error: DECLINED });
      if (stepId) return steps(finished(stepId));
      return stack.length === 2 ? completed('paid') : steps(planned('a'), planned('b'));
    },
    ...{ fn: PAUSING, resumes: true, reconciledAfterMs: [5 * MINUTE_MS] },
    ...{ status: 'Completed', output: 'paid', steps: ['a', 'b'] },
  },
  {
    title: 'fails at once',
    app: () => permanentFailure('NoCustomer', 'there is no such customer'),
    ...{ status: 'Failed', error: 'NoCustomer' },
  },
  {
    title: 'completes with steps that its response reports',
    atOnceToo: true,
    app: () => completed('paid', [finished('a'), finished('b')]),
    ...{ status: 'Completed', output: 'paid', steps: ['a', 'b'] },
  },
  {
    title: 'completes with a step that its response reports, after one that its call has stored',
    async app(_, checkpoint) {
      await checkpoint([finished('a')]);
      return completed('paid', [finished('b')]);
    },
    ...{ status: 'Completed', output: 'paid', steps: ['a', 'b'] },
  },
  {
    title: 'completes with a step that has metadata',
    app: () => completed('paid', [{ ...finished('a'), metadata: [] }]),
    ...{ status: 'Completed', output: 'paid', steps: ['a'] },
  },
  {
    title: 'fails because its response reports too many steps with its end',
    app: () =>
      completed(
        'paid',
        TOO_MANY_STEPS.map((id) => finished(id)),
      ),
    ...{ status: 'Failed', error: 'TooManySteps', steps: TOO_MANY_STEPS },
  },
  {
    title: 'fails an attempt with steps that its response reports',
    app: ({ stack }) => (stack.length === 0 ? { ...declined(), ops: [finished('a')] } : completed('paid')),
    ...{ status: 'Completed', output: 'paid', steps: ['a'] },
  },
  {
    title: 'completes in the call that has stored steps',
    atOnceToo: true,
    async app(_, checkpoint) {
      await checkpoint([finished('a')]);
      return completed('paid');
    },
    ...{ status: 'Completed', output: 'paid', steps: ['a'] },
  },
  {
    title: 'goes on in another call because its time is over',
    async app({ stack }, checkpoint) {
      if (stack.length > 0) return completed('paid');
      await checkpoint([finished('a')]);
      return steps();
    },
    ...{ status: 'Completed', output: 'paid', steps: ['a'] },
  },
  {
    title: 'is retried from the steps that a failed call has stored',
    async app({ stack }, checkpoint) {
      if (stack.length > 0) return completed('paid');
      await checkpoint([finished('a')]);
      return declined();
    },
    ...{ status: 'Completed', output: 'paid', steps: ['a'] },
  },
];

describe('A process that dies while it commits the outcome of a call', () => {
  let bed: CallBed;
  beforeEach(async () => {
    bed = await createCallBed();
  });
  afterEach(() => bed.close());

  for (const { title, atOnceToo, app, ...expected } of SCENARIOS) {
    it(`does not affect a run that ${title}, whichever command was its last`, async () => {
      const commands = await expectEnd(app, expected);
      expect(commands).to.be.greaterThan(1);
      for (let diesAfter = 0; diesAfter < commands; diesAfter++) await expectEnd(app, expected, diesAfter);
    });

    if (!atOnceToo) continue;
    it(`does not affect a run that ${title}, and whose first call starts as it is created`, async () => {
      const atOnce = { ...expected, startsAtOnce: true };
      const commands = await expectEnd(app, atOnce);
      expect(commands).to.be.greaterThan(0);
      for (let diesAfter = 0; diesAfter < commands; diesAfter++) await expectEnd(app, atOnce, diesAfter);
    });
  }

  /** @returns the commands that it took */
  async function expectEnd(
    app: App,
    {
      status,
      output,
      error,
      steps: stepIds = [],
      reconciledAfterMs,
      ...options
    }: Omit<Scenario, 'title' | 'app'> & RunOptions,
    diesAfter?: number,
  ): Promise<number> {
    const when = diesAfter === undefined ? 'without a death' : `dead after ${diesAfter} commands`;
    const ended = await bed.run(app, diesAfter, reconciledAfterMs, options);
    const { run, history, jobsLeft, commands, unlisted, pausesTold } = ended;
    expect(run.status, when).to.equal(status);
    if (output !== undefined) expect(JSON.parse(run.output ?? 'null'), when).to.equal(output);
    expect(run.error?.name, when).to.equal(error);
    expect(run.pause?.reason, when).to.equal(status === 'Running' ? 'exhausted' : undefined);
    expect(run.uncounted, 'it is counted in its error group').to.equal(undefined);
    expect(pausesTold, when).to.equal(options.fn === PAUSING ? 1 : 0);
    expect(jobsLeft, when).to.equal(0);
    expect(unlisted, when).to.deep.equal([]);
    const completed = history.filter((entry) => entry.kind === 'step' && entry.status === 'Completed');
    const told = [...new Set(completed.map(({ stepId }) => stepId))];
    expect(told, when).to.have.members(stepIds);
    return commands;
  }
});

describe('A process that dies while it starts a run', () => {
  const of = { env: 'production', requestId: 'request' };
  let bed: CallBed;
  beforeEach(async () => {
    bed = await createCallBed();
  });
  afterEach(() => bed.close());

  /** @param again what another process does then */
  async function expectListed(work: Parameters<CallBed['work']>[0], again?: Parameters<CallBed['work']>[0]) {
    const commands = await bed.work(work);
    expect(commands).to.be.greaterThan(3);
    for (let diesAfter = 1; diesAfter < commands; diesAfter++) {
      await bed.work(work, diesAfter);
      if (again) await bed.work(again);
      expect(await bed.unlistedEvents(), `dead after ${diesAfter} commands`).to.deep.equal([]);
    }
  }

  it('leaves no run of an API invocation whose event is in no list', () =>
    expectListed(({ invocations }) =>
      invocations.invokeFromApi({ ...of, functionId: INVOKED.id, payload: { data: {} }, nowMs: Date.now() }),
    ));

  it('leaves no run of an endpoint whose event is in no list', () =>
    expectListed(({ endpoints }) =>
      endpoints.start({ ...of, runId: newId(), fn: INVOKED, event: { name: 'shop/request', data: {} } }, Date.now()),
    ));

  it('leaves no run of a tick whose event is in no list, even if it was one of several late ones', async () => {
    let dueAt = Date.now() - (Date.now() % 1_000);
    const tick = (lateMs: number, executions: number) => (deps: object) => {
      const ticks = new CronTicks(Object.assign(Object.create(deps), { clock: () => dueAt + lateMs }));
      return ticks.handle(
        { kind: 'cron', env: of.env, functionId: TICKING.id, cron: '* * * * * *' },
        dueAt,
        executions,
      );
    };
    await expectListed(tick(3_500, 1), async (deps) => {
      await tick(12_000, 2)(deps);
      dueAt += 60_000;
    });
  });
});
