import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { Inngest } from 'inngest';
import { createDefer } from 'inngest/experimental';
import { serve } from 'inngest/node';
import { runIdOf } from '../../src/model/runs/run.ts';
import { type AppHost, type Call, startAppHost } from '../support/app-host.ts';
import { envelope, openStore } from '../support/own-store.ts';
import { keysOf } from '../support/redis.ts';
import { type Service, startService } from '../support/service.ts';
import { startApp } from './steps/sdk-adapters.ts';

const DEFERRED = 'inngest/deferred.schedule';
const hash = (id: string) => createHash('sha1').update(id).digest('hex');
const silent = { info() {}, warn() {}, error() {}, debug() {} };

// biome-ignore lint/suspicious/noExplicitAny: tests say what they expect of it
type Loose = any;

describe('Deferred functions', () => {
  let service: Service;
  before(async () => {
    service = await startService({ env: { RETRY_SCALE: '0.001' } });
  });
  after(() => service?.stop());

  const runOf = async (eventId: string) => {
    const { body } = await service.waitFor(`/v1/events/${eventId}/runs`, ({ body }) => body.data?.[0]?.ended_at);
    return body.data[0] as Loose;
  };
  /** Waits for so many events of the run. */
  const deferredBy = async (runId: string, count: number) => {
    const of = ({ data }: Loose) => data._inngest.parent_run_id === runId;
    const path = `/v1/events?name=${encodeURIComponent(DEFERRED)}&limit=100`;
    const { body } = await service.waitFor(path, ({ body }) => (body.data ?? []).filter(of).length >= count);
    return body.data.filter(of) as Loose[];
  };

  describe('of an app', () => {
    let host: AppHost;
    beforeEach(async () => {
      host = await startAppHost();
    });
    afterEach(() => host.close());

    const add = (id: string, opts: object = { fn_slug: 'app-later', input: { id } }) => ({
      op: 'DeferAdd',
      id: hash(id),
      name: id,
      opts,
    });
    const abort = (id: string) => ({
      op: 'DeferAbort',
      id: hash(`${hash(id)}:abort`),
      opts: { target_hashed_id: hash(id), fn_slug: 'app-later', id },
    });
    const complete = { op: 'RunComplete', id: hash('complete'), data: 'done' };
    const failed = (op: string) => ({ op, id: hash('complete'), error: { name: 'Error', message: 'oh no' } });
    const start = async (handler: (call: Call) => Loose, retries = 0) => {
      host.on('parent', handler);
      const functions = [{ id: 'parent', triggers: [{ event: 'defers/x' }], retries }];
      await host.register(service, functions, { appName: 'app', dialect: 'inngest' });
      return (await service.post('/e/key', { name: 'defers/x', data: {} })).body.ids[0] as string;
    };
    const ended = async (handler: (call: Call) => Loose, retries = 0) => runOf(await start(handler, retries));

    it('run once after the end of the run, each on an event with its input and its parent', async () => {
      const run = await ended(() => ({ status: 206, body: [add('a'), add('b'), add('a'), complete] }));
      expect([run.status, run.output]).to.deep.equal(['Completed', 'done']);
      const events = await deferredBy(run.run_id, 2);
      expect(events.map(({ data }) => data.id).sort()).to.deep.equal(['a', 'b']);
      expect(events[0].data._inngest).to.deep.equal({
        fn_slug: 'app-later',
        parent_fn_slug: 'app-parent',
        parent_run_id: run.run_id,
      });
      const { body } = await service.get(`/v1/runs/${run.run_id}`);
      expect(body.data.history.filter(({ op }: Loose) => op === 'DeferAdd').map(({ name }: Loose) => name)).to.include(
        'a',
      );
      expect((await keysOf(service.redis, service.prefix)).filter((key) => key.endsWith(':defers'))).to.deep.equal([]);
    });

    it('wait for the end of the run, and are named in its later calls', async () => {
      const run = await ended(({ number, body }) => {
        if (number === 0) {
          expect(body).not.to.have.property('defers');
          return { status: 206, body: [{ op: 'Sleep', id: hash('nap'), name: '100ms' }, add('a')] };
        }
        return { body: body.defers };
      });
      expect(run.output).to.deep.equal({ [hash('a')]: { abortable: true } });
      expect(await deferredBy(run.run_id, 1)).to.have.length(1);
    });

    it('do not run when they are aborted, before or after they are added', async () => {
      const run = await ended(({ number }) => {
        if (number > 0) return { status: 206, body: [abort('b'), add('a'), add('c'), complete] };
        return { status: 206, body: [add('b'), abort('a'), { op: 'Sleep', id: hash('nap'), name: '50ms' }] };
      });
      expect((await deferredBy(run.run_id, 1)).map(({ data }) => data.id)).to.deep.equal(['c']);
    });

    for (const [op, noRetry] of [['StepError'], ['StepFailed'], ['RunError'], ['RunError', true]] as const) {
      const told = noRetry ? `${op} with noRetry` : op;
      it(`also run once when the run fails (${told} of the function beside them), however often it is retried`, async () => {
        const { error, ...sent } = failed(op);
        const body = [add('a'), { ...sent, error: { ...error, noRetry } }];
        const run = await ended(() => ({ status: 206, body }), 2);
        expect([run.status, run.error.message]).to.deep.equal(['Failed', 'oh no']);
        expect(host.calls('parent')).to.have.length(op === 'StepFailed' || noRetry ? 1 : 3);
        expect(await deferredBy(run.run_id, 1)).to.have.length(1);
      });
    }

    it('also run when the run is cancelled', async () => {
      const eventId = await start(() => ({
        status: 206,
        body: [add('a'), { op: 'Sleep', id: hash('nap'), name: '1h' }],
      }));
      const { body } = await service.waitFor(
        `/v1/events/${eventId}/runs`,
        ({ body }) => body.data?.[0]?.status === 'Running',
      );
      await service.waitFor(`/v1/runs/${body.data[0].run_id}`, ({ body }) =>
        body.data?.history.some(({ status }: Loose) => status === 'Waiting'),
      );
      await service.request('DELETE', `/v1/runs/${body.data[0].run_id}`);
      const run = await runOf(eventId);
      expect(run.status).to.equal('Cancelled');
      expect(await deferredBy(run.run_id, 1)).to.have.length(1);
    });

    it('do not count as progress: a response with nothing else fails the attempt', async () => {
      const run = await ended(() => ({ status: 206, body: [add('a')] }));
      expect([run.status, run.error.name]).to.deep.equal(['Failed', 'AppError']);
    });

    it('fail the run if they have no function, or data that is not an object', async () => {
      for (const opts of [{}, { fn_slug: 'app-later', input: 'text' }]) {
        const run = await ended(() => ({ status: 206, body: [add('a', opts), complete] }));
        expect([run.status, run.error.name]).to.deep.equal(['Failed', 'InvalidDefer']);
      }
    });
  });

  it('are started before the end of their run, which waits for them all', async () => {
    const store = await openStore();
    try {
      const event = envelope();
      const run = { env: 'production', id: runIdOf(store.ids, event.internalId, 'f'), functionId: 'f' };
      const queuedAt = Date.now();
      const { internalId: eventId, requestId } = event;
      await store.runs.create([{ ...run, eventId, requestId, queuedAt, reconcileAt: queuedAt }]);
      const deferred = { functionId: 'g', input: {} };
      const end = (startedDefers = 0) =>
        store.runs.end(run, { status: 'Completed', output: '1' }, Date.now(), { startedDefers });
      expect(await store.defers.add(run.env, run.id, 'a', deferred)).to.equal('stored');
      expect(await end()).to.equal('defers');
      expect(await store.defers.add(run.env, run.id, 'b', deferred)).to.equal('stored');
      expect(await end(1)).to.equal('defers');
      expect((await store.runs.read(run.env, run.id))?.status).to.equal('Queued');
      expect(await end(2)).to.deep.include({ done: 0 });
      expect(await end(2)).to.equal(undefined);
      expect(await store.defers.add(run.env, run.id, 'c', deferred)).to.equal('ended');
      expect(await store.defers.ids(run.env, run.id)).to.deep.equal([]);
    } finally {
      await store.close();
    }
  });

  it('of the official SDK run with the data of their parent, and know their parent', async () => {
    const client = new Inngest({
      id: 'npm-defers',
      baseUrl: service.url,
      isDev: true,
      logger: silent,
      checkpointing: false,
    });
    const seen: Loose[] = [];
    const later = createDefer(client, { id: 'later' }, async ({ event, parents, step }: Loose) => {
      await step.run('note', () => void seen.push({ data: event.data, parents }));
    });
    const parent = client.createFunction(
      { id: 'parent', retries: 0, triggers: [{ event: 'npm-defers/go' }] },
      async ({ defer, step, event }: Loose) => {
        defer('kept', { function: later, data: { n: 1 } });
        const aborted = defer('aborted', { function: later, data: { n: 2 } });
        await step.sleep('nap', '50ms');
        await step.run('abort', () => aborted.abort());
        if (event.data.fails) throw new Error('oh no');
        return 'done';
      },
    );
    const { url, close } = await startApp(serve({ client, functions: [parent, later] }));
    try {
      await service.post('/v1/apps', { url });
      for (const [fails, status] of [
        [false, 'Completed'],
        [true, 'Failed'],
      ]) {
        const { body } = await service.post('/e/key', { name: 'npm-defers/go', data: { fails } });
        const run = await runOf(body.ids[0]);
        expect([run.status, run.error?.message]).to.deep.equal([status, fails ? 'oh no' : undefined]);
        const [event, ...others] = await deferredBy(run.run_id, 1);
        expect(others).to.deep.equal([]);
        expect((await runOf(event.internal_id)).status).to.equal('Completed');
        expect(seen.pop()).to.deep.equal({
          data: { n: 1 },
          parents: [{ fnSlug: 'npm-defers-parent', runId: run.run_id, experiment: undefined }],
        });
      }
      expect(seen).to.deep.equal([]);
    } finally {
      await close();
    }
  });
});
