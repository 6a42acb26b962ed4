import { expect } from 'chai';
import type pg from 'pg';
import { Tidegate } from 'tidegate';
import { testFunction } from 'tidegate/test';
import { type AnyContext, type CallOptions, hostFunction } from '../steps/app.ts';
import { createTables, type Tables } from './bed.ts';

/** A pool whose transactions end as the test says. */
function poolThat(pool: pg.Pool, does: (statement: string, run: () => Promise<unknown>) => Promise<unknown>): pg.Pool {
  const query = (client: pg.PoolClient) => (text: string, values?: unknown[]) =>
    does(text, () => client.query(text, values));
  const connect = async () => {
    const client = await pool.connect();
    const escapeLiteral = (text: string) => client.escapeLiteral(text);
    return {
      query: query(client),
      escapeLiteral,
      on() {},
      off() {},
      release: (error?: Error) => client.release(error),
    };
  };
  return { connect, query() {}, totalCount: 0 } as unknown as pg.Pool;
}

const failure = (code: string) => Object.assign(new Error(`SQLSTATE ${code}`), { code });

describe('step.transaction', () => {
  let tables: Tables;
  before(async () => {
    tables = await createTables('test_step_transaction');
  });
  beforeEach(() => tables.empty());
  after(() => tables.drop());

  const hosts: { close(): void }[] = [];
  afterEach(() => {
    for (const host of hosts.splice(0)) host.close();
  });

  async function host(
    handler: (context: AnyContext) => unknown,
  ): Promise<
    (options?: CallOptions) => Promise<{ op: string; data: unknown; error: { name: string; message: string } }>
  > {
    const hosted = await hostFunction(handler);
    hosts.push(hosted);
    return async (options) => (await hosted.call(options)).body[0];
  }

  const orders = () => tables.column('select id from orders order by id');

  /** Books an order, and says how many there are. */
  const book = async (tx: pg.PoolClient) => {
    await tx.query('insert into orders values (gen_random_uuid()::text)');
    const { rows } = await tx.query('select count(*)::int as count from orders');
    return rows[0];
  };

  it('writes once, and gives the stored result, however often its call is repeated', async () => {
    const call = await host(({ step }) => step.transaction('book', tables.pool, book));
    const first = await call();
    expect(first).to.deep.include({ op: 'StepRun', data: { count: 1 }, opts: { type: 'step.transaction' } });
    expect(await call({ attempt: 1 })).to.deep.equal(first);
    expect(await call({ attempt: 2, stepId: 'book', disableImmediateExecution: true })).to.deep.equal(first);
    expect(await orders()).to.have.length(1);
  });

  it('writes again for another step, as each in a loop', async () => {
    const call = await host(({ step }) => Promise.all([1, 2].map(() => step.transaction('book', tables.pool, book))));
    for (const stepId of ['book', 'book:1', 'book']) await call({ stepId });
    expect(await orders()).to.have.length(2);
  });

  it('writes nothing if its function throws, and its retry writes', async () => {
    let attempts = 0;
    const call = await host(({ step }) =>
      step.transaction('book', tables.pool, async (tx) => {
        const booked = await book(tx);
        attempts += 1;
        if (attempts === 1) throw new Error('no');
        return booked;
      }),
    );
    expect(await call()).to.have.nested.property('error.message', 'no');
    expect(await orders()).to.deep.equal([]);
    expect(await call()).to.have.property('op', 'StepRun');
    expect(await orders()).to.have.length(1);
  });

  for (const [point, matches, times] of [
    ['before it begins', /^begin; insert into tidegate_steps/, 0],
    ['before it writes', /^insert into orders/, 0],
    ['before it stores its result and commits', /^update tidegate_steps .*; commit$/, 0],
    ['after it has committed', /; commit$/, 1],
  ] as const) {
    it(`that dies ${point} has written ${times === 1 ? '' : 'nothing, and its retry '}once`, async () => {
      const dying = poolThat(tables.pool, async (text, run) => {
        if (!matches.test(text)) return run();
        if (times === 1) await run();
        throw new Error('the connection broke');
      });
      let isDying = true;
      const call = await host(({ step }) => step.transaction('book', isDying ? dying : tables.pool, book));
      expect(await call()).to.have.nested.property('error.message', 'the connection broke');
      expect(await orders()).to.have.length(times);
      isDying = false;
      expect(await call()).to.deep.include({ op: 'StepRun', data: { count: 1 } });
      expect(await orders()).to.have.length(1);
    });
  }

  it('waits for an attempt that is under way, and takes its result', async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let began = () => {};
    const beginning = new Promise<void>((resolve) => {
      began = resolve;
    });
    let calls = 0;
    const call = await host(({ step }) =>
      step.transaction('book', tables.pool, async (tx) => {
        calls += 1;
        began();
        await held;
        return book(tx);
      }),
    );
    const first = call();
    await beginning;
    const second = call();
    release();
    expect(await second).to.deep.equal(await first);
    expect([calls, await orders()])
      .to.deep.include(1)
      .and.to.have.nested.property('[1].length', 1);
  });

  for (const code of ['40001', '40P01']) {
    it(`tries again by itself after SQLSTATE ${code}, up to ten times`, async () => {
      let tries = 0;
      const enough = { tries: 3 };
      const call = await host(({ step }) =>
        step.transaction('book', tables.pool, async (tx) => {
          const booked = await book(tx);
          tries += 1;
          if (tries < enough.tries) throw failure(code);
          return booked;
        }),
      );
      expect(await call()).to.deep.include({ op: 'StepRun', data: { count: 1 } });
      expect(tries).to.equal(3);
      await tables.empty();
      tries = 0;
      enough.tries = 100;
      expect(await call()).to.have.nested.property('error.message', `SQLSTATE ${code}`);
      expect(tries).to.equal(10);
    });
  }

  it('runs at the isolation level of its option', async () => {
    const level = async (tx: pg.PoolClient) =>
      (await tx.query('show transaction_isolation')).rows[0].transaction_isolation as string;
    const call = await host(({ step }) => step.transaction('a', tables.pool, level, { isolation: 'serializable' }));
    expect(await call()).to.have.property('data', 'serializable');
  });

  it('fails for good, and writes nothing, if its result is too large', async () => {
    const call = await host(({ step }) =>
      step.transaction('book', tables.pool, async (tx) => {
        await book(tx);
        return 'x'.repeat(5_000_000);
      }),
    );
    const { op, error } = await call();
    expect([op, error.name, error.message]).to.deep.equal([
      'StepFailed',
      'OutputTooLarge',
      'the output of step "book" has 5000011 bytes, more than 4194304; store large data elsewhere and return a reference',
    ]);
    expect(await orders()).to.deep.equal([]);
  });

  it('says how to make its tables where they are missing', async () => {
    const elsewhere = await createTables('test_step_transaction_none');
    await elsewhere.pool.query('drop table tidegate_steps');
    const call = await host(({ step }) => step.transaction('book', elsewhere.pool, book));
    expect((await call()).error.message).to.match(/tidegate outbox migrate --print/);
    await elsewhere.drop();
  });

  it('in a test runs on the real database, anew in each test, or has a stub', async () => {
    const client = new Tidegate({ id: 'shop' });
    const fn = client.createFunction({ id: 'f', triggers: { event: 'a' } }, ({ step }) =>
      step.transaction('book', tables.pool, book),
    );
    expect(await testFunction(fn)).to.deep.include({ result: { count: 1 } });
    const again = await testFunction(fn);
    expect(again.result).to.deep.equal({ count: 2 });
    expect(again.steps).to.have.nested.property('[0].kind', 'transaction');
    const stubbed = await testFunction(fn, { steps: { book: { count: 7 } } });
    expect([stubbed.result, await orders()]).to.have.nested.property('[0].count', 7);
    expect(await orders()).to.have.length(2);
  });

  it('refuses what is no pool', async () => {
    const client = await tables.pool.connect();
    const call = await host(({ step }) => step.transaction('book', client as unknown as pg.Pool, book));
    expect((await call()).error.message).to.match(/begins on a Pool of pg/);
    client.release();
  });
});
