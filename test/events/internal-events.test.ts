import { expect } from 'chai';
import { seededId } from '../../src/model/ids.ts';
import { PartitionedIds } from '../../src/model/partitions/partitioned-ids.ts';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { type Service, startService } from '../support/service.ts';

const FAILED = 'inngest/function.failed';
/** The first and the last ten bytes that spell SYSTEM, and those that follow. */
const [FIRST, LAST, NEXT] = ['cfb3a750000000000000', 'cfb3a753ffffffffffff', 'cfb3a754000000000000'].map((hex) =>
  Buffer.from(hex, 'hex'),
) as [Buffer, Buffer, Buffer];

describe('Internal events', () => {
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

  const seeded = (timeMs: number, entropy: Buffer, events: object) =>
    service.post('/e/key', events, { 'x-service-event-id-seed': `${timeMs},${entropy.toString('base64')}` });

  /** The seed by which the first event of a request gets that ID. */
  function seedOf(id: string) {
    const DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
    const number = [...id].reduce((sum, digit) => sum * 32n + BigInt(DIGITS.indexOf(digit)), 0n);
    const entropy = Buffer.from((number & (2n ** 80n - 1n)).toString(16).padStart(20, '0'), 'hex');
    entropy.writeUInt32BE((entropy.readUInt32BE(6) - 1) >>> 0, 6);
    return { timeMs: Number(number >> 80n), entropy };
  }

  it('cannot be forged: the failure of a run is announced regardless of events that clients sent', async () => {
    const call = Promise.withResolvers<string>();
    const mayRespond = Promise.withResolvers<void>();
    host.on('f', async ({ body }) => {
      call.resolve(body.ctx.run_id);
      await mayRespond.promise;
      return { status: 400, headers: { 'x-service-no-retry': 'true' }, body: { name: 'E', message: 'the reason' } };
    });
    await host.register(service, [
      { id: 'f', triggers: [{ event: 'claim/x' }] },
      { id: 'hears', triggers: [{ event: FAILED }] },
    ]);
    await service.post('/e/key', { name: 'claim/x', data: {} });
    const runId = await call.promise;
    // Where its failure was to be found, before such IDs had a location of their own; by seed, and as an ID of the sender's.
    const foreseen = new PartitionedIds().derived(runId, 'failed');
    const { timeMs, entropy } = seedOf(foreseen);
    const sent = await seeded(timeMs, entropy, { name: 'claim/y', data: {}, id: foreseen });
    expect(sent.body.ids).to.deep.equal([foreseen]);
    const own = `${foreseen.slice(0, 10)}SYSTEM${foreseen.slice(16)}`;
    const other = await seeded(seedOf(own).timeMs, seedOf(own).entropy, { name: 'claim/y', data: {} });
    expect(other.body.ids).to.deep.equal([own.replace('SYSTEM', 'SYSTEN')]);
    await service.post('/e/key', { name: 'claim/y', data: {}, id: own });
    mayRespond.resolve();
    const { event } = (await host.nextCall('hears')).body;
    expect([event.id, event.data.error.message]).to.deep.equal([own, 'the reason']);
  });

  it('have IDs that no seed produces; such a seed produces other IDs, the same each time', async () => {
    for (const entropy of [FIRST, LAST]) {
      const send = () => seeded(1_700_000_000_000, entropy, [{ name: 'claim/z', data: {} }]);
      const [first, again] = [await send(), await send()];
      expect(first.status).to.equal(200);
      expect(first.body.ids[0]).to.match(/^.{10}SYSTEN/);
      expect(again.body.ids).to.deep.equal(first.body.ids);
    }
    const { status, body } = await seeded(1_700_000_000_000, NEXT, [{ name: 'claim/z', data: {} }]);
    expect([status, body.ids]).to.deep.equal([200, [seededId({ timeMs: 1_700_000_000_000, entropy: NEXT }, 1)]]);
  });
});
