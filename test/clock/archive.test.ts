/** The clock of dev mode, with runs that are in Postgres while they sleep. */
import { expect } from 'chai';
import { advanceClock } from 'tidegate/test';
import { type App, type Loose, SDK_ADAPTERS, startApp } from '../runs/steps/sdk-adapters.ts';
import { PostgresProxy } from '../support/postgres-proxy.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { sendTo, startUntil } from '../support/waiting-runs.ts';

const DAY_MS = 86_400_000;

describe('The clock of dev mode, with an archive', () => {
  let service: Service;
  let app: App | undefined;
  let proxy: PostgresProxy;
  const notes: string[] = [];
  before(async () => {
    proxy = await PostgresProxy.start();
    // Runs that ended early are read at the end.
    const retention = { RETENTION_DAYS: '60' };
    const env = { ...retention, HOT_HOURS: '0.001', STALLED_AFTER_SECONDS: '1', DATABASE_URL: proxy.url };
    service = await startService({ processes: true, archive: true, env });
    const [sdk] = SDK_ADAPTERS as [(typeof SDK_ADAPTERS)[number]];
    const client = sdk.client(service, 'long');
    const sleeper = client.createFunction(
      { id: 'sleeper', triggers: [{ event: 'long/sleep' }] },
      async ({ event, step }: Loose) => {
        await step.sleep('a while', event.data.for);
        await step.run('after', () => void notes.push(`slept ${event.data.for}`));
      },
    );
    const waiter = client.createFunction(
      { id: 'waiter', triggers: [{ event: 'long/wait' }] },
      async ({ event, step }: Loose) => {
        const paid = await step.waitForEvent('paid', { event: 'long/paid', timeout: event.data.for });
        await step.run('after', () => void notes.push(`${paid ? 'paid' : 'waited'} ${event.data.for}`));
      },
    );
    app = await startApp(sdk.serve(client, [sleeper, waiter]));
  });
  after(async () => {
    await app?.close();
    await service?.stop();
    await proxy?.stop();
  });

  const areOffloaded = async (runs: readonly { run_id: string }[]) => {
    const alarms = runs.map(({ run_id: id }) =>
      service.redis.hexists(service.keys.of(id).offloadedRuns('production'), id),
    );
    return (await Promise.all(alarms)).every((found) => found === 1);
  };

  it('ends the sleeps and waits of runs in Postgres in the order of their ends, at their times', async function () {
    this.timeout(180_000);
    const runs = [
      await startUntil(service, 'sleeping', 'long/sleep', { for: '30d' }),
      await startUntil(service, 'sleeping', 'long/sleep', { for: '2d' }),
      await startUntil(service, 'waiting_for_event', 'long/wait', { for: '5d' }),
      await startUntil(service, 'waiting_for_event', 'long/wait', { for: '20d' }),
      await startUntil(service, 'sleeping', 'long/sleep', { for: '10d' }),
    ];
    await until(() => areOffloaded(runs), { describe: 'all runs are in Postgres', timeoutMs: 60_000 });
    const { runsStarted, runsEnded, waiting, ...rest } = await advanceClock(service.url, '11d');
    expect({ runsStarted, runsEnded, waiting }, JSON.stringify([rest, notes])).to.deep.equal({
      runsStarted: 0,
      runsEnded: 3,
      waiting: 2,
    });
    expect(notes).to.deep.equal(['slept 2d', 'waited 5d', 'slept 10d']);
    await sendTo(service, 'long/paid');
    expect(await advanceClock(service.url, '20d')).to.include({ runsEnded: 2, waiting: 0 });
    expect(notes.slice(3)).to.deep.equal(['paid 20d', 'slept 30d']);
    const spans = await Promise.all(
      runs.map(async ({ run_id }) => {
        const { run_started_at, ended_at } = (await service.get(`/v1/runs/${run_id}`)).body.data;
        return Date.parse(ended_at) - Date.parse(run_started_at);
      }),
    );
    for (const [i, days] of [30, 2, 5, 11, 10].entries()) {
      expect(spans[i]).to.be.within(days * DAY_MS, days * DAY_MS + 120_000);
    }
  });

  it('does not pass a run that is due and waits in Postgres while that is away', async function () {
    this.timeout(180_000);
    const run = await startUntil(service, 'sleeping', 'long/sleep', { for: '2d' });
    await until(() => areOffloaded([run]), { describe: 'the run is in Postgres', timeoutMs: 60_000 });
    const before = notes.length;
    proxy.leave();
    const { body } = await service.post('/v1/dev/clock', { advance: '3d' });
    expect(body.data, JSON.stringify(body)).to.include({ reached: 'busy', runs_ended: 0 });
    expect(Date.parse(body.data.target) - Date.parse(body.data.now)).to.be.above(DAY_MS);
    proxy.comeBack();
    await until(async () => (await advanceClock(service.url, '3d').catch(() => undefined))?.runsEnded === 1, {
      describe: 'the clock goes on once Postgres is back',
      timeoutMs: 60_000,
    });
    expect(notes.slice(before)).to.deep.equal(['slept 2d']);
  });
});
