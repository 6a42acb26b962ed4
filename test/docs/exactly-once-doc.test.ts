import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type pg from 'pg';
import type { Tidegate, TidegateFunction } from 'tidegate';
import { serve } from 'tidegate/node';
import type { Relay } from 'tidegate/postgres';
import { type App, startApp } from '../runs/steps/sdk-adapters.ts';
import { AppDatabase } from '../support/app-database.ts';
import { type Service, startService } from '../support/service.ts';
import { blocksOf, pageOf } from './examples.ts';

/** Beside the tests, so that what it imports is found. */
const MODULE = join(import.meta.dirname, '.exactly-once-of-the-docs.ts');

interface Example {
  client: Tidegate;
  pool: pg.Pool;
  sending: Relay;
  placeOrder(order: string): Promise<void>;
  book: TidegateFunction;
}

describe('The examples in TypeScript of docs/exactly-once.md', () => {
  let service: Service;
  let database: AppDatabase;
  let example: Example;
  let app: App;
  before(async () => {
    [service, database] = await Promise.all([startService(), AppDatabase.create()]);
    await database.query('create table orders (id text primary key)');
    await database.query(
      'create table bookings (number bigint generated always as identity primary key, order_id text not null)',
    );
    const code = blocksOf(pageOf('exactly-once.md')).flatMap(({ info, code }) => (info === 'ts' ? [code] : []));
    const settings = [
      ["id: 'shop'", `id: 'shop', isDev: true, baseUrl: '${service.url}'`],
      ['process.env.DATABASE_URL', `'${database.url}'`],
    ] as const;
    writeFileSync(
      MODULE,
      settings.reduce((text, [shown, used]) => text.replace(shown, used), code.join('\n')),
    );
    example = await import(MODULE);
    app = await startApp(serve({ client: example.client, functions: [example.book] }));
  });
  after(async () => {
    rmSync(MODULE, { force: true });
    await app?.close();
    await example?.sending.close();
    await example?.pool.end();
    await database.remove();
    await service.stop();
  });

  it('send the event of an order that is committed, and book it once', async () => {
    await example.placeOrder('A1');
    const { body } = await service.waitFor('/v1/events?name=order/placed', ({ body }) => body.data?.length === 1);
    const runs = `/v1/events/${body.data[0].internal_id}/runs`;
    const ended = await service.waitFor(runs, ({ body }) => body.data?.[0]?.ended_at);
    expect(ended.body.data[0]).to.deep.include({ status: 'Completed', output: { number: '1' } });
    expect(await database.query('select order_id from bookings')).to.deep.equal([{ order_id: 'A1' }]);
  });

  it('send nothing of an order that fails', async () => {
    const error = await example.placeOrder('A1').catch((thrown) => thrown);
    expect(error.message).to.match(/duplicate key/);
    expect(await database.rows()).to.deep.equal([]);
    expect((await service.get('/v1/events?name=order/placed')).body.data).to.have.length(1);
  });
});
