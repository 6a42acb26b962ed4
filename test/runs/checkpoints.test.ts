/** Checkpoints of calls on the wire (docs/protocol.md#checkpoints). */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { newId } from '../../src/model/ids.ts';
import { type AppHost, type Call, type HostResponse, startAppHost } from '../support/app-host.ts';
import type { HttpResponse } from '../support/http.ts';
import { type OwnStore, openStore } from '../support/own-store.ts';
import { type Service, startService } from '../support/service.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests say what they expect of it
type Loose = any;

const hash = (name: string) => createHash('sha1').update(name).digest('hex');
const op = (kind: string, name: string, rest: object = {}) => ({ op: kind, id: hash(name), name, ...rest });
const step = (name: string, data: unknown = name) => op('StepRun', name, { data });
const done: HostResponse = { status: 206, body: [op('RunComplete', 'complete', { data: 'done' })] };
/** Operations that belong into the response to a call, and their fields. */
const WRONG: Record<string, object> = {
  RunComplete: { data: 'done' },
  RunError: { error: { name: 'Error', message: 'broken' } },
  StepError: { error: { name: 'Error', message: 'broken' } },
  StepNotFound: {},
  DiscoveryRequest: {},
  Sleep: { opts: { duration: '1h' } },
  WaitForEvent: { opts: { event: 'cp/awaited', timeout: '1h' } },
  WaitForSignal: { opts: { signal: 'awaited', timeout: '1h' } },
  InvokeFunction: { opts: { function_id: 'shop-other', payload: { data: {} } } },
  Gateway: { opts: { url: 'http://127.0.0.1:9/', method: 'GET' } },
  AIGateway: { opts: { url: 'http://127.0.0.1:9/', format: 'openai-chat', body: {} } },
  Unknown: {},
};
const SOON = { STALLED_AFTER_SECONDS: '1', RETRY_SCALE: '0.0005' };

describe('Checkpoints of a call', () => {
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService({ env: SOON });
    host = await startAppHost();
  });
  after(async () => {
    await host.close();
    await service.stop();
  });

  const store = ({ body: { ctx } }: Call, steps: unknown[], on = service, headers?: Record<string, string>) =>
    on.post(`/v1/checkpoint/${ctx.run_id}/async`, { run_id: ctx.run_id, qi_id: ctx.qi_id, steps }, headers);
  const storeTogether = (checkpoints: unknown[], on = service, headers?: Record<string, string>) =>
    on.post('/v1/checkpoints', { checkpoints }, headers);
  const checkpointOf = ({ body: { ctx } }: Call, ...steps: unknown[]) => ({
    run_id: ctx.run_id,
    qi_id: ctx.qi_id,
    steps,
  });
  const codeOf = ({ status, body }: HttpResponse) => [status, body.code];

  async function start(id: string, options: object = {}, on = service): Promise<string> {
    await host.register(on, [{ id, triggers: [{ event: `cp/${id}` }], ...options }], { appName: id });
    return (await on.post(on.eventPath, { name: `cp/${id}`, data: {} })).body.ids[0];
  }

  async function ended(eventId: string, on = service): Promise<Loose> {
    const path = `/v1/events/${eventId}/runs`;
    return (await on.waitFor(path, ({ body }) => body.data?.[0]?.ended_at)).body.data[0];
  }

  it('store each step once, however often it is sent', async () => {
    host.on('repeated', async (call) => {
      expect((await store(call, [step('a', 1)])).status).to.equal(200);
      expect((await store(call, [step('a', 2), step('b')])).status).to.equal(200);
      return { status: 206, body: [step('b', 'other'), op('Sleep', 'nap', { opts: { duration: '50ms' } })] };
    });
    const eventId = await start('repeated');
    await host.nextCall('repeated');
    host.on('repeated', () => done);
    const { body } = await host.nextCall('repeated');
    expect(body.steps).to.deep.include({ [hash('a')]: { data: 1 }, [hash('b')]: { data: 'b' } });
    expect(body.ctx.stack.stack).to.deep.equal([hash('a'), hash('b'), hash('nap')]);
    const run = await ended(eventId);
    const { history } = (await service.get(`/v1/runs/${run.run_id}`)).body.data;
    const names = history.filter(({ kind }: Loose) => kind === 'step').map(({ name }: Loose) => name);
    expect([...new Set(names)]).to.deep.equal(['a', 'b', 'nap']);
  });

  it('are followed in the history by the attempt that ended the run', async () => {
    host.on('told', async (call) => {
      if (call.number === 0) await store(call, [step('a')]);
      return { status: 200, body: 'done' };
    });
    const kindsOf = async (eventId: string) => {
      const { run_id } = await ended(eventId);
      const { history } = (await service.get(`/v1/runs/${run_id}`)).body.data;
      return history.map(({ kind, status }: Loose) => [kind, status]);
    };
    const [stored, atOnce] = [await kindsOf(await start('told')), await kindsOf(await start('told'))];
    expect(stored).to.have.deep.members([
      ['step', 'Completed'],
      ['attempt', 'Completed'],
    ]);
    expect(stored).to.deep.include.members(atOnce);
  });

  it('get the same response for every spelling of their path', async () => {
    const responses: Loose[] = [];
    host.on('spelled', async ({ body: { ctx } }) => {
      const body = { run_id: ctx.run_id, qi_id: ctx.qi_id, steps: [step('a')] };
      for (const send of [body, { ...body, qi_id: 'none' }]) {
        for (const end of ['', '/', '?a=1']) {
          const { status, headers, body } = await service.post(`/v1/checkpoint/${ctx.run_id}/async${end}`, send);
          const { date: _, vary: __, 'x-request-id': id, ...rest } = Object.fromEntries(headers);
          expect(id).to.match(/^[0-9A-Z]{26}$/);
          responses.push({ status, body, rest });
        }
      }
      return done;
    });
    await ended(await start('spelled'));
    const [stored, slash, query, ...refused] = responses;
    expect([stored.status, stored.body]).to.deep.equal([200, {}]);
    expect([slash, query]).to.deep.equal([stored, stored]);
    expect(refused.map(({ status }) => status)).to.deep.equal([400, 400, 400]);
    expect(refused.slice(1)).to.deep.equal([refused[0], refused[0]]);
  });

  it('survive the worker, and another one repeats the call with the steps', async () => {
    const own = await startService({ processes: 'worker', env: SOON });
    try {
      const responses: Promise<HttpResponse>[] = [];
      const first = Promise.withResolvers<Call>();
      host.on('orphan', (call) => {
        if (call.number > 0) return done;
        responses.push(store(call, [step('a')], own));
        first.resolve(call);
        return new Promise(() => {});
      });
      const eventId = await start('orphan', {}, own);
      const call = await first.promise;
      expect((await responses[0])?.status).to.equal(200);
      await own.killWorker();
      // Nobody has taken the call over yet, so its app may go on.
      expect((await store(call, [step('b')], own)).status).to.equal(200);
      await own.startWorker();
      expect(await ended(eventId, own)).to.deep.include({ status: 'Completed', output: 'done' });
      const [, second] = host.calls('orphan') as [Call, Call];
      expect(Object.keys(second.body.steps)).to.have.members([hash('a'), hash('b')]);
      expect(second.body.ctx.attempt).to.equal(0);
      expect(codeOf(await store(call, [step('c')], own))).to.deep.equal([409, 'run_ended']);
    } finally {
      await own.stop();
    }
  });

  it('are rejected from a call that another worker has repeated', async () => {
    const own = await startService({ processes: 'worker', env: SOON });
    try {
      const release = Promise.withResolvers<HostResponse>();
      host.on('repeatedly', (call) => (call.number === 0 ? new Promise(() => {}) : release.promise));
      const eventId = await start('repeatedly', {}, own);
      const stale = await host.nextCall('repeatedly');
      await own.killWorker();
      await own.startWorker();
      const current = await host.nextCall('repeatedly');
      expect(codeOf(await store(stale, [step('a')], own))).to.deep.equal([409, 'call_superseded']);
      expect((await store(current, [step('a', 'current')], own)).status).to.equal(200);
      release.resolve(done);
      await ended(eventId, own);
    } finally {
      await own.stop();
    }
  });

  it('reset attempts: a failure after them is the first', async () => {
    const attempts: number[] = [];
    host.on('anew', async (call) => {
      attempts.push(call.body.ctx.attempt);
      const next = Object.keys(call.body.steps).length;
      if (attempts.length < 5) await store(call, [step(`s${next}`)]);
      return { status: 500, body: { name: 'Error', message: 'broken' } };
    });
    const run = await ended(await start('anew', { retries: 1 }));
    expect(run).to.deep.include({ status: 'Failed' });
    expect(attempts).to.deep.equal([0, 1, 1, 1, 1]);
  });

  it('are rejected after the attempt has failed', async () => {
    host.on('failed', async (call) => {
      if (call.number > 0) return done;
      await store(call, [step('a')]);
      return { status: 500, body: { name: 'Error', message: 'broken' }, headers: { 'retry-after': '2' } };
    });
    const eventId = await start('failed');
    const call = await host.nextCall('failed');
    await service.waitFor(`/v1/runs/${call.body.ctx.run_id}`, ({ body }) => body.data.error);
    expect(codeOf(await store(call, [step('b')]))).to.deep.equal([409, 'call_superseded']);
    await ended(eventId);
    expect(Object.keys(host.calls('failed')[1]?.body.steps)).to.deep.equal([hash('a')]);
  });

  it('keep a long call from being repeated by reconciliation', async () => {
    host.on('long', async (call) => {
      await store(call, [step('a')]);
      // Longer than the time after which an idle run is reconciled.
      await new Promise((resolve) => setTimeout(resolve, 6_000));
      return done;
    });
    await ended(await start('long'));
    expect(host.calls('long')).to.have.length(1);
  });

  it('accept a step that has begun, but no operation that ends a call', async () => {
    const codes: unknown[] = [];
    host.on('kinds', async (call) => {
      const sleep = op('Sleep', 'nap', { opts: { duration: '1h' } });
      for (const one of [op('StepPlanned', 'a', { timing: { a: Date.now() * 1e6, b: 0 } }), sleep, 'nonsense']) {
        codes.push(codeOf(await store(call, [one])));
      }
      return done;
    });
    const run = await ended(await start('kinds'));
    expect(run.output).to.equal('done');
    expect(codes).to.deep.equal([
      [200, undefined],
      [400, 'input_invalid'],
      [400, 'input_invalid'],
    ]);
  });

  for (const [kind, rest] of Object.entries(WRONG)) {
    it(`keep the steps that ran beside the operation ${kind}, which is refused`, async () => {
      const id = `beside-${kind}`;
      const refused = op(kind, 'wrong', rest);
      const failed = op('StepFailed', 'failed', { error: { name: 'Error', message: 'broken' } });
      host.on(id, async (call) => {
        if (call.number > 0) return done;
        const { status, body } = await store(call, [step('a'), refused, failed, step('b')]);
        expect([status, body.code]).to.deep.equal([400, 'input_invalid']);
        expect(body.error).to.contain('wrong').and.contain(kind);
        return { status: 206, body: [{ op: 'None', id: '' }] };
      });
      expect((await ended(await start(id))).output).to.equal('done');
      expect(Object.keys(host.calls(id)[1]?.body.steps)).to.have.members(['a', 'failed', 'b'].map(hash));
    });
  }

  it('keep the steps that ran beside what is no operation', async () => {
    const nothing = { op: 'None', id: '' };
    const failed = op('StepFailed', 'failed', { error: { name: 'Error', message: 'broken' } });
    const codes: unknown[] = [];
    host.on('beside', async (call) => {
      if (call.number > 0) return done;
      codes.push(codeOf(await store(call, [nothing, step('a')])));
      codes.push(codeOf(await store(call, [step('b'), 'nonsense', failed, step('c')])));
      return { status: 206, body: [nothing] };
    });
    expect((await ended(await start('beside'))).output).to.equal('done');
    expect(codes).to.deep.equal([
      [200, undefined],
      [400, 'input_invalid'],
    ]);
    expect(Object.keys(host.calls('beside')[1]?.body.steps)).to.have.members(['a', 'b', 'failed', 'c'].map(hash));
  });

  it('tell the app to stop when the run is cancelled', async () => {
    host.on('cancelled', async (call) => {
      await service.request('DELETE', `/v1/runs/${call.body.ctx.run_id}`);
      const refused = await store(call, [step('a')]);
      expect(codeOf(refused)).to.deep.equal([409, 'run_ended']);
      return {
        status: 400,
        body: { name: 'StaleDispatchError', message: 'stale' },
        headers: { 'x-service-no-retry': 'true' },
      };
    });
    expect((await ended(await start('cancelled'))).status).to.equal('Cancelled');
  });

  it('have the same limits as responses', async () => {
    const codes: unknown[] = [];
    host.on('limits', async (call) => {
      // A call whose worker was slow is made again meanwhile.
      if (call.number > 0) return done;
      const fits = 'x'.repeat(2_300_000);
      codes.push(codeOf(await store(call, [step('one', fits), step('other', fits)])));
      const tooMany = Array.from({ length: 1_001 }, (_, n) => step(`s${n}`));
      codes.push(codeOf(await store(call, tooMany)));
      codes.push(codeOf(await store(call, [step('deep', JSON.parse('['.repeat(600) + ']'.repeat(600)))])));
      codes.push(codeOf(await store(call, [step('name'.repeat(300))])));
      codes.push(codeOf(await store(call, [step('large', 'x'.repeat(9_000_000))])));
      codes.push(codeOf(await store(call, [step('bulky', 'x'.repeat(4 * 1_024 * 1_024))])));
      return done;
    });
    const run = await ended(await start('limits'));
    expect([run.status, run.error.name]).to.deep.equal(['Failed', 'OutputTooLarge']);
    expect(codes).to.deep.equal([
      [200, undefined],
      [400, 'input_invalid'],
      [400, 'input_invalid'],
      [400, 'input_invalid'],
      [413, 'body_too_large'],
      [409, 'run_ended'],
    ]);
  });

  it('of several calls come in one request, and each has a result of its own', async () => {
    const release = Promise.withResolvers<HostResponse>();
    const ids = ['grouped-a', 'grouped-b'];
    for (const id of ids) host.on(id, (call) => (call.number === 0 ? release.promise : done));
    const events = [await start('grouped-a'), await start('grouped-b')];
    const [first, second] = [await host.nextCall('grouped-a'), await host.nextCall('grouped-b')];
    const { status, body } = await storeTogether([
      checkpointOf(first, step('a')),
      { ...checkpointOf(second, step('a')), qi_id: 'none' },
      { ...checkpointOf(second, step('a')), run_id: newId() },
      { ...checkpointOf(second, step('a')), run_id: 'none' },
      'nothing',
      checkpointOf(second, step('b'), 'nonsense'),
      checkpointOf(second, step('c')),
    ]);
    expect([status, body.results.map((result: Loose) => [result.status, result.code])]).to.deep.equal([
      200,
      [
        [200, ''],
        [400, 'input_invalid'],
        [404, 'not_found'],
        [400, 'input_invalid'],
        [400, 'input_invalid'],
        [400, 'input_invalid'],
        [200, ''],
      ],
    ]);
    release.resolve({ status: 206, body: [] });
    for (const eventId of events) await ended(eventId);
    const stepsOf = (id: string) => Object.keys(host.calls(id)[1]?.body.steps ?? {});
    expect(stepsOf('grouped-a')).to.have.members([hash('a')]);
    expect(stepsOf('grouped-b')).to.have.members([hash('b'), hash('c')]);
  });

  it('are at least one and at most 100 in a request', async () => {
    for (const checkpoints of [undefined, [], Array.from({ length: 101 }, () => ({}))]) {
      expect(codeOf(await storeTogether(checkpoints as unknown[]))).to.deep.equal([400, 'input_invalid']);
    }
  });

  it('need the signing key of the environment of the run', async () => {
    const own = await startService({ env: SOON, dev: false });
    try {
      const codes: unknown[] = [];
      const guess = (env: string) => Buffer.from(JSON.stringify([env, 0, 1])).toString('base64url');
      host.on('signed', async (call) => {
        const forged = (env: string) => ({ ...call, body: { ctx: { ...call.body.ctx, qi_id: guess(env) } } });
        const raw = { authorization: `Bearer ${own.env.SIGNING_KEY}` };
        const wrong = { authorization: 'Bearer signkey-test-00' };
        codes.push(codeOf(await store(call, [step('a')], own)));
        codes.push(codeOf(await store(call, [step('a')], own, wrong)));
        codes.push(codeOf(await store(forged('elsewhere'), [step('a')], own, own.appHeaders)));
        codes.push(codeOf(await store(forged('other'), [step('a')], own, own.appHeaders)));
        codes.push(codeOf(await storeTogether([checkpointOf(call, step('a'))], own)));
        codes.push(codeOf(await storeTogether([checkpointOf(call, step('a'))], own, wrong)));
        const both = [checkpointOf(call, step('a')), checkpointOf(forged('other'), step('a'))];
        codes.push(codeOf(await storeTogether(both, own, own.appHeaders)));
        codes.push(codeOf(await store(call, [step('a')], own, own.appHeaders)));
        codes.push(codeOf(await store(call, [step('b')], own, raw)));
        return done;
      });
      await own.post('/v1/environments', { name: 'other', kind: 'branch' }, own.apiHeaders);
      const run = await ended(await start('signed', {}, own), own);
      expect(run.status).to.equal('Completed');
      expect(codes).to.deep.equal([
        [401, 'credentials_invalid'],
        [401, 'credentials_invalid'],
        [401, 'credentials_invalid'],
        // Branches have a key of their own.
        [401, 'credentials_invalid'],
        [401, 'credentials_invalid'],
        [401, 'credentials_invalid'],
        [401, 'credentials_invalid'],
        [200, undefined],
        [200, undefined],
      ]);
    } finally {
      await own.stop();
    }
  });

  it('can also come with the response: several finished steps are stored at once, and one call follows', async () => {
    host.on('together', ({ number }) =>
      number === 0 ? { status: 206, body: [step('a'), step('b'), step('c')] } : done,
    );
    await ended(await start('together'));
    expect(host.calls('together').map(({ body }) => Object.keys(body.steps).length)).to.deep.equal([0, 3]);
  });

  it('can include a failed step, which has its own attempts', async () => {
    const attempts: number[] = [];
    const failed = op('StepError', 'b', { error: { name: 'Error', message: 'broken' } });
    host.on('reported', ({ body }) => {
      attempts.push(body.ctx.attempt);
      if (attempts.length === 1) return { status: 500, body: { name: 'Error', message: 'broken' } };
      return body.steps[hash('b')]
        ? done
        : { status: 206, body: body.steps[hash('a')] ? [failed] : [step('a'), failed] };
    });
    await ended(await start('reported', { retries: 1 }));
    // The second call is the last attempt of a call without steps, and the first one of the step.
    expect(attempts).to.deep.equal([0, 1, 1, 0]);
  });

  it('end with a response without operations if the app wants to be called again', async () => {
    host.on('again', async (call) => {
      if (call.number > 0) return done;
      await store(call, [step('a')]);
      return { status: 206, body: [op('DiscoveryRequest', 'again')] };
    });
    await ended(await start('again'));
    expect(host.calls('again')).to.have.length(2);
  });
});

describe('Checkpoints that come together', () => {
  let own: OwnStore;
  before(async () => {
    own = await openStore();
  });
  after(() => own.close());

  it('are stored, or refused, each as if it came alone', async () => {
    const env = 'production';
    const queuedAt = Date.now();
    const runs = Array.from({ length: 120 }, (_, n) => ({ id: newId(), functionId: `shop-${n % 7}` }));
    const created = { env, eventId: newId(), requestId: newId(), queuedAt, reconcileAt: queuedAt };
    await own.runs.create(runs.map((run) => ({ ...created, ...run })));
    const ownerOf = (n: number) => ({ name: n % 3 === 0 ? 'another' : '0', reconcileAt: queuedAt });
    const stepsOf = (n: number) => Array.from({ length: n % 4 }, (_, i) => ({ id: `${i}`, memo: `{"data":${n}}` }));
    const outcomes = await Promise.all(
      runs.map(({ id }, n) => own.checkpoints.store(env, n % 5 === 0 ? newId() : id, stepsOf(n), ownerOf(n))),
    );
    for (const [n, { id, functionId }] of runs.entries()) {
      const { outcome, ...stored } = outcomes[n] as Loose;
      expect(outcome).to.equal(n % 5 === 0 ? 'gone' : n % 3 === 0 ? 'stale' : 'stored');
      if (outcome === 'stored') {
        const run = { env, id, functionId, eventId: created.eventId, queuedAt };
        expect(stored).to.deep.equal({ stackLength: n % 4, run });
      }
      const memos = stepsOf(n).map((_, i) => own.steps.memo(env, id, `${i}`));
      const isKept = outcome === 'stored';
      expect(await Promise.all(memos)).to.deep.equal(stepsOf(n).map(({ memo }) => (isKept ? memo : undefined)));
    }
  });
});
