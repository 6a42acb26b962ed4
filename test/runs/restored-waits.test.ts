import { expect } from 'chai';
import { PartitionLayout } from '../../src/model/partitions/layout.ts';
import { keyspace } from '../../src/store/redis/keyspace/keyspace.ts';
import { type AppHost, type Call, startAppHost } from '../support/app-host.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const ENV = 'production';
const PARTITIONS = 4;
const STEP = 'a'.repeat(40);

/** A failover may lose a wait that is in another partition than its run: here its keys are deleted. Idle runs are reconciled about every 4 s. */
describe('A wait that a failover has lost in another partition than that of its run', () => {
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService({ env: { STALLED_AFTER_SECONDS: '1', PARTITIONS: String(PARTITIONS) } });
    host = await startAppHost();
  });
  after(async () => {
    await host?.close();
    await service?.stop();
  });

  const keys = () => {
    return keyspace({ prefix: service.prefix, layout: () => new PartitionLayout([{ count: PARTITIONS, since: 0 }]) });
  };
  const homeOf = (name: string) => keys().homesOf(ENV, name)[0].prefix;
  /** A name whose waits are in another partition than the run. */
  function nameApart(runId: string, kind: string): string {
    for (let n = 0; ; n++) if (homeOf(`${kind}/${n}`) !== keys().of(runId).prefix) return `${kind}/${n}`;
  }

  /** Registers a function that responds so to its calls, and starts a run of it. */
  async function start(id: string, respond: (call: Call) => object, options: object = {}): Promise<string> {
    host.on(id, (call) => respond(call));
    await host.register(service, [{ id, triggers: [{ event: `lost/${id}` }], ...options }], { appName: id });
    const { body } = await service.post('/e/key', { name: `lost/${id}`, data: { key: 'k' } });
    const path = `/v1/events/${body.ids[0]}/runs`;
    return (await service.waitFor(path, ({ body }) => body.data?.length === 1)).body.data[0].run_id;
  }

  const wait = (op: string, name: string, opts: object) => ({
    status: 206,
    body: [{ op, id: STEP, name, displayName: 'w', opts: { timeout: '1h', ...opts } }],
  });
  const waitingFor = (kind: string) => (runId: string) =>
    service.waitFor(`/v1/runs/${runId}`, ({ body }) => body.data.state.kind === kind);
  const ended = async (runId: string) =>
    (await service.waitFor(`/v1/runs/${runId}`, ({ body }) => body.data.ended_at)).body.data;

  /** Deletes what is stored about waits for the name. */
  async function lose(name: string): Promise<void> {
    const prefix = homeOf(name);
    const lost = await until(
      async () => {
        const keys = (await service.redis.keys(`${prefix}:*`)).filter((key) => key.endsWith(`:${name}`));
        return keys.length > 0 && keys;
      },
      { describe: `a wait for ${name} is stored` },
    );
    await service.redis.del(lost);
  }

  it('is restored, and matches an event that arrived in between', async () => {
    let name = '';
    const runId = await start('event', (call) => {
      name = nameApart(call.body.ctx.run_id, 'go');
      const opts = { event: name, if: 'event.data.key == async.data.key' };
      return call.body.steps[STEP] === undefined ? wait('WaitForEvent', name, opts) : { body: call.body.steps[STEP] };
    });
    await waitingFor('waiting_for_event')(runId);
    await lose(name);
    await service.post('/e/key', { name, data: { key: 'another' } });
    await service.post('/e/key', { name, data: { key: 'k' } });
    const { status, output } = await ended(runId);
    expect(status).to.equal('Completed');
    expect(JSON.stringify(output)).to.include('"key":"k"');
  });

  it('is restored if it is for a signal', async () => {
    let name = '';
    const runId = await start('signal', (call) => {
      name = nameApart(call.body.ctx.run_id, 'signal');
      return call.body.steps[STEP] === undefined
        ? wait('WaitForSignal', name, { signal: name })
        : { body: call.body.steps[STEP] };
    });
    await waitingFor('waiting_for_signal')(runId);
    await lose(name);
    await until(async () => (await service.post('/v1/signals', { signal: name, data: { n: 1 } })).status === 200, {
      describe: 'the signal finds its step',
    });
    expect((await ended(runId)).status).to.equal('Completed');
  });

  it('is restored if its event cancels the run, and looks back', async () => {
    // The partition of a run is that of its event, and that of an event with an ID follows from the ID.
    const cancelledBy = 'cancel/lost';
    let id = 0;
    while (homeOf(`c-${id}`) === homeOf(cancelledBy)) id++;
    host.on('cancelled', () => wait('Sleep', '1h', {}));
    await host.register(
      service,
      [
        {
          id: 'cancelled',
          triggers: [{ event: 'lost/cancelled' }],
          cancel: [{ event: cancelledBy, if: 'event.data.key == async.data.key' }],
        },
      ],
      { appName: 'cancelled' },
    );
    const { body } = await service.post('/e/key', { id: `c-${id}`, name: 'lost/cancelled', data: { key: 'k' } });
    const path = `/v1/events/${body.ids[0]}/runs`;
    const runId = (await service.waitFor(path, ({ body }) => body.data?.length === 1)).body.data[0].run_id;
    await waitingFor('sleeping')(runId);
    await lose(cancelledBy);
    await service.post('/e/key', { name: cancelledBy, data: { key: 'k' } });
    expect((await ended(runId)).status).to.equal('Cancelled');
  });
});
