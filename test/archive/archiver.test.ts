import { expect } from 'chai';
import type pg from 'pg';
import { EVENT_KEYS } from '../../src/store/keys/events.ts';
import type { KeyDeclaration } from '../../src/store/keys/key-declaration.ts';
import { KEY_DECLARATIONS_BY_ROOM, PARTITION_KEY_WORDS } from '../../src/store/redis/keyspace/keyspace.ts';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { connectPostgres, schemaOf } from '../support/postgres.ts';
import { findKeys } from '../support/redis.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const ROOMS_OF_EVENTS = new Set(['events', 'runs', 'errors', 'flow-control']);
const { deduplication, eventNames, eventsInUse } = EVENT_KEYS;
/** Keys of other rooms that the archiver or an event leaves. */
const ALSO_OF_EVENTS = new Set(['held-event', 'held-events', 'unarchived-requests']);
const firstWord = ({ pattern }: KeyDeclaration) => pattern.split(':')[0] as string;
/** First words of keys that an installation has anyway, or that expire soon. */
const OTHERS = [
  'queue',
  ...[deduplication, eventNames, eventsInUse].map(firstWord),
  ...Object.entries(KEY_DECLARATIONS_BY_ROOM).flatMap(([room, declarations]) =>
    Object.values<KeyDeclaration>(declarations)
      .map(firstWord)
      .filter((word) => !ALSO_OF_EVENTS.has(word))
      .filter((word) => !ROOMS_OF_EVENTS.has(room) || !PARTITION_KEY_WORDS.has(word)),
  ),
];
const OF_EVENTS = new RegExp(`^:(?!(${OTHERS.join('|')})(:|$))`);
/** 3.6 s. */
const HOT_HOURS = '0.001';

describe('The archiver', () => {
  let service: Service;
  let apps: AppHost;
  let postgres: pg.Client;

  beforeEach(async () => {
    service = await startService({ archive: true, env: { HOT_HOURS, RETRY_SCALE: '0.001' } });
    apps = await startAppHost();
    postgres = await connectPostgres(schemaOf(service.prefix));
  });

  afterEach(async () => {
    await postgres.end();
    await apps.close();
    await service.stop();
  });

  const count = async (table: string) =>
    Number((await postgres.query(`SELECT count(*) AS count FROM ${table}`)).rows[0].count);
  const eventKeys = () => findKeys(service.redis, service.prefix, OF_EVENTS);

  it('moves old events, their ended runs and their decisions to Postgres, and leaves none in Redis', async () => {
    apps.on('fn', () => ({ body: { done: true } }));
    await apps.register(service, [{ id: 'fn', triggers: [{ event: 'a' }] }]);
    const sent = await service.post('/e/key', [
      { name: 'a', data: { n: 1 }, id: 'one' },
      { name: 'a', data: { n: 2 } },
      { name: 'b', data: { n: 3 } },
    ]);
    expect(sent.status).to.equal(200);
    await service.post('/e/key', { name: 'a', id: 'one', data: {} });
    await until(async () => (await count('events')) === 3 && (await count('runs')) === 2, {
      timeoutMs: 20_000,
      describe: 'all is archived',
    });
    await until(async () => (await eventKeys()).length === 0, {
      timeoutMs: 20_000,
      describe: () => 'Redis has nothing of the events',
    }).catch(async (error: Error) => {
      throw new Error(`${error.message}: ${(await eventKeys()).join(', ')}`);
    });
    const { rows } = await postgres.query('SELECT dedup_id, duplicates FROM events ORDER BY dedup_id');
    expect(rows[0]).to.deep.equal({ dedup_id: 'one', duplicates: 1 });
  });

  it('starts no run for an event that is sent again with its seed, even when the first is archived', async () => {
    await apps.register(service, [{ id: 'fn', triggers: [{ event: 'a' }] }]);
    const seed = { 'x-inngest-event-id-seed': `${Date.now()},${Buffer.alloc(10, 7).toString('base64')}` };
    const [first] = (await service.post('/e/key', { name: 'a', data: {} }, seed)).body.ids;
    await until(async () => (await count('runs')) === 1 && (await eventKeys()).length === 0, {
      timeoutMs: 20_000,
      describe: 'the event is archived',
    });
    const again = await service.post(
      '/e/key',
      [
        { name: 'a', data: {} },
        { name: 'a', data: {} },
      ],
      seed,
    );
    expect(again.body.ids[0]).to.equal(first);
    await until(() => apps.calls('fn').length >= 2, { describe: 'the other event runs the function' });
    await until(
      async () => (await count('events')) === 2 && (await count('runs')) === 2 && (await eventKeys()).length === 0,
      {
        timeoutMs: 20_000,
        describe: 'both events are archived',
      },
    );
    expect(apps.calls('fn')).to.have.length(2);
  });

  it('keeps a copy of an event whose run is active; the run continues with it and follows it into the archive', async () => {
    const archived = Promise.withResolvers<void>();
    apps.on('fn', async ({ number }) => {
      if (number > 0) return { body: 'done' };
      await archived.promise;
      return { status: 500 };
    });
    await apps.register(service, [{ id: 'fn', triggers: [{ event: 'a' }] }]);
    await service.post('/e/key', { name: 'a', data: { n: 1 } });
    await until(async () => (await count('events')) === 1, { describe: 'the event is archived' });
    await until(async () => (await eventKeys()).some((key) => key.includes(':overflow-event:')), {
      describe: 'a copy stays',
    });
    expect(await count('runs')).to.equal(0);
    archived.resolve();
    await until(() => apps.calls('fn').length === 2, { describe: 'the call is repeated' });
    expect(apps.calls('fn')[1]?.body.event.data).to.deep.equal({ n: 1 });
    await until(async () => (await count('runs')) === 1, { describe: 'the run is archived' });
    await until(async () => (await eventKeys()).length === 0, {
      timeoutMs: 20_000,
      describe: () => 'Redis has nothing of the event and its run',
    });
  });
});
