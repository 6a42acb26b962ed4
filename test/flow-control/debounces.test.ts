import { expect } from 'chai';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

interface SentEvent {
  data: Record<string, unknown>;
  ts?: number;
}

describe('debounce', () => {
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

  /** As an app of its own for each event. */
  const register = (debounce: Record<string, unknown> | undefined, event: string) =>
    host.register(service, [{ id: 'f', triggers: [{ event }], ...(debounce && { debounce }) }], {
      appName: appOf(event),
    });
  const appOf = (event: string) => event.slice(0, event.indexOf('/'));
  /** Waits until the events are ingested. */
  const send = async (name: string, ...events: SentEvent[]): Promise<string[]> => {
    const ids: string[] = (
      await service.post(
        '/e/key',
        events.map((event) => ({ name, ...event })),
      )
    ).body.ids;
    for (const id of ids) await service.stored(id);
    return ids;
  };
  const isIngested = (name: string, count: number) =>
    service.waitFor(`/v1/events?name=${name}`, ({ body }) => body.data.length === count);

  it('runs once, with the latest event, when no later one has come for the period', async () => {
    await register({ period: '1s' }, 'last/x');
    const sentAt = Date.now();
    await send('last/x', { data: { n: 1 } });
    const ids = await send('last/x', { data: { n: 2 } }, { data: { n: 3 } });
    const { body } = await host.nextCall('f');
    expect(body.event.data.n).to.equal(3);
    expect(Date.now() - sentAt).to.be.at.least(1_000);
    const runs = await service.waitFor(`/v1/events/${ids[1]}/runs`, (response) => response.body.data.length === 1);
    expect(runs.body.data[0].run_id).to.equal(body.ctx.run_id);
    expect((await service.get(`/v1/events/${ids[0]}/runs`)).body.data).to.deep.equal([]);
    expect(host.calls('f').length).to.equal(1);
  });

  it('ignores an event with an older `ts`, which does not extend it', async () => {
    await register({ period: '1s' }, 'older/x');
    const ts = Date.now() - 60_000;
    await send('older/x', { data: { n: 2 }, ts });
    let olders = 0;
    // If they extended it, it would not run before they end.
    await until(
      async () => {
        if (host.calls('f').length > 0) return true;
        await send('older/x', { data: { n: 1 }, ts: ts - 1_000 });
        olders++;
        return false;
      },
      { describe: 'it runs while older events come' },
    );
    expect(olders).to.be.above(1);
    expect((await host.nextCall('f')).body.event.data.n).to.equal(2);
  });

  it('is extended by each later event, up to the timeout after the first', async () => {
    await register({ period: '1s', timeout: '2s' }, 'extended/x');
    const sentAt = Date.now();
    let n = 0;
    await until(
      async () => {
        if (host.calls('f').length > 0) return true;
        await send('extended/x', { data: { n: n++ } });
        return false;
      },
      { describe: 'it runs while later events come' },
    );
    const { body } = await host.nextCall('f');
    expect(Date.now() - sentAt).to.be.at.least(2_000);
    expect(body.event.data.n).to.be.above(1);
  });

  it('is separate for each value of the key', async () => {
    await register({ period: '1s', key: 'event.data.user' }, 'keyed/x');
    await send('keyed/x', ...['a', 'b', 'a', 'b'].map((user, n) => ({ data: { n, user } })));
    const calls = [await host.nextCall('f'), await host.nextCall('f')];
    expect(calls.map(({ body }) => body.event.data.n).sort()).to.deep.equal([2, 3]);
  });

  it('does not delay an invocation', async () => {
    await register({ period: '60s' }, 'invoked/x');
    const { status } = await service.post('/v1/functions/invoked-f/invoke', { data: { n: 7 } });
    expect(status).to.be.below(300);
    expect((await host.nextCall('f')).body.event.data.n).to.equal(7);
  });

  it('applies a shorter period, or its removal, to waiting events', async () => {
    await register({ period: '60s' }, 'deploy/x');
    await send('deploy/x', { data: { n: 1 } });
    await isIngested('deploy/x', 1);
    await register({ period: '1s' }, 'deploy/x');
    expect((await host.nextCall('f')).body.event.data.n).to.equal(1);
    await register({ period: '60s' }, 'deploy/x');
    await send('deploy/x', { data: { n: 2 } });
    await isIngested('deploy/x', 2);
    await register(undefined, 'deploy/x');
    expect((await host.nextCall('f')).body.event.data.n).to.equal(2);
  });

  it('runs the latest event of each key, and no event twice, with two workers of which one is killed', async () => {
    const service = await startService({ processes: 'worker', workers: 2, env: { STALLED_AFTER_SECONDS: '1' } });
    try {
      const EVENTS = 2_000;
      const KEYS = 50;
      const debounce = { period: '3s', key: 'event.data.key' };
      await host.register(service, [{ id: 'f', triggers: [{ event: 'crash/x' }], debounce }]);
      const ts = Date.now() - 3_600_000;
      const latest = new Map<number, number>();
      for (let n = 0; n < EVENTS; n += 100) {
        const events = Array.from({ length: 100 }, (_, i) => {
          const key = (n + i) % KEYS;
          // Not in their order.
          const at = ts + (((n + i) * 7_919) % EVENTS);
          latest.set(key, Math.max(latest.get(key) ?? 0, at));
          return { name: 'crash/x', ts: at, data: { key } };
        });
        expect((await service.post('/e/key', events)).status).to.equal(200);
        if (n === 1_000) await service.killWorker(0);
      }
      // Events of the worker that was killed may come after the debounce of their key: then they have one of their own.
      const runs = () => new Map(host.calls('f').map(({ body }) => [body.ctx.run_id as string, body.event]));
      const newest = () => {
        const found = new Map<number, number>();
        for (const { data, ts: at } of runs().values()) found.set(data.key, Math.max(found.get(data.key) ?? 0, at));
        return [...found].sort(([a], [b]) => a - b);
      };
      const wanted = [...latest].sort(([a], [b]) => a - b);
      await until(() => JSON.stringify(newest()) === JSON.stringify(wanted), {
        describe: 'the latest event of each key runs',
      });
      const events = [...runs().values()].map(({ id }) => id);
      expect(new Set(events).size, 'no event has two runs').to.equal(events.length);
      expect(events.length).to.be.within(KEYS, 2 * KEYS);
    } finally {
      await service.stop();
    }
  });
});
