import { expect } from 'chai';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { cli } from '../support/cli.ts';
import { type Service, startService } from '../support/service.ts';

const EVENTS = 40;
const triggers = [{ event: 'order/paid' }];
const PRESENT = [
  { id: 'same', triggers, concurrency: 1 },
  { id: 'limited', triggers, rateLimit: { limit: 30, period: '1h' } },
  { id: 'queued', triggers, throttle: { limit: 100, period: '1s' } },
  { id: 'merged', triggers },
  { id: 'free', triggers },
];
const CANDIDATE = [
  { id: 'same', triggers, concurrency: 1 },
  { id: 'limited', triggers, rateLimit: { limit: 3, period: '1h', key: 'event.data.customer' } },
  { id: 'queued', triggers, throttle: { limit: 1, period: '1m' } },
  { id: 'merged', triggers, batchEvents: { maxSize: 10, timeout: '10s' } },
  { id: 'free', triggers },
  { id: 'fresh', triggers, singleton: { mode: 'skip' } },
];

describe('Flow control in a what-if', () => {
  let service: Service;
  let present: AppHost;
  let candidate: AppHost;

  before(async () => {
    service = await startService();
    [present, candidate] = await Promise.all([startAppHost(), startAppHost()]);
    await present.register(service, PRESENT, { appName: 'shop' });
    const events = Array.from({ length: EVENTS }, (_, i) => ({ name: 'order/paid', data: { customer: i % 5 } }));
    await service.post(service.eventPath, events);
    const path = '/v1/runs?function_id=shop-queued&status=Completed&limit=100';
    await service.waitFor(path, ({ body }) => body.data?.length === EVENTS);
  });
  after(async () => {
    await Promise.all([present.close(), candidate.close()]);
    await service.stop();
  });

  it('is simulated for functions whose limits differ, with the events that were received', async () => {
    candidate.offer(service, CANDIDATE, { appName: 'shop' });
    const { status, body } = await service.post('/v1/what-ifs', { url: candidate.url });
    expect(status, JSON.stringify(body)).to.equal(201);
    const { functions, flow_complete: isComplete } = body.data.triggers;
    expect(isComplete).to.equal(true);
    const flows = new Map(functions.map(({ id, flow }: { id: string; flow: unknown }) => [id, flow]));
    expect([flows.get('shop-same'), flows.get('shop-free')]).to.deep.equal([null, null]);
    const [limited, queued, merged, fresh] = ['limited', 'queued', 'merged', 'fresh'].map(
      // biome-ignore lint/suspicious/noExplicitAny: the response's shape is that of the API
      (id) => flows.get(`shop-${id}`) as any,
    );
    expect(limited.present).to.deep.include({ events: EVENTS, runs: 30, complete: true });
    expect(limited.present.skipped).to.deep.equal({ rate_limited: 10, idempotent: 0, singleton: 0 });
    expect(limited.candidate.runs).to.equal(15);
    expect(queued.measured_runs).to.be.above(0);
    expect(queued.present.waiting_max).to.equal(0);
    expect(queued.candidate.waiting_max).to.equal(EVENTS - 1);
    expect(queued.candidate.wait_max_ms).to.be.closeTo((EVENTS - 1) * 60_000, 60_000);
    expect(merged.candidate).to.deep.include({ runs: EVENTS / 10, merged: EVENTS - EVENTS / 10 });
    expect([fresh.present, fresh.measured_runs]).to.deep.equal([null, 0]);
  });

  it('is in the report of tidegate what-if', async () => {
    candidate.offer(service, CANDIDATE, { appName: 'shop' });
    const { stdout, stderr } = await cli(['what-if', '--app', candidate.url], { service });
    expect(stdout, stderr).to.include('"shop-limited": a simulation of flow control from ');
    expect(stdout).to.include(
      ': would have 40 events, 15 runs, 25 skipped, none waiting; now 40 events, 30 runs, 10 skipped',
    );
    expect(stdout).to.include('would have 40 events, 40 runs, at most 39 waiting, for ');
  });
});
