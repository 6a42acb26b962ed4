import { expect } from 'chai';
import { type AppHost, type FunctionSpec, startAppHost } from '../support/app-host.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

/** Another worker takes over a dead worker's jobs after this time. */
const SOON = { STALLED_AFTER_SECONDS: '1' };
const EVERY_SECOND = '* * * * * *';

const scheduled = (id: string, ...crons: string[]): FunctionSpec => ({ id, triggers: crons.map((cron) => ({ cron })) });

describe('Schedules', () => {
  let host: AppHost;
  beforeEach(async () => {
    host = await startAppHost();
  });
  afterEach(() => host.close());

  async function withService(options: Parameters<typeof startService>[0], work: (service: Service) => Promise<void>) {
    const service = await startService(options);
    try {
      await work(service);
    } finally {
      await service.stop();
    }
  }

  /** Seconds of the ticks whose runs called the function, in the order of the calls. */
  const calledTicks = (fnId: string) => host.calls(fnId).map(({ body }) => body.event.ts / 1_000);

  /** Waits for so many ticks more. */
  async function moreTicks(fnId: string, count: number) {
    const enough = host.calls(fnId).length + count;
    await until(() => host.calls(fnId).length >= enough, { describe: `${enough} ticks of ${fnId}` });
  }

  /** All of its runs, each with the second of its tick; the API's list, not the calls. */
  async function runTicks(service: Service, functionId: string): Promise<number[]> {
    const runs = (await service.get(`/v1/runs?function_id=${functionId}&limit=100`)).body.data;
    const events = await Promise.all(
      runs.map(async (run: { event_id: string }) => (await service.get(`/v1/events/${run.event_id}`)).body.data),
    );
    return events.map(({ ts }: { ts: number }) => ts / 1_000).sort((a, b) => a - b);
  }

  const from = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, i) => first + i);
  const schedulers = (service: Service) => service.redis.zcard(`${service.keys.partition(0).queues}:timers:repeat`);

  it('each tick starts one run, with an event of the service that the lists show', async () => {
    await withService({ workers: 2 }, async (service) => {
      await host.register(service, [
        scheduled('tick', EVERY_SECOND),
        { ...scheduled('both', '*/2 * * * * *', EVERY_SECOND), rateLimit: { limit: 1_000, period: '1h' } },
        { id: 'listener', triggers: [{ event: 'inngest/scheduled.timer' }] },
      ]);
      await moreTicks('tick', 3);
      const { body } = host.calls('tick')[0] as { body: { event: { name: string; data: object; ts: number } } };
      const at = new Date(body.event.ts).toISOString();
      const data = { cron: EVERY_SECOND, scheduledAt: at, fireAt: at };
      expect([body.event.name, body.event.data]).to.deep.equal(['inngest/scheduled.timer', data]);
      expect(body.event.ts % 1_000).to.equal(0);
      const ticks = calledTicks('tick');
      const last = ticks.at(-1) as number;
      const ran = (await runTicks(service, 'test-app-tick')).filter((tick) => tick <= last);
      expect(ran).to.deep.equal(from(ticks[0] as number, last));
      const listed = (await service.get('/v1/events?name=inngest/scheduled.timer')).body.data;
      expect(listed.length).to.be.at.least(ran.length);
      // Schedules of a function that tick at the same time make one run.
      await moreTicks('both', 3);
      const both = await runTicks(service, 'test-app-both');
      expect(both).to.deep.equal(from(both[0] as number, both.at(-1) as number));
      for (const { body } of host.calls('both')) {
        const isEven = (body.event.ts / 1_000) % 2 === 0;
        expect(body.event.data.cron).to.equal(isEven ? '*/2 * * * * *' : EVERY_SECOND);
      }
      // Only the function whose schedule it is.
      expect(host.calls('listener')).to.deep.equal([]);
    });
  });

  it('the death of one of two workers neither loses nor repeats a tick', async () => {
    await withService({ processes: 'worker', workers: 2, env: SOON }, async (service) => {
      const names = Array.from({ length: 20 }, (_, i) => `f${i}`);
      await host.register(
        service,
        names.map((name) => scheduled(name, EVERY_SECOND)),
      );
      await moreTicks('f0', 2);
      await service.killWorker();
      await moreTicks('f0', 4);
      const last = calledTicks('f0').at(-1) as number;
      for (const name of names) {
        // What the dead worker had begun with is taken over later.
        const ran = await until(
          async () => {
            const ticks = (await runTicks(service, `test-app-${name}`)).filter((tick) => tick <= last);
            return ticks.length > last - (ticks[0] as number) && ticks;
          },
          { describe: `every tick of ${name} has a run` },
        );
        expect(ran).to.deep.equal(from(ran[0] as number, last));
      }
    });
  });

  it('registrations in between neither lose, repeat nor shift a tick', async () => {
    await withService({ webs: 2, workers: 2 }, async (service) => {
      const functions = [scheduled('same', EVERY_SECOND), scheduled('interval', '@every 2s')];
      await host.register(service, functions);
      await moreTicks('same', 1);
      for (let i = 0; i < 30; i++) {
        const response = await host.register(service, [...functions, scheduled(`other${i}`, '0 0 1 1 *')]);
        expect(response.status).to.equal(200);
      }
      await moreTicks('same', 2);
      await moreTicks('interval', 1);
      const last = Math.min(calledTicks('same').at(-1) as number, calledTicks('interval').at(-1) as number);
      const same = (await runTicks(service, 'test-app-same')).filter((tick) => tick <= last);
      expect(same).to.deep.equal(from(same[0] as number, last));
      const interval = (await runTicks(service, 'test-app-interval')).filter((tick) => tick <= last);
      expect(interval).to.deep.equal(from(interval[0] as number, last).filter((second) => second % 2 === 0));
      expect(await schedulers(service)).to.equal(3);
    });
  });

  it('a schedule that is changed, removed or deleted with its app has no further ticks', async () => {
    await withService({}, async (service) => {
      await host.register(service, [scheduled('goes', EVERY_SECOND), scheduled('changes', EVERY_SECOND)]);
      await moreTicks('goes', 1);
      await host.register(service, [scheduled('changes', '*/2 * * * * *')]);
      expect(await schedulers(service)).to.equal(1);
      const before = host.calls('goes').length;
      await moreTicks('changes', 3);
      const since = host.calls('changes').slice(-2);
      expect(since.map(({ body }) => body.event.data.cron)).to.deep.equal(['*/2 * * * * *', '*/2 * * * * *']);
      // A call of a tick before the registration may have been on its way.
      expect(host.calls('goes').length).to.be.at.most(before + 1);
      await service.request('DELETE', '/v1/apps/test-app');
      expect(await schedulers(service)).to.equal(0);
    });
  });

  it('a paused function has no ticks, and later ones after it is resumed', async () => {
    await withService({}, async (service) => {
      await host.register(service, [scheduled('paused', EVERY_SECOND), scheduled('clock', EVERY_SECOND)]);
      await moreTicks('paused', 1);
      const path = '/v1/functions/test-app-paused';
      const next = async () => (await service.get(path)).body.data.triggers[0].next_run_at;
      const askedAt = Date.now();
      expect(Date.parse(await next())).to.be.within(askedAt - 100, Date.now() + 1_000);
      const [trigger] = (await service.get(path)).body.data.triggers;
      const apart = trigger.next_ticks.map((at: string) => Date.parse(at) - Date.parse(trigger.next_run_at));
      expect(apart).to.deep.equal([0, 1_000, 2_000, 3_000, 4_000]);
      const { body } = await service.waitFor(path, ({ body }) => body.data.triggers[0].last_tick.run !== null);
      const { run } = body.data.triggers[0].last_tick;
      expect((await service.get(`/v1/runs/${run.run_id}`)).body.data.function_id).to.equal('test-app-paused');
      await service.post(`${path}/pause`);
      expect((await service.get(path)).body.data.triggers[0]).to.deep.include({ next_ticks: [], time_zone: 'UTC' });
      const pausedAt = Date.now() / 1_000;
      expect([await next(), await schedulers(service)]).to.deep.equal([null, 1]);
      await moreTicks('clock', 3);
      const resumedAt = Date.now() / 1_000;
      await service.post(`${path}/resume`);
      const goesOnAt = Date.now() / 1_000;
      await moreTicks('paused', 2);
      const ticks = await runTicks(service, 'test-app-paused');
      expect(ticks.filter((tick) => tick > pausedAt && tick <= resumedAt)).to.deep.equal([]);
      const since = ticks.filter((tick) => tick > resumedAt);
      expect(since[0]).to.be.at.most(goesOnAt + 1.5);
      expect(since).to.deep.equal(from(since[0] as number, since.at(-1) as number));
    });
  });

  it('an archived environment has no ticks, and a deleted one leaves no schedule behind', async () => {
    await withService({}, async (service) => {
      const headers = { 'x-service-env': 'branch-1' };
      await host.register(service, [scheduled('branch', EVERY_SECOND)], { headers });
      await moreTicks('branch', 1);
      await service.post('/v1/environments/branch-1/archive');
      expect(await schedulers(service)).to.equal(0);
      await service.post('/v1/environments/branch-1/unarchive');
      await moreTicks('branch', 2);
      await service.request('DELETE', '/v1/environments/branch-1');
      expect(await schedulers(service)).to.equal(0);
      await service.waitFor('/v1/environments/branch-1', ({ status }) => status === 404);
      expect(await service.redis.keys(`${service.prefix}*repeat*`)).to.deep.equal([]);
    });
  });

  it('a restart of all workers loses no tick', async () => {
    await withService({ processes: 'worker', workers: 2, env: SOON }, async (service) => {
      await host.register(service, [scheduled('restarted', EVERY_SECOND)]);
      await moreTicks('restarted', 2);
      await Promise.all([service.killWorker(0), service.killWorker(1)]);
      await service.startWorker();
      await moreTicks('restarted', 4);
      const ticks = await runTicks(service, 'test-app-restarted');
      expect(ticks).to.deep.equal(from(ticks[0] as number, ticks.at(-1) as number));
    });
  });

  it('only the last of the ticks that were missed during an outage runs, or all if the trigger asks for it', async () => {
    await withService({ workers: 0 }, async (service) => {
      const functions = [
        scheduled('missed', EVERY_SECOND),
        { id: 'all', triggers: [{ cron: EVERY_SECOND, catchUp: 'all' }] },
      ];
      await host.register(service, functions);
      const key = `${service.keys.partition(0).queues}:timers`;
      // As if they were registered a minute ago, and nothing had run since.
      const before = Math.floor(Date.now() / 1_000) * 1_000 - 60_000;
      for (const job of await service.redis.zrange(`${key}:delayed`, '0', '-1')) {
        const [, id = ''] = job.split(':');
        const early = `repeat:${id}:${before}`;
        await service.redis.rename(`${key}:${job}`, `${key}:${early}`);
        const opts = JSON.parse((await service.redis.hget(`${key}:${early}`, 'opts')) as string);
        await service.redis.hset(`${key}:${early}`, {
          opts: JSON.stringify({ ...opts, prevMillis: before, jobId: early }),
          timestamp: before,
          delay: 0,
        });
        await service.redis.zadd(`${key}:repeat`, before, id);
        await service.redis.zrem(`${key}:delayed`, job);
        await service.redis.zadd(`${key}:delayed`, before * 0x1000, early);
      }
      const startedAt = Date.now() / 1_000;
      await service.startWorker();
      const readyAt = Date.now() / 1_000;
      await moreTicks('missed', 3);
      const ticks = await runTicks(service, 'test-app-missed');
      const [first = 0] = ticks;
      expect(first).to.be.within(startedAt - 1, readyAt + 3);
      expect(ticks).to.deep.equal(from(first, ticks.at(-1) as number));
      const missedTicks = async (id: string) =>
        (await service.get(`/v1/functions/test-app-${id}`)).body.data.triggers[0].missed_ticks;
      const iso = (seconds: number) => new Date(seconds * 1_000).toISOString();
      const skipped = { first: iso(before / 1_000), last: iso(first - 1), count: first - before / 1_000 };
      expect(await missedTicks('missed')).to.deep.equal([skipped]);
      const all = await runTicks(service, 'test-app-all');
      expect(all).to.deep.equal(from(before / 1_000, all.at(-1) as number));
      expect(await missedTicks('all')).to.deep.equal([]);
    });
  });

  it('a worker adds schedules that a process missed before it died, and those of earlier versions', async () => {
    await withService({ workers: 0 }, async (service) => {
      await host.register(service, [scheduled('left-out', EVERY_SECOND)]);
      const key = `${service.keys.partition(0).queues}:timers`;
      await service.redis.del(...(await service.redis.keys(`${key}:*`)));
      await service.startWorker();
      await moreTicks('left-out', 2);
    });
  });

  it('a schedule that has lost the job of its next tick gets another', async () => {
    await withService({ workers: 0 }, async (service) => {
      await host.register(service, [scheduled('broken', EVERY_SECOND)]);
      const key = `${service.keys.partition(0).queues}:timers`;
      const [id = ''] = await service.redis.zrange(`${key}:repeat`, '0', '0');
      const jobs = await service.redis.zrange(`${key}:delayed`, '0', '-1');
      await service.redis.del(`${key}:delayed`, ...jobs.map((job) => `${key}:${job}`));
      await service.redis.zadd(`${key}:repeat`, Date.now() - 90_000, id);
      await service.startWorker();
      await moreTicks('broken', 2);
    });
  });

  it('schedules tick in each of several partitions, in that of their function', async () => {
    await withService({ workers: 2, env: { PARTITIONS: '4' } }, async (service) => {
      const names = Array.from({ length: 12 }, (_, i) => `f${i}`);
      await host.register(
        service,
        names.map((name) => scheduled(name, EVERY_SECOND)),
      );
      await Promise.all(names.map((name) => moreTicks(name, 3)));
      for (const name of names) {
        const ticks = await runTicks(service, `test-app-${name}`);
        expect(ticks).to.deep.equal(from(ticks[0] as number, ticks.at(-1) as number));
      }
      expect((await service.redis.keys(`*${service.prefix}*timers:repeat`)).length).to.be.above(1);
    });
  });

  it('the next run of a schedule in a time zone follows the clocks of that zone', async () => {
    await withService({ workers: 0 }, async (service) => {
      const zones = { berlin: 'TZ=Europe/Berlin 0 9 * * 1', kolkata: 'CRON_TZ=Asia/Kolkata 30 9 * * 1' };
      await host.register(
        service,
        Object.entries(zones).map(([id, cron]) => scheduled(id, cron)),
      );
      for (const [id, timeZone] of [
        ['berlin', 'Europe/Berlin'],
        ['kolkata', 'Asia/Kolkata'],
      ]) {
        const [trigger] = (await service.get(`/v1/functions/test-app-${id}`)).body.data.triggers;
        const at = new Date(trigger.next_run_at);
        const shown = at.toLocaleString('en-GB', { timeZone, weekday: 'long', hour: '2-digit', minute: '2-digit' });
        expect(shown).to.match(id === 'berlin' ? /Monday.* 09:00/ : /Monday.* 09:30/);
      }
    });
  });

  it('a run starts up to the jitter later than its tick, and different functions at different times', async () => {
    await withService({}, async (service) => {
      const functions = Array.from({ length: 20 }, (_, i) => ({
        id: `f${i}`,
        triggers: [{ cron: EVERY_SECOND, jitter: '3s' }],
      }));
      const jitters: number[] = [];
      for (const { id } of functions) {
        host.on(id, ({ body }) => {
          jitters.push(Date.parse(body.event.data.fireAt) - Date.parse(body.event.data.scheduledAt));
          expect(Date.parse(body.event.data.fireAt)).to.be.at.most(Date.now());
          return {};
        });
      }
      await host.register(service, functions);
      await until(() => jitters.length >= 60, { describe: '60 runs' });
      expect(Math.min(...jitters)).to.be.within(0, 999);
      expect(Math.max(...jitters)).to.be.within(1_500, 2_999);
    });
  });

  it('an invalid jitter or schedule is rejected with its field', async () => {
    await withService({ workers: 0 }, async (service) => {
      const refused = async (trigger: object) =>
        (await host.register(service, [{ id: 'f', triggers: [trigger as { cron: string }] }])).body.error;
      expect(await refused({ cron: '0 0 31 2 *' }))
        .to.include('triggers')
        .and.include('never ticks');
      expect(await refused({ cron: '@daily', jitter: '2d' }))
        .to.include('jitter')
        .and.include('from 1s to 24h');
    });
  });
});
