import { Queue } from 'bullmq';
import { expect } from 'chai';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const COSTLY = 'event.data.list.all(a, event.data.list.all(b, event.data.list.all(c, a + b + c < 1000)))';
const LARGE = { list: Array(1_000).fill(1) };

describe('Expressions of functions', () => {
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService();
  });
  after(() => service.stop());
  beforeEach(async () => {
    host = await startAppHost();
  });
  afterEach(() => host.close());

  async function send(name: string, data: object): Promise<string> {
    const { status, body } = await service.post('/e/key', { name, data });
    expect(status).to.equal(200);
    return body.ids[0];
  }

  /** Functions that a completely ingested event triggered. */
  async function functionsOf(eventId: string): Promise<string[]> {
    await service.stored(eventId);
    const name = (await service.get(`/v1/events/${eventId}`)).body.data.name;
    const index = `${service.prefix}:events:production:${name}`;
    await until(async () => (await service.redis.zscore(index, eventId)) !== null, { describe: 'it is ingested' });
    const { data } = (await service.get(`/v1/events/${eventId}/runs`)).body;
    return data.map((run: { function_id: string }) => run.function_id).sort();
  }

  const problemOf = async (id: string) => (await service.get(`/v1/functions/${id}`)).body.data.expression_problem;

  it('that cannot be compiled disable only their trigger, and the response and the API say why', async () => {
    const deep = `${'(['.repeat(40)}1`;
    const long = `${'1+'.repeat(3_000)}1 == 1`;
    const cancel = [{ event: 'a/z', if: 'cel.bind(v, "a", v + v) == "aa"' }, { event: 'a/stop' }];
    const functions = [
      { id: 'deep', triggers: [{ event: 'a/x', expression: deep }] },
      { id: 'long', triggers: [{ event: 'a/x' }, { event: 'a/y', expression: long }] },
      { id: 'bind', triggers: [{ event: 'a/x' }], cancel },
      { id: 'pattern', triggers: [{ event: 'a/x', expression: 'event.data.a.matches("(?=a)")' }] },
      { id: 'good', triggers: [{ event: 'a/x' }] },
    ];
    const expected = [
      ['bounds-deep', 'triggers[0] never fires', 'more than 32 levels'],
      ['bounds-long', 'triggers[1] never fires', 'has 6006 characters; at most 4096 are allowed'],
      ['bounds-bind', 'cancel[0] cancels no run', 'cel.bind()'],
      ['bounds-pattern', 'triggers[0] never fires', 'not RE2'],
    ] as const;
    const { status, body } = await host.register(service, functions as never, { appName: 'bounds' });
    expect([status, body.ok, body.modified]).to.deep.equal([200, true, true]);
    expect(body.functions.map(({ id }: { id: string }) => id)).to.deep.equal(expected.map(([id]) => id));
    const app = (await service.get('/v1/apps/bounds')).body.data;
    const check = (await service.post('/v1/apps/bounds/check')).body.data;
    for (const [i, [id, ...words]] of expected.entries()) {
      const found = app.functions.find((fn: { id: string }) => fn.id === id).problems;
      expect(body.functions[i].problems).to.deep.equal(found);
      for (const word of words) expect(found.join()).to.include(word);
      const [problem] = check.problems.filter(({ message }: { message: string }) => message.startsWith(id));
      expect(problem).to.include({ code: 'function_problem' });
    }
    expect(await functionsOf(await send('a/x', {}))).to.deep.equal(['bounds-bind', 'bounds-good', 'bounds-long']);
    expect(await functionsOf(await send('a/y', {}))).to.deep.equal([]);
    const official = await host.register(service, functions as never, { appName: 'bounds', dialect: 'inngest' });
    expect(official.body.error).to.match(
      /^Registered, but not everything works as configured\. Function "bounds-deep": triggers\[0\] never fires: .*"bounds-bind": cancel\[0\]/,
    );
    const fixed = await host.register(service, functions.slice(4) as never, { appName: 'bounds' });
    expect(fixed.body).to.deep.equal({ ok: true, modified: true });
  });

  it('that exceed their fuel do not match: other functions run, and the function reports the skipped event', async () => {
    const on = (expression?: string) => ({ triggers: [{ event: 'cost/x', ...(expression && { expression }) }] });
    await host.register(service, [
      { id: 'costly', ...on(COSTLY) },
      { id: 'cheap', ...on('event.data.list.size() == 1000') },
      { id: 'any', ...on() },
    ]);
    expect((await problemOf('test-app-costly')) ?? null).to.equal(null);
    expect(await functionsOf(await send('cost/x', LARGE))).to.deep.equal(['test-app-any', 'test-app-cheap']);
    const problem = await until(() => problemOf('test-app-costly'), { describe: 'it is written down' });
    expect(problem).to.include({ reason: 'too_costly', expression: COSTLY, events: 1 });
    const listed = (await service.get('/v1/functions?limit=100')).body.data;
    const reported = listed.map(({ id, expression_problem }: { id: string; expression_problem: unknown }) => [
      id,
      expression_problem !== null,
    ]);
    expect(reported).to.deep.include(['test-app-costly', true]).and.deep.include(['test-app-cheap', false]);
    // A list within its fuel.
    expect(await functionsOf(await send('cost/x', { list: [1, 2] }))).to.include('test-app-costly');
  });

  it('that are stopped repeatedly are quarantined with a reason, and still evaluate cheap events', async () => {
    await host.register(service, [{ id: 'f', triggers: [{ event: 'quarantine/x', expression: COSTLY }] }], {
      appName: 'quarantine',
    });
    const batch = Array.from({ length: 12 }, () => ({ name: 'quarantine/x', data: LARGE }));
    const { ids } = (await service.post('/e/key', batch)).body;
    expect(await functionsOf(ids.at(-1))).to.deep.equal([]);
    const problem = await until(
      async () => {
        const found = await problemOf('quarantine-f');
        return found?.events === 12 && found;
      },
      { describe: 'all are written down' },
    );
    expect(problem.reason).to.equal('quarantined');
    expect(problem.message).to.match(/stopped too often; until \d{4}-/);
    expect(await functionsOf(await send('quarantine/x', { list: [1, 2, 3] }))).to.deep.equal(['quarantine-f']);
    // Outside quarantine, ten elements would be within the fuel.
    expect(await functionsOf(await send('quarantine/x', { list: Array(10).fill(1) }))).to.deep.equal([]);
  });

  it('that an earlier version accepted and this one rejects trigger nothing, and do not affect other triggers', async () => {
    const functions = [
      { id: 'old', triggers: [{ event: 'old/x', expression: 'event.data.n == 1' }] },
      { id: 'new', triggers: [{ event: 'old/x' }] },
    ];
    await host.register(service, functions, { appName: 'past' });
    const stored = `${service.prefix}:functions:production`;
    const text = (await service.redis.hget(stored, 'past-old')) as string;
    const old = JSON.parse(text);
    old.triggers[0].expression = 'cel.bind(v, event.data.n, v == 1)';
    await service.redis.hset(stored, 'past-old', JSON.stringify(old));
    await service.redis.incr(`${service.prefix}:functions-version:production`);
    expect(await functionsOf(await send('old/x', { n: 1 }))).to.deep.equal(['past-new']);
    const problem = await until(() => problemOf('past-old'), { describe: 'it is written down' });
    expect(problem.reason).to.equal('refused');
    expect(problem.message).to.include('register the app again');
    await host.register(service, functions, { appName: 'past' });
    expect(await problemOf('past-old')).to.equal(null);
    expect(await functionsOf(await send('old/x', { n: 1 }))).to.deep.equal(['past-new', 'past-old']);
  });

  it('of a wait have the same limits: the step fails with the reason', async () => {
    const waitFor = (expression: string) => ({
      status: 206,
      body: [
        {
          op: 'WaitForEvent',
          id: 'a'.repeat(40),
          displayName: 'w',
          opts: { event: 'w/never', if: expression, timeout: '1h' },
        },
      ],
    });
    host.on('f', () => waitFor('async.data.text.matches("(a)\\\\1")'));
    await host.register(service, [{ id: 'f', triggers: [{ event: 'w/x' }] }], { appName: 'waiting' });
    const id = await send('w/x', {});
    const { body } = await service.waitFor(`/v1/events/${id}/runs`, ({ body }) => body.data?.[0]?.ended_at);
    expect(body.data[0].status).to.equal('Failed');
    expect(body.data[0].error.name).to.equal('InvalidExpression');
    expect(body.data[0].error.message).to.include('step "w"').and.include('RE2');
  });

  it('are never evaluated in one job with those of another environment', async () => {
    const quiet = await startService({ workers: 0, dev: false });
    try {
      const paths = [quiet.eventPath];
      for (const name of ['staging', 'qa']) {
        await quiet.post('/v1/environments', { name }, quiet.apiHeaders);
        const made = await quiet.post('/v1/event-keys', { name, environment: name }, quiet.apiHeaders);
        paths.push(`/e/${made.body.data.secret}`);
      }
      const sent = await Promise.all(
        Array.from({ length: 60 }, (_, i) => quiet.post(paths[i % 3] as string, { name: 'mixed/x', data: { i } })),
      );
      expect(new Set(sent.map(({ status }) => status))).to.deep.equal(new Set([200]));
      const jobs = await jobsOf(quiet, 'wait');
      const mixed = jobs.map(({ data }) => new Set(data.events.map(({ env }: { env: string }) => env)).size);
      expect(new Set(mixed)).to.deep.equal(new Set([1]));
      expect(new Set(jobs.flatMap(({ data }) => data.events.map(({ env }: { env: string }) => env))).size).to.equal(3);
      const counted = jobs.flatMap(({ data }) => data.events);
      expect(counted).to.have.length(60);
    } finally {
      await quiet.stop();
    }
  });

  it('a job that keeps stalling workers is split, and no event of it is lost or duplicated', async () => {
    const quiet = await startService({ workers: 0 });
    try {
      await host.register(quiet, [{ id: 'f', triggers: [{ event: 'stall/x' }] }], { appName: 'stall' });
      const batch = Array.from({ length: 20 }, (_, i) => ({ name: 'stall/x', data: { i } }));
      const { ids } = (await quiet.post('/e/key', batch)).body;
      const [job] = await jobsOf(quiet, 'wait');
      await quiet.redis.hset(`${quiet.prefix}:queue:ingest:${job?.id}`, 'stc', 3);
      await quiet.startWorker();
      for (const id of ids) {
        const { body } = await quiet.waitFor(`/v1/events/${id}/runs`, ({ body }) => body.data?.[0]?.ended_at);
        expect(body.data).to.have.length(1);
      }
      // Jobs that are done are not kept; the worker says into how many it has split this one: of three events each, and one of two.
      await until(() => quiet.output().includes('poison job split'), { describe: 'the job is split' });
      const split = /\{[^\n]*poison job split[^\n]*\}/.exec(quiet.output())?.[0] ?? '{}';
      expect(JSON.parse(split)).to.include({ job: job?.id, events: 20, parts: 7 });
      const left = async () =>
        (
          await Promise.all((['wait', 'active', 'delayed', 'failed'] as const).map((state) => jobsOf(quiet, state)))
        ).flat();
      await until(async () => (await left()).length === 0, { describe: 'the parts are done, and the job itself' });
      expect((await quiet.get('/v1/events?name=stall/x&limit=100')).body.data).to.have.length(20);
    } finally {
      await quiet.stop();
    }
  });

  it('a single event that stalls workers becomes a failed job with a reason, and a retry of that job ingests it', async () => {
    const quiet = await startService({ workers: 0 });
    try {
      const [id] = (await quiet.post('/e/key', { name: 'apart/x', data: {} })).body.ids;
      const [job] = await jobsOf(quiet, 'wait');
      await quiet.redis.hset(`${quiet.prefix}:queue:ingest:${job?.id}`, 'stc', 6);
      await quiet.startWorker();
      const [apart] = await until(
        async () => {
          const jobs = await jobsOf(quiet, 'failed');
          return jobs.length > 0 && jobs;
        },
        { describe: 'it has failed' },
      );
      expect(apart?.failedReason).to.include(`Event ${id} stalled 6 workers. It stays here as a failed job`);
      expect((await quiet.get(`/v1/events?id=${id}`)).body.data).to.deep.equal([]);
      expect((await quiet.get(`/v1/events/${id}`)).body.data.internal_id).to.equal(id);
      // Other events are processed.
      const [other] = (await quiet.post('/e/key', { name: 'apart/x', data: {} })).body.ids;
      await quiet.stored(other);
      await withQueue(quiet, async (queue) => (await queue.getJob(apart?.id ?? ''))?.retry());
      await quiet.stored(id);
    } finally {
      await quiet.stop();
    }
  });
});

async function withQueue<T>(service: Service, use: (queue: Queue) => Promise<T>): Promise<T> {
  const queue = new Queue('ingest', {
    connection: { url: service.env.REDIS_URL as string },
    prefix: `${service.prefix}:queue`,
  });
  try {
    return await use(queue);
  } finally {
    await queue.close();
  }
}

const jobsOf = (service: Service, state: 'wait' | 'active' | 'delayed' | 'failed') =>
  withQueue(service, (queue) => queue.getJobs([state]));
