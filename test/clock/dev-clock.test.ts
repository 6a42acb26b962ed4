/** The clock of dev mode: what is due happens as if the time had passed. The service has processes of its own, whose time is theirs. */
import { expect } from 'chai';
import { advanceClock, type MovedClock } from 'tidegate/test';
import { startCluster } from '../../scripts/lib/cluster/cluster.ts';
import { DAYS_MAX } from '../../src/jobs/dev-clock/clock-moves.ts';
import { type App, type Loose, SDK_ADAPTERS, startApp } from '../runs/steps/sdk-adapters.ts';
import { cliOk } from '../support/cli.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

interface Moved {
  now: string;
  reached: string;
  runs_started: number;
  runs_ended: number;
  waiting: number;
}

/** What a case works with. Names of its events begin with `app`. */
interface Bed {
  app: string;
  service: Service;
  create(options: Loose, handler: (args: Loose) => Promise<unknown>): Loose;
  /** What its functions have noted, in order. */
  notes: string[];
  advance(by: string): Promise<MovedClock>;
  /** The time of the service. */
  now(): Promise<number>;
  /** Resolves when everything that it causes now has happened. */
  send(name: string, data?: object, more?: object): Promise<string>;
  /** Runs of a function, oldest first. */
  runs(fnId: string): Promise<Loose[]>;
}

interface Case {
  title: string;
  functions(bed: Bed): Loose[];
  check(bed: Bed): Promise<void>;
}

const named = (id: string, event: string, options: object = {}) => ({ id, triggers: [{ event }], ...options });
const spanOf = (run: Loose) => Date.parse(run.ended_at) - Date.parse(run.run_started_at);

const CASES: Case[] = [
  {
    title: 'ends sleeps in the order of their ends',
    functions: ({ app, create, notes }) => [
      create(named('sleeper', `${app}/sleep`, { retries: 0 }), async ({ event, step }) => {
        await step.sleep('a while', event.data.for);
        notes.push(await step.run('after', () => event.data.for));
        return event.data.for;
      }),
    ],
    async check({ app, notes, advance, send, runs }) {
      for (const duration of ['30d', '90s', '2h', '10d']) await send(`${app}/sleep`, { for: duration });
      expect(await advance('11d')).to.include({ runsStarted: 0, runsEnded: 3 });
      expect(notes).to.deep.equal(['90s', '2h', '10d']);
      expect(await advance('20d')).to.include({ runsEnded: 1 });
      const spans = (await runs('sleeper')).map(spanOf);
      const expected = [30 * DAY_MS, 90_000, 2 * HOUR_MS, 10 * DAY_MS];
      for (const [i, span] of spans.entries())
        expect(span).to.be.within(expected[i] as number, (expected[i] as number) + 20_000);
    },
  },
  {
    title: 'ends a wait at its timeout, or with an event before',
    functions: ({ app, create, notes }) => [
      create(named('waiter', `${app}/wait`), async ({ event, step }) => {
        const paid = await step.waitForEvent('paid', {
          event: `${app}/paid`,
          timeout: '7d',
          if: 'event.data.id == async.data.id',
        });
        notes.push(`${event.data.id}: ${paid ? 'paid' : 'timeout'}`);
      }),
    ],
    async check({ app, notes, advance, send }) {
      await send(`${app}/wait`, { id: 'a' });
      await send(`${app}/wait`, { id: 'b' });
      await advance('6d');
      await send(`${app}/paid`, { id: 'b' });
      expect(notes).to.deep.equal(['b: paid']);
      await advance('1d');
      expect(notes).to.deep.equal(['b: paid', 'a: timeout']);
    },
  },
  {
    title: 'runs each tick of a schedule, in order',
    functions: ({ create, notes }) => [
      create({ id: 'daily', triggers: [{ cron: 'TZ=UTC 0 9 * * *' }] }, async ({ event }) => {
        notes.push(new Date(event.ts).toISOString());
      }),
      create({ id: 'quarterly', triggers: [{ cron: '0 */6 * * *' }] }, async () => undefined),
    ],
    async check({ notes, advance, runs }) {
      await advance('5d');
      expect(notes).to.have.length(5);
      const first = Date.parse(notes[0] as string);
      expect(notes).to.deep.equal([0, 1, 2, 3, 4].map((i) => new Date(first + i * DAY_MS).toISOString()));
      expect(notes[0]).to.match(/T09:00:00\.000Z$/);
      expect(await runs('quarterly')).to.have.length(20);
      for (const run of await runs('daily'))
        expect(Date.parse(run.run_started_at) % DAY_MS).to.be.within(9 * HOUR_MS, 9 * HOUR_MS + 20_000);
    },
  },
];

const OWN_CASES: Case[] = [
  {
    title: 'fires a debounce when its period is over',
    functions: ({ app, create, notes }) => [
      create(named('debounced', `${app}/x`, { debounce: { period: '1h' } }), async ({ event }) => {
        notes.push(event.data.n);
      }),
    ],
    async check({ app, notes, advance, send }) {
      await send(`${app}/x`, { n: '1' });
      await advance('40m');
      await send(`${app}/x`, { n: '2' });
      await advance('40m');
      expect(notes).to.deep.equal([]);
      expect(await advance('20m')).to.include({ runsStarted: 1, runsEnded: 1 });
      expect(notes).to.deep.equal(['2']);
    },
  },
  {
    title: 'runs the failed event of a blocked lane again, later each time',
    functions: ({ app, create, notes }) => {
      const order = { key: '"all"', by: 'event.data.n', onFailure: 'block' };
      return [
        create(named('ordered', `${app}/x`, { retries: 0, order }), async ({ event }) => {
          notes.push(event.data.n);
          if (notes.length < 4) throw new Error('no');
        }),
      ];
    },
    async check({ app, notes, advance, send }) {
      await send(`${app}/x`, { n: '1' });
      await send(`${app}/x`, { n: '2' });
      for (const [wait, tries] of [
        ['1m', 2],
        ['2m', 3],
        ['4m', 5],
      ] as const) {
        await advance(wait);
        expect(notes.length, wait).to.equal(tries);
      }
      expect(notes).to.deep.equal(['1', '1', '1', '1', '2']);
    },
  },
  {
    title: 'closes a batch at its timeout',
    functions: ({ app, create, notes }) => [
      create(named('batched', `${app}/x`, { batchEvents: { maxSize: 10, timeout: '60s' } }), async ({ events }) => {
        notes.push(events.map(({ data }: Loose) => data.n).join());
      }),
    ],
    async check({ app, notes, advance, send }) {
      await send(`${app}/x`, { n: 1 });
      await advance('30s');
      await send(`${app}/x`, { n: 2 });
      expect(notes).to.deep.equal([]);
      await advance('30s');
      expect(notes).to.deep.equal(['1,2']);
    },
  },
  {
    title: 'starts throttled runs one after the other',
    functions: ({ app, create, notes }) => [
      create(named('throttled', `${app}/x`, { throttle: { limit: 1, period: '1h' } }), async ({ event }) => {
        notes.push(event.data.n);
      }),
    ],
    async check({ app, notes, advance, send, runs }) {
      for (const n of ['1', '2', '3']) await send(`${app}/x`, { n });
      expect(notes).to.deep.equal(['1']);
      await advance('1h');
      expect(notes).to.deep.equal(['1', '2']);
      await advance('10h');
      expect(notes).to.deep.equal(['1', '2', '3']);
      const starts = (await runs('throttled')).map(({ run_started_at }) => Date.parse(run_started_at));
      expect((starts[2] as number) - (starts[0] as number)).to.be.within(2 * HOUR_MS - 1_000, 2 * HOUR_MS + 20_000);
    },
  },
  {
    title: 'ends the window of a rate limit',
    functions: ({ app, create, notes }) => [
      create(named('limited', `${app}/x`, { rateLimit: { limit: 1, period: '24h' } }), async ({ event }) => {
        notes.push(event.data.n);
      }),
    ],
    async check({ app, notes, advance, send }) {
      await send(`${app}/x`, { n: '1' });
      await advance('23h');
      await send(`${app}/x`, { n: '2' });
      await advance('1h');
      await send(`${app}/x`, { n: '3' });
      expect(notes).to.deep.equal(['1', '3']);
    },
  },
  {
    title: 'ends the window of an idempotency key',
    functions: ({ app, create, notes }) => [
      create(named('once', `${app}/x`, { idempotency: 'event.data.id' }), async ({ event }) => {
        notes.push(event.data.n);
      }),
    ],
    async check({ app, notes, advance, send }) {
      await send(`${app}/x`, { id: 'i', n: '1' });
      await advance('23h');
      await send(`${app}/x`, { id: 'i', n: '2' });
      await advance('2h');
      await send(`${app}/x`, { id: 'i', n: '3' });
      expect(notes).to.deep.equal(['1', '3']);
    },
  },
  {
    title: 'ends the time in which events are deduplicated',
    functions: ({ app, create, notes }) => [
      create(named('each', `${app}/x`), async ({ event }) => {
        notes.push(event.data.n);
      }),
    ],
    async check({ app, notes, advance, send }) {
      await send(`${app}/x`, { n: '1' }, { id: `${app}-id` });
      await advance('23h');
      await send(`${app}/x`, { n: '2' }, { id: `${app}-id` });
      await advance('2h');
      await send(`${app}/x`, { n: '3' }, { id: `${app}-id` });
      expect(notes).to.deep.equal(['1', '3']);
    },
  },
  {
    title: 'frees a singleton when its run ends',
    functions: ({ app, create, notes }) => [
      create(named('single', `${app}/x`, { singleton: { mode: 'skip' } }), async ({ event, step }) => {
        await step.sleep('long', '2d');
        notes.push(event.data.n);
      }),
    ],
    async check({ app, notes, advance, send }) {
      await send(`${app}/x`, { n: '1' });
      await advance('1d');
      await send(`${app}/x`, { n: '2' });
      await advance('1d');
      await send(`${app}/x`, { n: '3' });
      await advance('2d');
      expect(notes).to.deep.equal(['1', '3']);
    },
  },
  {
    title: 'retries failed calls after their delays',
    functions: ({ app, create, notes }) => [
      create(named('failing', `${app}/x`, { retries: 3 }), async ({ attempt }) => {
        notes.push(`attempt ${attempt}`);
        if (attempt < 3) throw new Error('not yet');
      }),
    ],
    async check({ app, notes, advance, send, runs }) {
      await send(`${app}/x`);
      expect(notes).to.deep.equal(['attempt 0']);
      await advance('6h');
      expect(notes).to.deep.equal([0, 1, 2, 3].map((n) => `attempt ${n}`));
      expect((await runs('failing')).map(({ status }) => status)).to.deep.equal(['Completed']);
    },
  },
  {
    title: 'cancels runs at their timeouts',
    functions: ({ app, create }) => [
      create(named('finish', `${app}/finish`, { timeouts: { finish: '2d' } }), async ({ step }) =>
        step.sleep('long', '30d'),
      ),
      create(
        named('start', `${app}/start`, { timeouts: { start: '3h' }, throttle: { limit: 1, period: '24h' } }),
        async () => undefined,
      ),
    ],
    async check({ app, advance, send, runs }) {
      await send(`${app}/finish`);
      await send(`${app}/start`);
      await send(`${app}/start`);
      await advance('3d');
      const [finish] = await runs('finish');
      expect([finish.status, Math.round(spanOf(finish) / HOUR_MS)]).to.deep.equal(['Cancelled', 48]);
      expect((await runs('start')).map(({ status }) => status)).to.deep.equal(['Completed', 'Cancelled']);
    },
  },
  {
    title: 'starts the runs of events that are scheduled for later',
    functions: ({ app, create, notes }) => [
      create(named('later', `${app}/x`), async ({ event }) => {
        notes.push(event.data.n);
      }),
    ],
    async check({ app, notes, advance, send, now }) {
      await send(`${app}/x`, { n: 'in two days' }, { ts: (await now()) + 2 * DAY_MS });
      await send(`${app}/x`, { n: 'in one' }, { ts: (await now()) + DAY_MS });
      await advance('23h');
      expect(notes).to.deep.equal([]);
      await advance('3d');
      expect(notes).to.deep.equal(['in one', 'in two days']);
    },
  },
  {
    title: 'ends invocations and waits for signals at their timeouts',
    functions: ({ app, create, notes }) => {
      const slow = create(named('slow', `${app}/slow`), async ({ step }) => step.sleep('long', '20d'));
      const invoking = create(named('invoking', `${app}/x`), async ({ step }) => {
        await step.invoke('slow', { function: slow, data: {}, timeout: '3d' }).catch(() => notes.push('invocation'));
      });
      const waiting = create(named('waiting', `${app}/x`), async ({ step }) => {
        const signal = await step.waitForSignal('signal', { signal: `${app}-signal`, timeout: '1d' });
        if (signal === null) notes.push('signal');
      });
      return [slow, invoking, waiting];
    },
    async check({ app, notes, advance, send }) {
      await send(`${app}/x`);
      await advance('4d');
      expect(notes).to.deep.equal(['signal', 'invocation']);
    },
  },
  {
    title: 'deletes events and runs after their retention',
    functions: ({ app, create }) => [create(named('kept', `${app}/x`), async () => 'result')],
    async check({ app, service, advance, send }) {
      const id = await send(`${app}/x`);
      await advance('6d');
      expect((await service.get(`/v1/events/${id}`)).status).to.equal(200);
      await advance('2d');
      expect((await service.get(`/v1/events/${id}`)).status).to.equal(404);
    },
  },
];

describe('The clock of dev mode', () => {
  let service: Service;
  before(async () => {
    service = await startService({ processes: true, env: { RETENTION_DAYS: '7' } });
  });
  after(() => service?.stop());

  async function move(body: object): Promise<Moved> {
    const response = await service.post('/v1/dev/clock', body);
    expect(response.status, JSON.stringify(response.body)).to.equal(200);
    return response.body.data;
  }

  async function run({ functions, check }: Case, sdk: (typeof SDK_ADAPTERS)[number], app: string): Promise<void> {
    const client = sdk.client(service, app);
    const bed: Bed = {
      app,
      service,
      create: (options, handler) => client.createFunction(options, handler),
      notes: [],
      advance: (by) => advanceClock(service.url, by),
      now: async () => Date.parse((await service.get('/v1/dev/clock')).body.data.now),
      async send(name, data = {}, more = {}) {
        const { body } = await service.post(service.eventPath, { name, data, ...more });
        await move({ advance: '1ms' });
        return body.ids[0];
      },
      async runs(fnId) {
        const { body } = await service.get(`/v1/runs?function_id=${app}-${fnId}&limit=100`);
        return body.data.reverse();
      },
    };
    let host: App | undefined;
    try {
      host = await startApp(sdk.serve(client, functions(bed)));
      await check(bed);
    } finally {
      await host?.close();
      // Its schedules would go on in the other cases.
      await service.request('DELETE', `/v1/apps/${app}`);
    }
  }

  for (const [i, one] of CASES.entries()) {
    for (const [j, sdk] of SDK_ADAPTERS.entries())
      it(`${one.title}, of ${sdk.name}`, () => run(one, sdk, `clock-${i}-${j}`));
  }
  for (const [i, one] of OWN_CASES.entries()) {
    it(one.title, () => run(one, SDK_ADAPTERS[0] as (typeof SDK_ADAPTERS)[number], `own-${i}`));
  }

  it('is moved by one request at a time, which waits for the calls of a moment', async () => {
    const held = Promise.withResolvers<void>();
    const calls = Promise.withResolvers<void>();
    const holding: Case = {
      title: 'holds a call',
      functions: ({ app, create }) => [
        create(named('held', `${app}/x`), async () => {
          calls.resolve();
          await held.promise;
        }),
      ],
      async check({ app }) {
        await service.post(service.eventPath, { name: `${app}/x`, data: {} });
        await calls.promise;
        let isMoved = false;
        const moving = move({ advance: '1h' }).finally(() => {
          isMoved = true;
        });
        await until(() => service.redis.exists(service.keys.lock('dev-clock')), { describe: 'the clock is moved' });
        const { status, body } = await service.post('/v1/dev/clock', { advance: '1h' });
        expect([status, body.code, isMoved]).to.deep.equal([409, 'clock_moving', false]);
        held.resolve();
        expect(await moving).to.include({ reached: 'target', runs_ended: 1 });
      },
    };
    await run(holding, SDK_ADAPTERS[0] as (typeof SDK_ADAPTERS)[number], 'clock-held').finally(held.resolve);
  });

  it('says how far ahead it is, and goes to a time', async () => {
    const before = (await service.get('/v1/dev/clock')).body.data;
    const to = new Date(Date.parse(before.now) + DAY_MS).toISOString();
    const { now, reached } = await move({ to });
    expect([reached, Date.parse(now) - Date.parse(to) < HOUR_MS]).to.deep.equal(['target', true]);
    const after = (await service.get('/v1/dev/clock')).body.data;
    expect(after.offset_ms - before.offset_ms).to.be.within(DAY_MS - HOUR_MS, DAY_MS);
  });

  it('is moved by the command line', async () => {
    const before = Date.parse((await cliOk(['dev', 'clock'], { service })).stdout.trim());
    const { stdout } = await cliOk(['dev', 'clock', 'advance', '2h'], { service });
    expect(stdout).to.match(/^It is \S+Z: \d+ runs started, \d+ ended, \d+ wait\.\n$/);
    const to = new Date(before + 3 * HOUR_MS).toISOString();
    const { stdout: json } = await cliOk(['--json', 'dev', 'clock', 'to', to], { service });
    expect(JSON.parse(json)).to.include({ target: to, reached: 'target' });
  });

  it('is the same for a process that starts later', async () => {
    await move({ advance: '3d' });
    const before = Date.parse((await service.get('/v1/dev/clock')).body.data.now);
    const web = await service.startWeb();
    const { port } = web;
    await until(
      async () => {
        const response = await fetch(`http://127.0.0.1:${port}/v1/dev/clock`);
        const { data } = (await response.json()) as { data?: { now: string } };
        return data && Date.parse(data.now) >= before;
      },
      { describe: 'the new process has the time of the others' },
    );
  });

  it('is the one of transforms', async () => {
    const transform = `function transform() {
      const shown = new Date();
      return { name: 'clock/hooked', data: { now: Date.now(), shown, year: Number(Date().split(' ')[3]), birth: new Date(0).getTime() } };
    }`;
    const { data: webhook } = (await service.post('/v1/webhooks', { name: 'clock', transform })).body;
    const made = async () => {
      const { body } = await service.post(new URL(webhook.url).pathname, { any: 'body' });
      return (await service.stored(body.ids[0])).body.data.data;
    };
    for (const by of ['1ms', '300d']) {
      await move({ advance: by });
      const before = Date.parse((await service.get('/v1/dev/clock')).body.data.now);
      const { now, shown, year, birth } = await made();
      const after = Date.parse((await service.get('/v1/dev/clock')).body.data.now);
      expect(now).to.be.within(before, after);
      expect(Date.parse(shown)).to.be.within(before, after);
      expect(year).to.be.within(new Date(before).getFullYear(), new Date(after).getFullYear());
      expect(birth).to.equal(0);
    }
  });

  const REFUSED = [
    { title: 'the past', body: () => ({ to: '2020-01-01T00:00:00Z' }), says: /time does not go back/ },
    { title: 'more than it may', body: () => ({ advance: `${DAYS_MAX + 1}d` }), says: /400 days at most/ },
    { title: 'what is no duration', body: () => ({ advance: 'soon' }), says: /expected a duration/ },
    { title: 'two targets', body: () => ({ advance: '1d', to: 1 }), says: /either "advance" or "to"/ },
    { title: 'no target', body: () => ({}), says: /either "advance" or "to"/ },
    { title: 'an impossible time', body: () => ({ to: Number.MAX_SAFE_INTEGER }), says: /400 days at most/ },
  ];
  for (const { title, body, says } of REFUSED) {
    it(`refuses ${title}`, async () => {
      const response = await service.post('/v1/dev/clock', body());
      expect([response.status, response.body.code]).to.deep.equal([400, 'input_invalid']);
      expect(response.body.error).to.match(says);
    });
  }

  it('is not moved on a Redis Cluster', async () => {
    const cluster = await startCluster();
    const onCluster = await startService({ workers: 0, env: { REDIS_CLUSTER_URLS: cluster.urls.join() } });
    try {
      const { status, body } = await onCluster.post('/v1/dev/clock', { advance: '1d' });
      expect([status, body.code]).to.deep.equal([403, 'clock_on_cluster']);
      expect((await onCluster.get('/v1/dev/clock')).body.code).to.equal('clock_on_cluster');
    } finally {
      await onCluster.stop();
      await cluster.stop();
    }
  });

  it('is not there in production', async () => {
    const production = await startService({ dev: false, workers: 0 });
    try {
      const { status, body } = await production.post('/v1/dev/clock', { advance: '1d' }, production.apiHeaders);
      expect([status, body.code]).to.deep.equal([403, 'dev_mode_only']);
      expect((await production.get('/v1/dev/clock')).status).to.equal(403);
      expect(await production.redis.exists(production.keys.devClock)).to.equal(0);
    } finally {
      await production.stop();
    }
  });
});
