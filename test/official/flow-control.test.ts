import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { cron, Inngest } from 'inngest';
import { serve } from 'inngest/node';
import { request } from '../support/http.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { type Loose, Outside } from './outside.ts';

const APP = 'official-flow';
const silent = { info() {}, warn() {}, error() {}, debug() {} };
const key = 'event.data.key';

/** Options of one function each, as the SDK's types take them. */
const OPTIONS = {
  'concurrency-number': { concurrency: 1 },
  'concurrency-limit': { concurrency: { limit: 1, key } },
  'concurrency-limits': { concurrency: [{ limit: 2 }, { limit: 1, key }] },
  'concurrency-env': { concurrency: { limit: 1, key: '"shared"', scope: 'env' } },
  'concurrency-account': { concurrency: { limit: 1, key: '"all"', scope: 'account' } },
  throttle: { throttle: { limit: 1, period: '1s', key } },
  'rate-limit': { rateLimit: { limit: 2, period: '1h', key } },
  debounce: { debounce: { period: '1s', timeout: '1m', key } },
  batch: { batchEvents: { maxSize: 3, timeout: '60s', key } },
  'singleton-skip': { singleton: { mode: 'skip', key } },
  'singleton-cancel': { singleton: { mode: 'cancel', key } },
  priority: { priority: { run: 'event.data.priority' }, concurrency: 1 },
  idempotency: { idempotency: key },
  'timeout-start': { timeouts: { start: '3s' }, concurrency: 1 },
  'timeout-finish': { timeouts: { finish: '1s' } },
} as const;
type Name = keyof typeof OPTIONS;

interface Seen {
  name: string;
  data: Loose;
  events: number;
  from: number;
  to: number;
}

describe('An app of the official SDK whose functions have every field of flow control', () => {
  let service: Service;
  let outside: Outside;
  let close: () => Promise<void>;
  let url = '';
  /** Executions of the functions' only steps. */
  const seen: Seen[] = [];
  const seenOf = (name: string) => seen.filter((span) => span.name === name);

  before(async () => {
    service = await startService({ workers: 2 });
    outside = new Outside(service, APP);
    ({ url, close } = await listen(APP, (client) => functionsOf(client, seen)));
  });
  after(async () => {
    await close?.();
    await service?.stop();
  });

  async function listen(id: string, functions: (client: Inngest) => Loose[]) {
    const client = new Inngest({ id, isDev: true, baseUrl: service.url, logger: silent });
    const server = createServer(serve({ client, functions: functions(client) }));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/inngest`,
      async close() {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      },
    };
  }
  const send = (name: Name, data: object) => outside.send(name, data);
  async function sendAll(name: Name, all: readonly object[]): Promise<string[]> {
    const events = all.map((data) => ({ name: `${APP}/${name}`, data }));
    return (await service.post(service.eventPath, events)).body.ids;
  }
  async function statusesOf(ids: readonly string[], expected: readonly string[]): Promise<void> {
    const statuses = async () => {
      const responses = await Promise.all(ids.map((id) => service.get(`/v1/events/${id}/runs`)));
      return responses.map(({ body }) => (body.data?.[0]?.status ?? 'none') as string);
    };
    let last: string[] = [];
    await until(
      async () => {
        last = await statuses();
        return JSON.stringify(last) === JSON.stringify(expected);
      },
      { describe: () => `the runs are ${expected}; they are ${last}` },
    );
  }
  /** The most executions at the same time. */
  const mostAtOnce = (executions: readonly Seen[]) =>
    Math.max(
      ...executions.map(
        ({ from }) => executions.filter((execution) => execution.from <= from && from < execution.to).length,
      ),
    );

  it('is registered without a problem', async () => {
    expect((await request('PUT', url)).status).to.equal(200);
    const { problems, functions, unsupported } = (await service.get(`/v1/apps/${APP}`)).body.data;
    expect(problems ?? []).to.deep.equal([]);
    expect(unsupported).to.deep.equal([]);
    expect(functions).to.have.length(Object.keys(OPTIONS).length + 2);
    for (const { id } of functions) {
      const { data } = (await service.get(`/v1/functions/${encodeURIComponent(id)}`)).body;
      expect(data.problems ?? [], id).to.deep.equal([]);
    }
  });

  it('gets errors from its SDK about wrong expressions', async () => {
    const app = await listen('official-wrong', (client) => [
      client.createFunction({ id: 'starts', triggers: { event: 'wrong/a', if: 'event.data.a ===' } }, () => {}),
      client.createFunction(
        { id: 'ends', triggers: { event: 'wrong/b' }, cancelOn: [{ event: 'wrong/c', if: 'async.data.a ===' }] },
        () => {},
      ),
    ]);
    const { status, body } = await request('PUT', app.url).finally(() => app.close());
    expect(status).to.equal(200);
    expect(body.message).to.match(/^Registered, but not everything works as configured\./);
    expect(body.message).to.match(
      /"official-wrong-starts": triggers\[0\] never fires: .*"official-wrong-ends": cancel\[0\]/,
    );
  });

  for (const [name, most] of [
    ['concurrency-number', 1],
    ['concurrency-limit', 2],
    ['concurrency-limits', 2],
    ['concurrency-env', 1],
    ['concurrency-account', 1],
  ] as const) {
    it(`has its ${name} respected: ${most} at the same time`, async () => {
      const data = Array.from({ length: 8 }, (_, i) => ({ key: `k${i % 2}`, ms: 100 }));
      await statusesOf(await sendAll(name, data), Array(8).fill('Completed'));
      expect(mostAtOnce(seenOf(name))).to.be.at.most(most);
      for (const ofKey of Map.groupBy(seenOf(name), ({ data }) => data.key).values()) {
        if (name !== 'concurrency-number') expect(mostAtOnce(ofKey)).to.equal(1);
      }
    });
  }

  it('has its throttle respected: runs beyond it wait', async () => {
    const sentAt = Date.now();
    const ids = await sendAll('throttle', [{ key: 1 }, { key: 1 }, { key: 1 }]);
    await statusesOf(ids, ['Completed', 'Completed', 'Completed']);
    const starts = seenOf('throttle')
      .map(({ from }) => from)
      .sort((a, b) => a - b);
    // The throttle counts from when it lets a run start, which is after the sending, and may be a while before the first call.
    expect((starts[2] as number) - sentAt).to.be.at.least(1_800);
  });

  it('has its rateLimit respected: events beyond it are skipped', async () => {
    const ids = await sendAll('rate-limit', [{ key: 1 }, { key: 1 }, { key: 1 }, { key: 2 }]);
    await statusesOf(ids, ['Completed', 'Completed', 'none', 'Completed']);
  });

  it('has its debounce respected: the latest of several events runs', async () => {
    await sendAll('debounce', [
      { key: 1, n: 1 },
      { key: 1, n: 2 },
      { key: 1, n: 3 },
    ]);
    await until(() => seenOf('debounce').length === 1, { describe: 'it runs' });
    expect(seenOf('debounce')[0]?.data).to.include({ n: 3 });
  });

  it('has its batches respected: one run for three events', async () => {
    await sendAll('batch', [{ key: 1 }, { key: 1 }, { key: 1 }]);
    await until(() => seenOf('batch').length === 1, { describe: 'it runs' });
    expect(seenOf('batch')[0]?.events).to.equal(3);
  });

  it('has its singleton respected in the mode skip', async () => {
    const first = await send('singleton-skip', { key: 1, ms: 5_000 });
    await until(() => seenOf('singleton-skip').length === 1, { describe: 'it runs' });
    const second = await send('singleton-skip', { key: 1 });
    const other = await send('singleton-skip', { key: 2 });
    await statusesOf([first, second, other], ['Completed', 'none', 'Completed']);
    await statusesOf([await send('singleton-skip', { key: 1 })], ['Completed']);
  });

  it('has its singleton respected in the mode cancel', async () => {
    const first = await send('singleton-cancel', { key: 1, ms: 10_000 });
    await until(() => seenOf('singleton-cancel').length === 1, { describe: 'it runs' });
    const second = await send('singleton-cancel', { key: 1 });
    await statusesOf([first, second], ['Cancelled', 'Completed']);
    const runs = await Promise.all([first, second].map((id) => service.get(`/v1/events/${id}/runs`)));
    const [cancelled, completed] = runs.map(({ body }) => body.data[0].run_id);
    const { data } = (await service.get(`/v1/runs/${cancelled}`)).body;
    expect(data.cancel_reason).to.deep.equal({ cause: 'singleton', id: completed, by: null });
  });

  it('has its priority respected: the run with the highest starts first', async () => {
    const first = await send('priority', { n: 0, ms: 1_000 });
    await until(() => seenOf('priority').length === 1, { describe: 'it runs' });
    const ids = await sendAll('priority', [
      { n: 3, priority: -100 },
      { n: 2, priority: 0 },
      { n: 1, priority: 100 },
    ]);
    await statusesOf([first, ...ids], Array(4).fill('Completed'));
    expect(seenOf('priority').map(({ data }) => data.n)).to.deep.equal([0, 1, 2, 3]);
  });

  it('has its idempotency respected: one run for each value', async () => {
    const ids = await sendAll('idempotency', [{ key: 'a' }, { key: 'a' }, { key: 'b' }]);
    await statusesOf(ids, ['Completed', 'none', 'Completed']);
  });

  it('has its timeout until the start respected', async () => {
    const first = await send('timeout-start', { ms: 8_000 });
    await until(() => seenOf('timeout-start').length === 1, { describe: 'it runs' });
    await statusesOf([first, await send('timeout-start', {})], ['Completed', 'Cancelled']);
  });

  it('has its timeout until the end respected', async () => {
    await statusesOf([await send('timeout-finish', { ms: 10_000 })], ['Cancelled']);
  });

  it('has its cancelOn respected', async () => {
    const id = await outside.send('cancel-on', { key: 7 });
    await service.waitFor(`/v1/events/${id}/runs`, ({ body }) => body.data?.[0]?.status === 'Running');
    await outside.send('stop', { key: 8 });
    await outside.send('stop', { key: 7 });
    await statusesOf([id], ['Cancelled']);
  });

  it('has its cron trigger respected: a run each minute', async () => {
    await until(() => seenOf('cron').length > 0, { describe: 'the schedule is due', timeoutMs: 75_000 });
  });
});

function functionsOf(client: Inngest, seen: Seen[]): Loose[] {
  const execute =
    (name: string) =>
    ({ event, events, step }: Loose) =>
      step.run('execute', async () => {
        const one: Seen = {
          name,
          data: event.data,
          events: events.length,
          from: Date.now(),
          to: Number.POSITIVE_INFINITY,
        };
        seen.push(one);
        await new Promise((resolve) => setTimeout(resolve, event.data?.ms ?? 0));
        one.to = Date.now();
      });
  return [
    ...Object.entries(OPTIONS).map(([name, options]) =>
      client.createFunction(
        { id: name, retries: 0, triggers: [{ event: `${APP}/${name}` }], ...options } as Loose,
        execute(name),
      ),
    ),
    client.createFunction(
      {
        id: 'cancel-on',
        triggers: [{ event: `${APP}/cancel-on` }],
        cancelOn: [{ event: `${APP}/stop`, if: 'event.data.key == async.data.key', timeout: '1h' }],
      },
      ({ step }: Loose) => step.sleep('nap', '1h'),
    ),
    client.createFunction({ id: 'cron', retries: 0, triggers: [cron('TZ=Europe/Paris * * * * *')] }, execute('cron')),
  ];
}
