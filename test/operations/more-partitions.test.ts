import { createHash } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { type AppHost, type Call, startAppHost } from '../support/app-host.ts';
import { request } from '../support/http.ts';
import { keysOf } from '../support/redis.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const step = (id: string) => createHash('sha1').update(id).digest('hex');
/** Longer than processes take to read the layout again. */
const ANNOUNCED_MS = 7_000;

// biome-ignore lint/suspicious/noExplicitAny: tests say what they expect of it
type Loose = any;

const unless =
  (id: string, op: object) =>
  ({ body }: Call) =>
    body.steps[step(id)] === undefined ? { status: 206, body: [{ ...op, id: step(id) }] } : { body: 'went on' };

describe('More partitions while the service runs', () => {
  let service: Service;
  let host: AppHost;
  before(async () => {
    [service, host] = await Promise.all([startService({ processes: true, webs: 2, workers: 2 }), startAppHost()]);
  });
  after(async () => {
    await host?.close();
    await service?.stop();
  });

  it('loses nothing, runs nothing twice, and finds everything, before, during and after', async () => {
    host.on('ends', ({ body }) => ({ body: body.event.data.n }));
    host.on('sleeps', unless('nap', { op: 'Sleep', name: `${ANNOUNCED_MS + 1_000}ms` }));
    const opts = { if: 'async.data.n == event.data.n', timeout: '1h' };
    host.on('waits', unless('wait', { op: 'WaitForEvent', opts: { event: 'grow/go', ...opts } }));
    host.on('any', unless('wait', { op: 'WaitForEvent', opts: { event: 'grow/any-go', timeout: '1h' } }));
    host.on('signaled', unless('signal', { op: 'WaitForSignal', opts: { signal: 'grow/signal', timeout: '1h' } }));
    host.on('steps', ({ body }) => {
      const done = Object.keys(body.steps).length;
      return done < 40 ? { status: 206, body: [{ op: 'StepRun', id: step(`s${done}`), data: done }] } : { body: done };
    });
    const ids = ['ends', 'sleeps', 'waits', 'any', 'signaled', 'steps'];
    await host.register(
      service,
      ids.map((id) => ({ id, triggers: [{ event: `grow/${id}` }] })),
    );
    let turn = 0;
    const send = async (events: object | object[], headers: Record<string, string> = {}) => {
      const url = service.urls[turn++ % service.urls.length];
      const { status, body } = await request('POST', `${url}/e/key`, { body: events, headers });
      expect(status, JSON.stringify(body)).to.equal(200);
      return body.ids as string[];
    };
    const sent: Record<string, string> = {};
    for (const id of ids.slice(1, 5)) {
      [sent[id]] = (await send({ name: `grow/${id}`, data: { n: 3 } })) as [string];
      await until(() => host.calls(id).length > 0, { describe: `${id} is called` });
    }
    const seed = `${Date.now()},${Buffer.from('0123456789').toString('base64')}`;
    const seeded = [
      { name: 'grow/ends', data: { n: -1 } },
      { name: 'grow/ends', id: 'seeded', data: { n: -2 } },
    ];
    const headers = { 'x-service-event-id-seed': seed };
    const seededIds = await send(seeded, headers);

    const received = new Map<number, string>();
    const named = (n: number) => ({ name: 'grow/ends', id: `n-${n}`, data: { n } });
    const sendMany = async (untilMs: number) => {
      while (Date.now() < untilMs) {
        const n = received.size;
        const events = [named(n), { name: 'grow/ends', data: { n: n + 1 } }];
        for (const [i, id] of (await send(events)).entries()) received.set(n + i, id);
        await setTimeout(20);
      }
    };
    await sendMany(Date.now() + 300);
    const since = Date.now() + ANNOUNCED_MS;
    const versions = [
      { count: 1, since: 0 },
      { count: 4, since },
    ];
    await service.redis.hset(`${service.prefix}:partition-layout`, 'versions', JSON.stringify(versions));
    await sendMany(since - 1_000);
    [sent.steps] = (await send({ name: 'grow/steps', data: {} })) as [string];
    // The same IDs in the same moment, while the change takes place, from two processes.
    const raced: string[][] = [];
    for (let n = 0; Date.now() < since + 200; n++) {
      const event = { name: 'grow/ends', id: `raced-${n}`, data: { n: `raced ${n}` } };
      const both = await Promise.all([send(event), send(event)]);
      raced.push(both.map(([id]) => id as string));
    }
    await sendMany(since + 1_500);
    for (const [one, other] of raced) expect(one).to.equal(other);

    // Again, each at the process that did not have it.
    turn++;
    for (let n = 0; n < received.size; n += 2) expect(await send(named(n))).to.deep.equal([received.get(n)]);
    expect(await send(seeded, headers)).to.deep.equal(seededIds);
    await send({ name: 'grow/go', data: { n: 3 } });
    await send({ name: 'grow/any-go', data: {} });
    expect((await service.post('/v1/signals', { signal: 'grow/signal' })).status).to.equal(200);

    const runsOf = async (id: string) => {
      const { body } = await service.waitFor(
        `/v1/events/${id}/runs`,
        ({ body }) => body.data?.length > 0 && body.data.every((run: Loose) => run.ended_at),
      );
      return body.data as Loose[];
    };
    for (const id of ids.slice(1)) {
      const runs = await runsOf(sent[id] as string);
      expect([id, ...runs.map(({ output }) => output)]).to.deep.equal([id, id === 'steps' ? 40 : 'went on']);
    }
    const all = new Set([...received.values(), ...seededIds, ...raced.map(([id]) => id as string)]);
    for (const id of all) expect(await runsOf(id)).to.have.length(1);
    expect(host.calls('ends')).to.have.length(all.size);
    expect(new Set(host.calls('ends').map(({ body }) => body.ctx.run_id)).size).to.equal(all.size);

    const listed: Loose[] = [];
    for (let cursor = ''; ; ) {
      const { body } = await service.get(`/v1/events?name=grow/ends&limit=100${cursor && `&cursor=${cursor}`}`);
      listed.push(...body.data);
      cursor = body.metadata.cursor ?? '';
      if (!cursor || body.data.length === 0) break;
    }
    expect(new Set(listed.map(({ internal_id, id }) => internal_id ?? id))).to.deep.equal(all);
    expect(listed).to.have.length(all.size);
    const times = listed.map(({ received_at }) => received_at as string);
    expect(times).to.deep.equal(times.toSorted().reverse());
    const used = (await keysOf(service.redis, `{${service.prefix}`)).map((key) => key.slice(0, key.indexOf('}')));
    expect(new Set(used).size).to.equal(3);
  });
});
