import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { step } from '../runs/responses/cases/entry.ts';
import { type AppHost, type Call, startAppHost } from '../support/app-host.ts';
import { type OwnRedis, startOwnRedis } from '../support/own-redis.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const RUNS = 60;
const CONCURRENCY = 10;
const RECOVERY_MS = 60_000;

interface Refusal {
  name: string;
  begin: (admin: Redis) => Promise<unknown>;
  end: (admin: Redis) => Promise<unknown>;
  /** What the worker logs of it. */
  says: RegExp;
}

async function saveFails(admin: Redis, fails: boolean): Promise<void> {
  const [, dir] = (await admin.config('GET', 'dir')) as [string, string];
  const inTheWay = join(dir, 'dump.rdb');
  rmSync(inTheWay, { recursive: true, force: true });
  if (fails) {
    mkdirSync(inTheWay);
    writeFileSync(join(inTheWay, 'x'), '');
  }
  await admin.config('SET', 'save', '3600 1');
  await admin.bgsave();
  const status = `rdb_last_bgsave_status:${fails ? 'err' : 'ok'}`;
  await until(async () => (await admin.info('persistence')).includes(status), { describe: status });
}

const REFUSALS: Refusal[] = [
  {
    name: 'is full',
    begin: (admin) => admin.config('SET', 'maxmemory', '1', 'maxmemory-policy', 'noeviction'),
    end: (admin) => admin.config('SET', 'maxmemory', '0'),
    says: /OOM command not allowed/,
  },
  {
    name: 'is a replica for a while',
    begin: (admin) => admin.replicaof('127.0.0.1', 1),
    end: (admin) => admin.replicaof('NO', 'ONE'),
    says: /READONLY/,
  },
  {
    name: 'cannot save',
    begin: (admin) => saveFails(admin, true),
    end: (admin) => saveFails(admin, false),
    says: /MISCONF/,
  },
  {
    name: 'misses its replicas',
    begin: (admin) => admin.config('SET', 'min-replicas-to-write', '1'),
    end: (admin) => admin.config('SET', 'min-replicas-to-write', '0'),
    says: /NOREPLICAS/,
  },
];

describe('While Redis rejects writes', function () {
  this.timeout(3 * RECOVERY_MS);
  let own: OwnRedis;
  let admin: Redis;
  let host: AppHost;
  let service: Service;
  beforeEach(async () => {
    own = await startOwnRedis();
    admin = new Redis(own.url);
    host = await startAppHost();
    service = await startService({
      env: {
        REDIS_URL: own.url,
        REDIS_MEMORY_LIMIT_PERCENT: '0',
        RUN_CONCURRENCY: String(CONCURRENCY),
        APP_CONCURRENCY_PERCENT: '100',
        STALLED_AFTER_SECONDS: '2',
      },
    });
  });
  afterEach(async () => {
    // Ends the calls that a failed test has left open.
    await host.close();
    await service.stop();
    admin.disconnect();
    await own.remove();
  });

  for (const { name, begin, end, says } of REFUSALS) {
    it(`because it ${name}, functions lose no attempt, and afterwards every run ends and every step ran once`, async () => {
      const barrier = Promise.withResolvers<void>();
      let waiting = 0;
      host.on('f', async ({ body }: Call) => {
        const { current } = body.ctx.stack;
        // Redis refuses while some begin, some go on, and some are about to end.
        if (current === body.event.data.n % 3) {
          waiting++;
          await barrier.promise;
        }
        if (current === 0) return { status: 206, body: [{ id: step('a'), op: 'StepRun', name: 'a', data: 1 }] };
        if (current === 1) return { status: 206, body: [{ id: step('b'), op: 'Sleep', name: '100ms' }] };
        return { body: 'done' };
      });
      // A single attempt that is counted would fail the run.
      await host.register(service, [{ id: 'f', triggers: [{ event: 'refused/x' }], retries: 0 }]);
      const events = Array.from({ length: RUNS }, (_, n) => ({ name: 'refused/x', data: { n } }));
      const { ids } = (await service.post('/e/key', events)).body;
      await until(() => waiting === CONCURRENCY, {
        describe: 'as many calls as may be are in flight',
        timeoutMs: RECOVERY_MS,
      });
      const active = `${service.prefix}:active-runs`;
      expect(await admin.zcard(active)).to.equal(RUNS);
      await begin(admin);
      barrier.resolve();
      await until(() => says.test(service.workers[0]?.output() ?? ''), {
        describe: 'the worker has been refused',
        timeoutMs: RECOVERY_MS,
      });
      await end(admin);

      await until(async () => (await admin.zcard(active)) === 0, {
        describe: () => 'every run has ended',
        timeoutMs: RECOVERY_MS,
      });
      for (const id of ids) {
        const { body } = await service.get(`/v1/events/${id}/runs`);
        expect(body.data.map((run: { status: string; output: unknown }) => [run.status, run.output])).to.deep.equal([
          ['Completed', 'done'],
        ]);
      }
      const calls = host.calls('f').map(({ body }) => `${body.ctx.run_id} ${body.ctx.stack.current}`);
      expect(new Set(calls).size).to.equal(3 * RUNS);
      expect(calls.length - 3 * RUNS, 'calls that were made twice').to.be.at.most(CONCURRENCY);
      expect(await admin.zcard(`${service.prefix}:queue:runs:failed`)).to.equal(0);
    });
  }
});
