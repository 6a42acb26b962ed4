import { expect } from 'chai';
import fc from 'fast-check';
import { ulid } from 'ulid';
import type { Decision, DecisionReason } from '../../src/model/flow-control/decision.ts';
import { type AppHost, type FunctionSpec, startAppHost } from '../support/app-host.ts';
import { type OwnStore, openStore } from '../support/own-store.ts';
import { findKeys } from '../support/redis.ts';
import { scrape } from '../support/scrape.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

interface Explained {
  function_id: string;
  outcome: string;
  reason: string | null;
  run_ids: string[];
  until: string | null;
  expressions: { expression: string; result: string; reads: object[] }[] | null;
  changed_since: boolean;
  keys_not_evaluated: { option: string; expression: string }[];
}

const COSTLY = 'event.data.list.all(a, event.data.list.all(b, event.data.list.all(c, a + b + c < 1000)))';

describe('GET /v1/events/:id/decisions', () => {
  let service: Service;
  let host: AppHost;
  let store: OwnStore;
  /** For names that no other test uses. */
  let app: string;
  let tests = 0;
  before(async () => {
    service = await startService({ env: { METRICS_PORT: '0' } });
    store = await openStore(service.prefix);
  });
  after(async () => {
    await service.stop();
    await store.close();
  });
  beforeEach(async () => {
    host = await startAppHost();
    app = `app${tests++}`;
  });
  afterEach(() => host.close());

  const register = (functions: FunctionSpec[]) => host.register(service, functions, { appName: app });

  async function send(data: object = {}, name = `${app}/x`): Promise<string> {
    const { body } = await service.post('/e/key', { name, data });
    return body.ids[0];
  }

  /** All decisions by function ID without the app's name, once the event is ingested. */
  async function decisionsOf(eventId: string, path = `/v1/events/${eventId}/decisions?limit=100`) {
    const { body } = await service.waitFor(
      path,
      ({ status, body }) => status === 200 && body.data.every(({ outcome }: Explained) => outcome !== 'pending'),
    );
    return new Map((body.data as Explained[]).map((item) => [item.function_id.slice(app.length + 1), item]));
  }

  const decisionOf = async (eventId: string, functionId: string) => (await decisionsOf(eventId)).get(functionId);

  const add = (eventId: string, functionId: string, rest: Partial<Decision>) =>
    store.decisions.add(
      [{ env: 'production', eventId, functionId: `${app}-${functionId}`, reason: 'paused', ...rest }],
      Date.now(),
    );

  it('names the run of a function that ran, and stores nothing for it', async () => {
    const prefix = service.keys.of(ulid()).prefix;
    const before = await findKeys(service.redis, prefix, /decisions:/);
    await register([{ id: 'plain', triggers: [{ event: `${app}/*` }] }]);
    const id = await send();
    const decision = await decisionOf(id, 'plain');
    const { data } = (await service.get(`/v1/events/${id}/runs`)).body;
    expect(decision).to.deep.equal({
      function_id: `${app}-plain`,
      outcome: 'ran',
      reason: null,
      run_ids: [data[0].run_id],
      until: null,
      expressions: null,
      changed_since: false,
      keys_not_evaluated: [],
    });
    expect(await findKeys(service.redis, prefix, /decisions:/)).to.deep.equal(before);
  });

  it('shows the values that a false expression read from the event', async () => {
    const expression = 'event.data.total > 10 && event.data["the plan"] == "pro" && !has(event.data.test)';
    await register([
      { id: 'large', triggers: [{ event: `${app}/x`, expression }] },
      {
        id: 'twice',
        triggers: ['event.data.list.exists(i, i == 9)', 'event.data.text == "b"'].map((expression) => ({
          event: `${app}/x`,
          expression,
        })),
      },
    ]);
    const id = await send({ total: 4, 'the plan': 'pro', list: Array(500).fill(1), text: 'a'.repeat(300) });
    const large = await decisionOf(id, 'large');
    expect([large?.outcome, large?.reason, large?.changed_since]).to.deep.equal(['skipped', 'expression_false', false]);
    expect(large?.expressions).to.deep.equal([
      {
        expression,
        result: 'false',
        reads: [
          { path: 'event.data.total', value: 4, shortened: false },
          { path: 'event.data["the plan"]', value: 'pro', shortened: false },
          { path: 'event.data.test', value: null, shortened: false },
        ],
      },
    ]);
    const twice = await decisionOf(id, 'twice');
    expect(twice?.expressions?.map(({ reads }) => reads)).to.deep.equal([
      [{ path: 'event.data.list', value: null, shortened: true }],
      [{ path: 'event.data.text', value: `${'a'.repeat(200)}…`, shortened: true }],
    ]);
  });

  it('says that an expression could not be evaluated because it failed on the event or was stopped', async () => {
    await register([
      { id: 'fails', triggers: [{ event: `${app}/x`, expression: 'event.data.total > 10' }] },
      { id: 'stopped', triggers: [{ event: `${app}/x`, expression: COSTLY }] },
    ]);
    const id = await send({ total: 'many', list: Array(1_000).fill(1) });
    const fails = await decisionOf(id, 'fails');
    expect([fails?.outcome, fails?.reason]).to.deep.equal(['skipped', 'not_evaluated']);
    expect(fails?.expressions).to.deep.equal([
      {
        expression: 'event.data.total > 10',
        result: 'failed',
        reads: [{ path: 'event.data.total', value: 'many', shortened: false }],
      },
    ]);
    const stopped = await decisionOf(id, 'stopped');
    expect([stopped?.outcome, stopped?.reason]).to.deep.equal(['skipped', 'not_evaluated']);
  });

  it('says that a function was paused, even when it has been resumed since', async () => {
    await register([
      { id: 'all', triggers: [{ event: `${app}/*` }] },
      { id: 'some', triggers: [{ event: `${app}/x`, expression: 'event.data.yes' }, { event: `${app}/y` }] },
    ]);
    for (const id of ['all', 'some']) await service.post(`/v1/functions/${app}-${id}/pause`);
    const id = await send({ yes: false });
    await decisionsOf(id);
    for (const id of ['all', 'some']) await service.post(`/v1/functions/${app}-${id}/resume`);
    const found = [...(await decisionsOf(id))].map(([name, { outcome, reason }]) => [name, outcome, reason]);
    expect(found).to.deep.equal([
      ['all', 'skipped', 'paused'],
      ['some', 'skipped', 'expression_false'],
    ]);
    expect((await decisionOf(await send(), 'all'))?.outcome).to.equal('ran');
  });

  it('says that a function was not registered, or listened to other events, when the event came', async () => {
    const id = await send();
    const other = await send({}, `${app}/y`);
    await service.stored(other);
    await until(async () => Date.now() > Date.parse((await service.get(`/v1/events/${other}`)).body.data.received_at), {
      describe: 'a millisecond has passed',
    });
    await register([{ id: 'new', triggers: [{ event: `${app}/x` }] }]);
    expect([(await decisionOf(id, 'new'))?.outcome, (await decisionOf(id, 'new'))?.reason]).to.deep.equal([
      'skipped',
      'not_registered',
    ]);
    await register([{ id: 'new', triggers: [{ event: `${app}/x` }, { event: `${app}/y` }] }]);
    expect((await decisionOf(other, 'new'))?.reason).to.equal('not_registered');
    expect((await decisionOf(await send({}, `${app}/y`), 'new'))?.outcome).to.equal('ran');
  });

  it('shows the expression that decided, even when the function has another one since', async () => {
    const triggers = (least: number) => [{ event: `${app}/x`, expression: `event.data.n > ${least}` }];
    await register([{ id: 'f', triggers: triggers(10) }]);
    const id = await send({ n: 5 });
    await decisionOf(id, 'f');
    await register([{ id: 'f', triggers: triggers(1) }]);
    const decision = await decisionOf(id, 'f');
    expect([decision?.reason, decision?.changed_since]).to.deep.equal(['expression_false', true]);
    expect(decision?.expressions?.[0]?.expression).to.equal('event.data.n > 10');
  });

  for (const [reason, outcome] of [
    ['rate_limited', 'skipped'],
    ['idempotent', 'skipped'],
    ['singleton', 'skipped'],
    ['environment_archived', 'skipped'],
    ['debounced', 'merged'],
    ['batched', 'merged'],
  ] satisfies [DecisionReason, string][]) {
    it(`has the decision: ${reason}`, async () => {
      await register([{ id: 'f', triggers: [{ event: `${app}/x`, expression: 'event.data.yes' }] }]);
      const id = await send();
      const runId = ulid();
      const at = Date.now() + 60_000;
      await add(id, 'f', { reason, runId, ...(reason === 'rate_limited' && { until: at }) });
      const decision = await decisionOf(id, 'f');
      expect([decision?.outcome, decision?.reason, decision?.run_ids]).to.deep.equal([outcome, reason, [runId]]);
      expect(decision?.until).to.equal(reason === 'rate_limited' ? new Date(at).toISOString() : null);
    });
  }

  it('says until when a rate limit holds, and names the run of the first event of an idempotent function', async () => {
    await register([
      { id: 'limited', triggers: [{ event: `${app}/x` }], rateLimit: { limit: 1, period: '1h' } },
      { id: 'once', triggers: [{ event: `${app}/x` }], idempotency: 'event.data.order' },
    ]);
    const first = await decisionsOf(await send({ order: 1 }));
    const second = await decisionsOf(await send({ order: 1 }));
    const reasons = [first, second].map((found) => [...found.values()].map(({ reason }) => reason));
    expect(reasons).to.deep.equal([
      [null, null],
      ['rate_limited', 'idempotent'],
    ]);
    expect(Date.parse(second.get('limited')?.until ?? '')).to.be.within(Date.now() + 3_500_000, Date.now() + 3_600_000);
    expect(second.get('once')?.run_ids).to.deep.equal(first.get('once')?.run_ids);
  });

  it('prefers a run of the event to a decision about it', async () => {
    await register([{ id: 'f', triggers: [{ event: `${app}/x` }] }]);
    const id = await send();
    await add(id, 'f', { reason: 'debounced' });
    await service.waitFor(`/v1/events/${id}/runs`, ({ body }) => body.data?.length === 1);
    expect((await decisionOf(id, 'f'))?.outcome).to.equal('ran');
  });

  it('names the keys of flow control that cannot be evaluated on the event', async () => {
    await register([
      {
        id: 'f',
        triggers: [{ event: `${app}/x` }],
        throttle: { limit: 10, period: '1m', key: 'event.data.n > 5' },
        concurrency: { limit: 5, key: 'event.data.tenant' },
      },
    ]);
    const expected = [{ option: 'throttle', expression: 'event.data.n > 5' }];
    expect((await decisionOf(await send({ n: 'x' }), 'f'))?.keys_not_evaluated).to.deep.equal(expected);
    expect((await decisionOf(await send({ n: 1 }), 'f'))?.keys_not_evaluated).to.deep.equal([]);
  });

  it('lists only the invoked function for an invocation', async () => {
    await register([
      { id: 'invoked', triggers: [{ event: `${app}/x` }] },
      { id: 'invokes', triggers: [{ event: `${app}/start` }] },
      { id: 'listens', triggers: [{ event: 'inngest/function.invoked' }] },
    ]);
    const { body } = await service.post(`/v1/functions/${app}-invoked/invoke`, { data: {} });
    const byApi = await decisionsOf(body.data.internal_id);
    expect([...byApi].map(([name, { outcome }]) => [name, outcome])).to.deep.equal([['invoked', 'ran']]);
    host.on('invokes', ({ number }) => {
      const opts = { function_id: `${app}-invoked`, payload: { data: {} } };
      if (number > 0) return {};
      return { status: 206, body: [{ id: 'a'.repeat(40), op: 'InvokeFunction', name: 'i', opts }] };
    });
    await send({}, `${app}/start`);
    await host.nextCall('invoked');
    const { body: call } = await host.nextCall('invoked');
    const byStep = await decisionsOf(call.event.id);
    expect([...byStep].map(([name, { outcome }]) => [name, outcome])).to.deep.equal([['invoked', 'ran']]);
  });

  it('is paginated by function ID', async () => {
    await register(['a', 'b', 'c'].map((id) => ({ id, triggers: [{ event: `${app}/x`, expression: 'false' }] })));
    const id = await send();
    await decisionsOf(id);
    const first = (await service.get(`/v1/events/${id}/decisions?limit=2`)).body;
    const second = (await service.get(`/v1/events/${id}/decisions?limit=2&cursor=${first.metadata.cursor}`)).body;
    const names = [first, second].map(({ data }) => data.map((item: Explained) => item.function_id));
    expect(names).to.deep.equal([[`${app}-a`, `${app}-b`], [`${app}-c`]]);
    expect(second.metadata.cursor).to.equal(undefined);
  });

  it('responds with 404 for an event that is not stored', async () => {
    const { status, body } = await service.get(`/v1/events/${ulid()}/decisions`);
    expect([status, body.code]).to.deep.equal([404, 'not_found']);
  });

  it('has exactly one outcome for each listening function, for any triggers, pauses and event', async () => {
    const values = [0, 5, 10, 'text', null] as const;
    const trigger = fc.record({ wildcard: fc.boolean(), least: fc.option(fc.constantFrom(0, 5, 10)) });
    const fn = fc.record({ triggers: fc.array(trigger, { minLength: 1, maxLength: 3 }), paused: fc.boolean() });
    let round = 0;
    const property = fc.asyncProperty(
      fc.array(fn, { minLength: 1, maxLength: 6 }),
      fc.array(fc.constantFrom(...values), { minLength: 1, maxLength: 8 }),
      async (functions, sent) => {
        const name = `${app}/round-${round++}`;
        await register(
          functions.map(({ triggers }, i) => ({
            id: `f${i}`,
            triggers: triggers.map(({ wildcard, least }) => ({
              event: wildcard ? `${app}/*` : name,
              ...(least !== null && { expression: `event.data.n > ${least}` }),
            })),
          })),
        );
        for (const [i, { paused }] of functions.entries()) {
          await service.post(`/v1/functions/${app}-f${i}/${paused ? 'pause' : 'resume'}`);
        }
        const { body } = await service.post(
          '/e/key',
          sent.map((n) => ({ name, data: { n } })),
        );
        for (const [i, n] of sent.entries()) {
          const found = await decisionsOf(body.ids[i]);
          expect([...found.keys()]).to.deep.equal(functions.map((_, f) => `f${f}`));
          for (const [f, { triggers, paused }] of functions.entries()) {
            const met = triggers.some(({ least }) => least === null || (typeof n === 'number' && n > least));
            const failed = n === 'text';
            const expected = met ? (paused ? 'paused' : null) : failed ? 'not_evaluated' : 'expression_false';
            const { outcome, reason, run_ids } = found.get(`f${f}`) as Explained;
            expect(reason, `${JSON.stringify(functions[f])} ${n}`).to.equal(expected);
            expect([outcome, run_ids.length]).to.deep.equal(expected === null ? ['ran', 1] : ['skipped', 0]);
          }
        }
      },
    );
    await fc.assert(property, { numRuns: 25 });
  });

  it('is counted by reason in GET /metrics of a worker', async () => {
    const [worker] = service.workers;
    const skipped = async () => {
      const found = await scrape(`http://127.0.0.1:${worker?.metricsPort}`);
      return found.value('tidegate_runs_skipped_total', { reason: 'paused' }) ?? -1;
    };
    const before = await skipped();
    await register([{ id: 'f', triggers: [{ event: `${app}/x` }] }]);
    await service.post(`/v1/functions/${app}-f/pause`);
    await decisionsOf(await send());
    await until(async () => (await skipped()) === before + 1, { describe: 'the worker has counted one more' });
  });
});
