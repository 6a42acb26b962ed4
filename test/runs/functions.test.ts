import { createHmac } from 'node:crypto';
import canonicalize from 'canonicalize';
import { expect } from 'chai';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { type Service, startService } from '../support/service.ts';

/** Retry delays of milliseconds: 15 s to 45 s by the schedule. */
const QUICK = { RETRY_SCALE: '0.0005' };

interface RunView {
  run_id: string;
  function_id: string;
  status: string;
  attempt: number;
  output: unknown;
  error: { name: string; message: string } | null;
  run_started_at: string | null;
  ended_at: string | null;
}

describe('Functions', () => {
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService({ env: QUICK });
  });
  after(() => service.stop());
  beforeEach(async () => {
    host = await startAppHost();
  });
  afterEach(() => host.close());

  async function send(name: string, data: object = {}): Promise<string> {
    const { status, body } = await service.post('/e/key', { name, data });
    expect(status).to.equal(200);
    return body.ids[0];
  }

  async function endedRuns(eventId: string, count = 1): Promise<RunView[]> {
    const { body } = await service.waitFor(
      `/v1/events/${eventId}/runs`,
      ({ status, body }) =>
        status === 200 && body.data.length === count && body.data.every((run: RunView) => run.ended_at),
    );
    return body.data;
  }

  describe('registration', () => {
    it('the response to a registration says whether anything changed', async () => {
      const app = { appName: 'modified' };
      const functions = [{ id: 'f', triggers: [{ event: 'modified/x' }] }];
      expect((await host.register(service, functions, app)).body).to.deep.equal({ ok: true, modified: true });
      expect((await host.register(service, functions, app)).body).to.deep.equal({ ok: true, modified: false });
      const other = [{ id: 'f', triggers: [{ event: 'modified/y' }] }];
      expect((await host.register(service, other, app)).body).to.deep.equal({ ok: true, modified: true });
    });

    it('lists of functions show the description and the group that an app registers', async () => {
      const functions = [
        { id: 'told', triggers: [], description: 'Sends a receipt', group: 'orders' },
        { id: 'wordy', triggers: [], description: 'x'.repeat(2_000), group: 'y'.repeat(200) },
        { id: 'odd', triggers: [], description: { not: 'text' }, group: 7 },
        { id: 'bare', triggers: [] },
      ];
      expect((await host.register(service, functions, { appName: 'described' })).status).to.equal(200);
      const { body } = await service.get('/v1/functions?app=described');
      const told = body.data.map((fn: Record<string, unknown>) => [fn.description, fn.group]);
      expect(told).to.have.deep.members([
        ['Sends a receipt', 'orders'],
        ['x'.repeat(1_000), 'y'.repeat(100)],
        [null, null],
        [null, null],
      ]);
      const { data } = (await service.get(`/v1/functions/${body.data[0].id}`)).body;
      expect([data.description, data.group]).to.deep.equal(told[0]);
    });

    it('a registration may have unknown fields', async () => {
      const functions = [
        { id: 'f', triggers: [{ event: 'unknown/x' }], concurrency: [{ limit: 5 }], someday: { x: 1 } },
      ];
      expect((await host.register(service, functions, { appName: 'unknown' })).status).to.equal(200);
    });

    it('a registration through the API asks the app for its functions', async () => {
      host.offer(service, [{ id: 'f', triggers: [{ event: 'told/x' }] }], { appName: 'told' });
      const { status, body } = await service.post('/v1/apps', { url: host.url });
      expect([status, body.data]).to.deep.equal([
        200,
        { url: host.url, functions: [{ id: 'told-f', problems: [] }], unsupported: [], unsupported_count: 0 },
      ]);
      const id = await send('told/x');
      expect((await endedRuns(id))[0]?.function_id).to.equal('told-f');
      const nobody = await service.post('/v1/apps', { url: 'http://127.0.0.1:1/api' });
      expect([nobody.status, nobody.body.code]).to.deep.equal([400, 'app_unreachable']);
    });

    it('a registration with an invalid field is rejected with the reason', async () => {
      const refused = async (change: (registration: ReturnType<AppHost['registration']>) => unknown) => {
        const body = host.registration([{ id: 'f', triggers: [{ event: 'x/y' }] }], { appName: 'refused' });
        const { status, body: responseBody } = await service.post('/fn/register', change(body) as object, {
          'x-service-sdk': 'test:v1.0.0',
        });
        expect([status, responseBody.code]).to.deep.equal([400, 'registration_invalid']);
        return responseBody.error as string;
      };
      expect(await refused((r) => ({ ...r, appName: '' }))).to.include('appName');
      expect(await refused((r) => ({ ...r, url: 'nonsense' }))).to.include('url');
      expect(
        await refused((r) => ({ ...r, functions: r.functions.map((f) => ({ ...f, triggers: [{}] })) })),
      ).to.include('triggers');
      expect(await refused((r) => ({ ...r, functions: r.functions.map((f) => ({ ...f, steps: {} })) }))).to.include(
        'steps',
      );
      expect(await refused((r) => ({ ...r, functions: [...r.functions, ...r.functions] }))).to.include('same id');
      const bad = [{ cron: '61 * * * *' }];
      expect(await refused((r) => ({ ...r, functions: r.functions.map((f) => ({ ...f, triggers: bad })) }))).to.include(
        '"61" is not a minute',
      );
      expect(await refused(() => [])).to.include('body');
    });

    it('a function ID belongs to the app that registered it first', async () => {
      await host.register(service, [{ id: 'b-c', triggers: [{ event: 'taken/x' }] }], { appName: 'a' });
      const second = await host.register(service, [{ id: 'c', triggers: [{ event: 'taken/x' }] }], { appName: 'a-b' });
      expect([second.status, second.body.code]).to.deep.equal([400, 'registration_invalid']);
      expect(second.body.error).to.include('a-b-c');
    });

    it('functions that an app no longer registers are no longer triggered', async () => {
      const app = { appName: 'fewer' };
      const functions = ['stays', 'goes'].map((id) => ({ id, triggers: [{ event: 'fewer/x' }] }));
      await host.register(service, functions, app);
      expect((await endedRuns(await send('fewer/x'), 2)).length).to.equal(2);
      await host.register(service, functions.slice(0, 1), app);
      expect((await endedRuns(await send('fewer/x'))).map(({ function_id }) => function_id)).to.deep.equal([
        'fewer-stays',
      ]);
    });

    it('a registration that expects another kind of service is rejected', async () => {
      const options = { appName: 'kind', headers: { 'x-service-expected-server-kind': 'cloud' } };
      const { status, body } = await host.register(service, [{ id: 'f', triggers: [{ event: 'x/y' }] }], options);
      expect(status).to.equal(400);
      expect(body.error).to.include('cloud').and.include('dev');
    });
  });

  describe('runs', () => {
    it('functions of several apps run on every event that matches their name, wildcard and expression', async () => {
      const other = await startAppHost();
      try {
        await host.register(
          service,
          [
            { id: 'name', triggers: [{ event: 'shop/paid' }] },
            { id: 'wild', triggers: [{ event: 'shop/*' }] },
            { id: 'big', triggers: [{ event: 'shop/paid', expression: 'event.data.total > 10' }] },
          ],
          { appName: 'one' },
        );
        await other.register(service, [{ id: 'name', triggers: [{ event: 'shop/paid' }] }], { appName: 'two' });
        const ids = (runs: RunView[]) => runs.map(({ function_id }) => function_id).sort();
        expect(ids(await endedRuns(await send('shop/paid', { total: 11 }), 4))).to.deep.equal([
          'one-big',
          'one-name',
          'one-wild',
          'two-name',
        ]);
        expect(ids(await endedRuns(await send('shop/paid', { total: 10 }), 3))).to.deep.equal([
          'one-name',
          'one-wild',
          'two-name',
        ]);
        expect(ids(await endedRuns(await send('shop/sent')))).to.deep.equal(['one-wild']);
      } finally {
        await other.close();
      }
    });

    it('a function receives the event, and its output is stored', async () => {
      host.on('f', () => ({ body: { receipt: 'r1' } }));
      await host.register(service, [{ id: 'f', triggers: [{ event: 'output/x' }] }], { appName: 'output' });
      const eventId = await send('output/x', { n: 1 });
      const [run] = (await endedRuns(eventId)) as [RunView];
      expect(run).to.include({
        function_id: 'output-f',
        event_id: eventId,
        status: 'Completed',
        attempt: 0,
        error: null,
      });
      expect(run.output).to.deep.equal({ receipt: 'r1' });
      const { history, metadata, ...shown } = (await service.get(`/v1/runs/${run.run_id}`)).body.data;
      const { next_try_at, waiting, failed_step, fingerprint, trace_id, trace_url, ...same } = shown;
      const none = [next_try_at, waiting, failed_step, fingerprint, trace_id, trace_url];
      expect(none).to.deep.equal(Array(6).fill(null));
      expect(metadata).to.deep.equal([]);
      expect(same).to.deep.equal(run);
      expect(history.map((entry: { kind: string; status: string }) => [entry.kind, entry.status])).to.deep.equal([
        ['attempt', 'Completed'],
      ]);
      const [call] = host.calls('f');
      expect(call?.body.event).to.deep.include({ name: 'output/x', data: { n: 1 }, id: eventId });
      expect(call?.body.events).to.deep.equal([call?.body.event]);
      expect(call?.body.ctx).to.deep.include({
        run_id: run.run_id,
        attempt: 0,
        max_attempts: 5,
        env: 'production',
        step_id: 'step',
      });
      expect(call?.body).to.deep.include({ steps: {}, use_api: false, version: -1 });
      // The official SDKs send checkpoints only to a service that gives them these.
      expect(call?.body.ctx.fn_id).to.match(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
      expect(call?.body.ctx.qi_id).to.be.a('string').and.not.equal('');
    });

    for (const dialect of ['service', 'inngest'] as const) {
      it(`calls have the headers of the dialect that the app speaks: x-${dialect}-`, async () => {
        await host.register(service, [{ id: 'f', triggers: [{ event: `dialect/${dialect}` }] }], {
          appName: dialect,
          dialect,
        });
        const sent = await service.post('/e/key', { name: `dialect/${dialect}`, data: { b: 1, a: [1.0, 'é'] } });
        await endedRuns(sent.body.ids[0]);
        const call = await host.nextCall('f');
        expect(call.headers).to.include({ [`x-${dialect}-server-kind`]: 'dev', [`x-${dialect}-req-version`]: '-1' });
        const runId = call.body.ctx.run_id as string;
        expect(call.headers['x-run-id']).to.equal(runId);
        expect(call.headers).to.include({
          [`x-${dialect}-run-id`]: runId,
          [`x-${dialect}-step-id`]: 'step',
          [`x-${dialect}-job-id`]: runId,
        });
        expect(Number(call.headers[`x-${dialect}-generation-id`])).to.be.within(Date.now() - 60_000, Date.now());
        expect([call.body.event.user, call.body.events[0].user]).to.deep.equal([{}, {}]);
        expect(call.headers['x-request-id']).to.equal(sent.headers.get('x-request-id'));
        expect(call.headers.traceparent).to.match(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
        expect(call.raw.toString()).to.equal(canonicalize(call.body));
      });
    }

    it('functions run on events that have no canonical JSON', async () => {
      await host.register(service, [{ id: 'f', triggers: [{ event: 'odd/x' }] }], { appName: 'odd' });
      const headers = { 'content-type': 'application/json' };
      const sent = await service.post(
        '/e/key',
        '{"name":"odd/x","data":{"half":"\\ud800","kept":"\\\\ud800","huge":1e999}}',
        headers,
      );
      await endedRuns(sent.body.ids[0]);
      expect(host.calls('f')[0]?.body.event.data).to.deep.equal({ half: '\ufffd', kept: '\\ud800', huge: null });
    });
  });

  describe('failures', () => {
    it('a function that fails is retried until it succeeds, and each attempt has its number', async () => {
      host.on('f', ({ number }) =>
        number < 2 ? { status: 500, body: { name: 'Busy', message: 'not yet' } } : { body: 'done' },
      );
      await host.register(service, [{ id: 'f', triggers: [{ event: 'flaky/x' }], retries: 3 }], { appName: 'flaky' });
      const [run] = (await endedRuns(await send('flaky/x'))) as [RunView];
      expect(run).to.include({ status: 'Completed', attempt: 2, output: 'done', error: null });
      expect(host.calls('f').map(({ body }) => [body.ctx.attempt, body.ctx.max_attempts])).to.deep.equal([
        [0, 4],
        [1, 4],
        [2, 4],
      ]);
    });

    it('a run shows the error of its last attempt while it waits for the next', async () => {
      host.on('f', ({ number }) =>
        number === 0
          ? { status: 500, headers: { 'retry-after': '1' }, body: { name: 'Busy', message: 'not yet' } }
          : {},
      );
      await host.register(service, [{ id: 'f', triggers: [{ event: 'waiting/x' }] }], { appName: 'waiting' });
      const id = await send('waiting/x');
      const { body } = await service.waitFor(`/v1/events/${id}/runs`, ({ body }) => body.data?.[0]?.error);
      expect(body.data[0]).to.deep.include({
        status: 'Running',
        attempt: 0,
        error: { name: 'Busy', message: 'not yet' },
        ended_at: null,
      });
      await endedRuns(id);
    });

    it('a function that fails in all its attempts fails permanently', async () => {
      host.on('f', () => ({ status: 500, body: { name: 'Broken', message: 'always', stack: 'at f' } }));
      await host.register(service, [{ id: 'f', triggers: [{ event: 'broken/x' }], retries: 2 }], { appName: 'broken' });
      const [run] = (await endedRuns(await send('broken/x'))) as [RunView];
      expect(run).to.deep.include({
        status: 'Failed',
        attempt: 2,
        error: { name: 'Broken', message: 'always', stack: 'at f' },
      });
      expect(host.calls('f').length).to.equal(3);
    });

    it('a function that fails and forbids a retry gets none', async () => {
      host.on('f', () => ({
        status: 400,
        headers: { 'x-service-no-retry': 'true' },
        body: { name: 'Bad', message: 'no' },
      }));
      await host.register(service, [{ id: 'f', triggers: [{ event: 'never/x' }] }], { appName: 'never' });
      const [run] = (await endedRuns(await send('never/x'))) as [RunView];
      expect(run).to.deep.include({ status: 'Failed', attempt: 0, error: { name: 'Bad', message: 'no' } });
      expect(host.calls('f').length).to.equal(1);
    });

    it('a failed run sends an event, which triggers functions like any other', async () => {
      host.on('f', () => ({
        status: 400,
        headers: { 'x-service-no-retry': 'true' },
        body: { name: 'Bad', message: 'no' },
      }));
      host.on('handler', () => ({
        status: 400,
        headers: { 'x-service-no-retry': 'true' },
        body: { name: 'Worse', message: 'also' },
      }));
      const failed = { event: 'inngest/function.failed', expression: "event.data.function_id == 'announced-f'" };
      await host.register(
        service,
        [
          { id: 'f', triggers: [{ event: 'announced/x' }] },
          { id: 'handler', triggers: [failed] },
        ],
        { appName: 'announced' },
      );
      const eventId = await send('announced/x', { n: 1 });
      const [run] = (await endedRuns(eventId)) as [RunView];
      const call = await host.nextCall('handler');
      const { data } = call.body.event;
      expect(data).to.deep.include({
        function_id: 'announced-f',
        run_id: run.run_id,
        error: { error: 'NonRetriableError', name: 'Bad', message: 'no' },
        result: { name: 'Bad', message: 'no' },
        _inngest: { status: 'Failed' },
      });
      expect(data.event).to.deep.include({ name: 'announced/x', data: { n: 1 }, user: {} });
      expect(data.events).to.deep.equal([data.event]);
      // The handler fails too, and sends no failure event: that would never end.
      const [own] = (await endedRuns(call.body.event.id)) as [RunView];
      expect(own.status).to.equal('Failed');
      expect(
        (await service.get('/v1/events?name=inngest/function.failed')).body.data.filter(
          (e: { data: { function_id: string } }) => e.data.function_id.startsWith('announced'),
        ).length,
      ).to.equal(1);
    });

    it('a response that breaks the protocol is retried, with the reason as its error', async () => {
      const responses = [
        { headers: { 'x-service-sdk': undefined } },
        'hang up' as const,
        { status: 206, body: Buffer.from('no json') },
        { status: 302, headers: { location: 'http://127.0.0.1:1/' } },
      ];
      const errors: string[] = [];
      host.on('f', async ({ number, body }) => {
        if (number > 0) errors.push((await service.get(`/v1/runs/${body.ctx.run_id}`)).body.data.error.message);
        return responses[number] ?? { body: 'at last' };
      });
      await host.register(service, [{ id: 'f', triggers: [{ event: 'wrong/x' }], retries: 6 }], { appName: 'wrong' });
      const [run] = (await endedRuns(await send('wrong/x'))) as [RunView];
      expect(run).to.include({ status: 'Completed', output: 'at last' });
      for (const [i, pattern] of [
        /did not come from an SDK/,
        /could not be called/,
        /not a list of step operations/,
        /status 302/,
      ].entries()) {
        expect(errors[i]).to.match(pattern);
      }
    });
  });

  it('functions that respond with more than 4 MiB are retried, and then fail', async () => {
    host.on('f', () => ({ body: 'x'.repeat(5_000_000) }));
    await host.register(service, [{ id: 'f', triggers: [{ event: 'large/x' }], retries: 1 }], { appName: 'large' });
    const [run] = (await endedRuns(await send('large/x'))) as [RunView];
    expect(run).to.include({ status: 'Failed', attempt: 1 });
    expect(run.error).to.deep.include({ name: 'OutputTooLarge' });
  });

  it('outside dev mode calls are signed, and registrations need the signing key', async () => {
    const production = await startService({ dev: false });
    try {
      expect(
        (await host.register(production, [{ id: 'f', triggers: [{ event: 'signed/x' }] }], { appName: 'signed' }))
          .status,
      ).to.equal(200);
      await production.post(production.eventPath, { name: 'signed/x', data: {} });
      const call = await host.nextCall('f');
      expect(call.headers['x-service-server-kind']).to.equal('cloud');
      const [, t, s] = /^t=(\d+)&s=([0-9a-f]{64})$/.exec(call.headers['x-service-signature'] as string) ?? [];
      const key = (production.env.SIGNING_KEY as string).replace(/^signkey-\w+-/, '');
      expect(s).to.equal(
        createHmac('sha256', key)
          .update(call.raw)
          .update(t as string)
          .digest('hex'),
      );
      expect(Math.abs(Number(t) - Date.now() / 1_000)).to.be.lessThan(60);
    } finally {
      await production.stop();
    }
  });

  it('a call that exceeds the timeout is a failed attempt', async () => {
    const hasty = await startService({ env: { ...QUICK, CALL_TIMEOUT_SECONDS: '0.3' } });
    try {
      const never = Promise.withResolvers<never>();
      host.on('f', ({ number }) => (number === 0 ? never.promise : { body: 'in time' }));
      await host.register(hasty, [{ id: 'f', triggers: [{ event: 'slow/x' }] }], { appName: 'slow' });
      await hasty.post('/e/key', { name: 'slow/x', data: {} });
      await host.nextCall('f');
      const call = await host.nextCall('f');
      const { body } = await hasty.waitFor(
        `/v1/runs/${call.body.ctx.run_id}`,
        ({ body }) => body.data?.status === 'Completed',
      );
      expect(body.data).to.include({ attempt: 1, output: 'in time' });
    } finally {
      await hasty.stop();
    }
  });
});
