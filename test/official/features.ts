/** Features of the official SDKs and how each shows whether it acts: the rows of docs/compatibility.md. Beside the apps of scenarios.ts each
 *  SDK has an app with a function for each feature here that needs one; it runs on the event <app>/<function>. */
import { expect } from 'chai';
import { close, subscribe, tokenFor } from '../support/realtime.ts';
import { until } from '../support/until.ts';
import { functionOf } from './feature-names.ts';
import type { Loose, Outside } from './outside.ts';
import { COMPLETION, startProvider } from './provider.ts';

/** As in the tables of docs/compatibility.md. */
export type Effect = 'acts' | 'differs' | 'not there' | '–';

/** Features that scenarios.ts has, by the functions that show them. */
export const SHOWN_BY_SCENARIOS: Readonly<Record<string, readonly string[]>> = {
  'step.run': ['chain'],
  'step.sleep': ['chain'],
  'step.waitForEvent': ['waits', 'waits-in-vain'],
  'step.invoke': ['invokes'],
  'step.sendEvent': ['sends'],
  'parallel steps': ['branches'],
  'large state': ['bulky'],
  retries: ['stumbles', 'flaky'],
  NonRetriableError: ['hopeless'],
  'catching a step': ['caught'],
  onFailure: ['hopeless'],
  'event triggers': ['receipt'],
  'sending events': ['relays'],
  'serving over HTTP': ['receipt'],
  // test/official/official.test.ts, in production
  'signed calls': ['receipt'],
};

/** Long enough that two runs which start together overlap. */
const HOLD_MS = 1_500;
/** Long enough that something else happens meanwhile, also on a busy machine: two more events arrive, a time-out of a second is over. */
const LONG_HOLD_MS = 10_000;
/** Within this time after its minute a schedule has run. */
const AFTER_MINUTE_MS = 30_000;
/** More than the service needs to store the schedules of an app. */
const REGISTRATION_MS = 10_000;
/** An hour or a minute is meant to be longer than this. */
const SOON_MS = 12_000;

type Probe = (outside: Outside, fn: string) => Promise<Effect>;

/** Sends two events that one of these would hold back, drop, join or end.
 *  @returns 'not there' when each had its own run at once */
async function holdsBack(outside: Outside, fn: string): Promise<Effect> {
  const data = { n: 1, ms: HOLD_MS };
  const sentAt = Date.now();
  const ids = await Promise.all([outside.send(fn, data), outside.send(fn, data)]);
  const outputs = await Promise.all(ids.map((id) => outside.output(id)));
  const [one, other] = outputs.map(({ from, to }: Loose) => ({ from, to }));
  const overlap = Math.min(one?.to, other?.to) - Math.max(one?.from, other?.from);
  const alone = outputs.every(({ events }: Loose) => events === 1);
  return alone && overlap > 0 && Date.now() - sentAt < SOON_MS ? 'not there' : 'acts';
}

/** A decision about one of two equal events.
 *  @returns 'not there' when both have had a run */
function decides(reason: string): Probe {
  return async (outside, fn) => {
    const ids = await Promise.all([
      outside.send(fn, { n: 1, ms: LONG_HOLD_MS }),
      outside.send(fn, { n: 1, ms: LONG_HOLD_MS }),
    ]);
    const functionId = `${outside.app}-${fn}`;
    const decisions = async () => {
      const responses = await Promise.all(ids.map((id) => outside.service.get(`/v1/events/${id}/decisions`)));
      return responses.map(({ body }) => body.data?.find(({ function_id }: Loose) => function_id === functionId));
    };
    const isDecided = (all: Loose[]) =>
      all.every((item) => item?.outcome === 'ran') || all.some((item) => item?.reason === reason);
    const found = await until(
      async () => {
        const all = await decisions();
        return isDecided(all) && all;
      },
      { describe: `${fn} is decided for two events` },
    );
    return found.some((item: Loose) => item?.reason === reason) ? 'acts' : 'not there';
  };
}

/** The runs of three equal events: a burst may let two begin at once. */
async function runsOfThree(outside: Outside, fn: string): Promise<Loose[]> {
  const ids = await Promise.all([1, 2, 3].map(() => outside.send(fn, { n: 1, ms: HOLD_MS })));
  return Promise.all(
    ids.map(async (id) => {
      const { body } = await outside.service.waitFor(
        `/v1/events/${id}/runs`,
        (response) => response.body.data?.length === 1,
      );
      return body.data[0];
    }),
  );
}

/** Whether the run of this event ends with this output. */
async function putsOut(outside: Outside, eventId: string, output: unknown): Promise<Effect> {
  const run = await outside.endedRun(eventId);
  if (run.status === 'Failed' && ['AppError', 'UnsupportedOperation'].includes(run.error.name)) return 'not there';
  expect(run.status, JSON.stringify(run.error)).to.equal('Completed');
  expect(run.output).to.deep.equal(output);
  return 'acts';
}

export const PROBES: Readonly<Record<string, Probe>> = {
  ...Object.fromEntries(['concurrency', 'batchEvents'].map((feature) => [feature, holdsBack])),
  ...Object.fromEntries(
    Object.entries({
      rateLimit: 'rate_limited',
      debounce: 'debounced',
      singleton: 'singleton',
      idempotency: 'idempotent',
    }).map(([feature, reason]) => [feature, decides(reason)]),
  ),
  /** The last run waits for a minute. */
  async throttle(outside, fn) {
    const runs = await runsOfThree(outside, fn);
    const read = async ({ run_id }: Loose) => (await outside.service.get(`/v1/runs/${run_id}`)).body.data;
    const waits = ({ waiting }: Loose) => waiting?.limits.some(({ kind }: Loose) => kind === 'throttle');
    const found = await until(
      async () => {
        const all = await Promise.all(runs.map(read));
        return (all.some(waits) || all.every(({ status }) => status !== 'Queued')) && all;
      },
      { describe: 'a run waits for the throttle, or all have begun' },
    );
    return found.some(waits) ? 'acts' : 'not there';
  },

  /** Two runs wait for the end of another; the one that came last has more priority. */
  priority: async function priority(outside, fn): Promise<Effect> {
    const running = await outside.send(fn, { n: 0, ms: LONG_HOLD_MS });
    await outside.service.waitFor(`/v1/events/${running}/runs`, ({ body }) => body.data?.[0]?.status === 'Running');
    const low = await outside.send(fn, { n: -100, ms: 1 });
    const high = await outside.send(fn, { n: 100, ms: 1 });
    const [held, first, second] = await Promise.all([running, high, low].map((id) => outside.output(id)));
    const queued = await Promise.all([high, low].map(async (id) => Date.parse((await outside.endedRun(id)).queued_at)));
    // A busy machine may have queued one of them too late to say anything.
    if (Math.max(...queued) >= held.to) return priority(outside, fn);
    return first.from < second.from ? 'acts' : 'not there';
  },

  async timeouts(outside, fn) {
    const { status, cancel_reason } = await outside.endedRun(await outside.send(fn, { n: 1, ms: LONG_HOLD_MS }));
    return status === 'Cancelled' && cancel_reason?.cause === 'finish_timeout' ? 'acts' : 'not there';
  },

  /** Three steps; the function tells how often it was called. */
  async checkpointing(outside, fn) {
    const { calls } = await outside.output(await outside.send(fn));
    return calls === 1 ? 'acts' : 'not there';
  },

  /** Steps that take longer together than a call may; the function tells how often each ran, and how often it was called. */
  async 'checkpointing with a maximum run time'(outside, fn) {
    const { ran, calls } = await outside.output(await outside.send(fn));
    expect(calls).to.be.above(1);
    return ran.every((times: number) => times === 1) ? 'acts' : 'differs';
  },

  /** A branch of two short steps beside one long step. */
  async 'race mode'(outside, fn) {
    const { order } = await outside.output(await outside.send(fn));
    expect(order).to.have.members(['one', 'two', 'long']);
    return order.join() === 'one,two,long' ? 'acts' : 'not there';
  },

  async 'output of a failed run'(outside, fn) {
    const { status, output } = await outside.endedRun(await outside.send(fn));
    expect(status).to.equal('Failed');
    return output?.message === 'broken' ? 'acts' : 'differs';
  },

  async 'causes of errors'(outside, fn) {
    return (await outside.output(await outside.send(fn))) === 'the cause' ? 'acts' : 'not there';
  },

  async 'step.invoke of an unknown function'(outside, fn) {
    const message = await outside.output(await outside.send(fn));
    return message.includes('could not find function with ID') ? 'acts' : 'differs';
  },

  async 'missing fields in expressions'(outside, fn) {
    return (await outside.output(await outside.send(fn))) === 'done' ? 'acts' : 'not there';
  },

  async 'events on the end of runs'(outside) {
    const { run_id: ended } = await outside.endedRun(await outside.send('wild/ends'));
    const path = `/v1/events?name=${encodeURIComponent('inngest/function.finished')}`;
    const isOurs = ({ data }: Loose) => data.run_id === ended;
    const { body } = await outside.service.waitFor(path, ({ body }) => body.data?.some(isOurs));
    return putsOut(outside, body.data.find(isOurs).internal_id, ended);
  },

  /** Runs when it is invoked. */
  async 'functions without triggers'(outside, fn) {
    const { status, body } = await outside.service.post(`/invoke/${outside.app}-${fn}`, { data: {} });
    expect(status, JSON.stringify(body)).to.equal(200);
    const path = `/v1/runs?function_id=${outside.app}-${fn}`;
    await outside.service.waitFor(path, ({ body }) => body.data?.[0]?.status === 'Completed');
    return 'acts';
  },

  async 'step.fetch'(outside, fn) {
    const url = `${outside.service.url}/livez`;
    return putsOut(outside, await outside.send(fn, { url }), 200);
  },

  async 'step.ai.infer'(outside, fn) {
    const provider = await startProvider();
    try {
      const eventId = await outside.send(fn, { provider: `${provider.url}/v1` });
      return await putsOut(outside, eventId, COMPLETION);
    } finally {
      await provider.close();
    }
  },

  async 'step.waitForSignal'(outside, fn) {
    const signal = `${outside.app}-awaited`;
    const eventId = await outside.send(fn, { signal });
    if (!(await outside.isWaitingOrEnded(eventId, 'WaitForSignal'))) return putsOut(outside, eventId, undefined);
    await outside.service.post('/v1/signals', { signal, data: 7 });
    return putsOut(outside, eventId, { signal, data: 7 });
  },

  /** Ends the wait of another run. */
  async 'step.sendSignal'(outside, fn) {
    const signal = `${outside.app}-sent`;
    const waiting = await outside.send(functionOf('step.waitForSignal'), { signal });
    if (!(await outside.isWaitingOrEnded(waiting, 'WaitForSignal'))) return 'not there';
    await outside.output(await outside.send(fn, { signal }));
    return putsOut(outside, waiting, { signal, data: 7 });
  },

  /** The function publishes what it was sent. */
  async 'realtime (publish and subscribe)'(outside, fn) {
    const { app, service } = outside;
    const subscriber = await subscribe(service.url, await tokenFor(service, app, ['numbers']));
    await outside.send(fn, { n: 7, url: service.url });
    const { data } = await subscriber.next(({ kind }) => kind === 'data');
    await close(subscriber);
    return data.n === 7 ? 'acts' : 'differs';
  },

  async defer(outside, fn) {
    const { run_id: parent } = await outside.endedRun(await outside.send(fn));
    const path = `/v1/events?name=${encodeURIComponent('inngest/deferred.schedule')}`;
    const isOurs = ({ data }: Loose) => data._inngest.parent_run_id === parent;
    const { body } = await outside.service.waitFor(path, ({ body }) => body.data?.some(isOurs));
    return putsOut(outside, body.data.find(isOurs).internal_id, { n: 7 });
  },

  async cron(outside) {
    const { registered_at } = (await outside.service.get(`/v1/apps/${outside.app}`)).body.data;
    // A minute that begins during the registration may be over before the schedule is stored.
    const storedAtMs = Date.parse(registered_at) + REGISTRATION_MS;
    const dueMs = Math.ceil(storedAtMs / 60_000) * 60_000 - Date.now();
    const path = `/v1/runs?function_id=${outside.app}-cron`;
    const { body } = await outside.service.waitFor(
      path,
      (response) => response.body.data?.length > 0,
      dueMs + AFTER_MINUTE_MS,
    );
    const { event_id } = body.data.at(-1);
    const { name, data, ts } = (await outside.service.get(`/v1/events/${event_id}`)).body.data;
    const at = new Date(ts).toISOString();
    const timer = { cron: '* * * * *', scheduledAt: at, fireAt: at };
    expect([name, data, ts % 60_000]).to.deep.equal(['inngest/scheduled.timer', timer, 0]);
    return putsOut(outside, event_id, 'done');
  },

  async '`if` of triggers'(outside, fn) {
    const [small, large] = [await outside.send(fn, { n: 1 }), await outside.send(fn, { n: 11 })];
    expect(await outside.output(large)).to.equal('done');
    return (await outside.service.get(`/v1/events/${small}/runs`)).body.data.length === 0 ? 'acts' : 'not there';
  },

  async 'wildcard triggers'(outside) {
    return (await outside.output(await outside.send('wild/any'))) === 'done' ? 'acts' : 'not there';
  },

  async cancelOn(outside, fn) {
    const eventId = await outside.send(fn, { n: 7 });
    await outside.service.waitFor(`/v1/events/${eventId}/runs`, ({ body }) => body.data?.[0]?.status === 'Running');
    await outside.send('cancel', { n: 7 });
    return (await outside.endedRun(eventId)).status === 'Cancelled' ? 'acts' : 'not there';
  },

  async 'step.sleepUntil'(outside, fn) {
    const until = Date.now() + 1_500;
    const run = await outside.endedRun(await outside.send(fn, { until: new Date(until).toISOString() }));
    expect(run.status).to.equal('Completed');
    return Date.parse(run.ended_at) >= until - 500 ? 'acts' : 'not there';
  },

  /** The schedule would have it wait 15 s at least. */
  async RetryAfterError(outside, fn) {
    const { status, output, run_started_at, ended_at } = await outside.endedRun(await outside.send(fn));
    expect([status, output]).to.deep.equal(['Completed', 1]);
    return Date.parse(ended_at) - Date.parse(run_started_at) < SOON_MS ? 'acts' : 'not there';
  },
};
