/** Shapes of the libraries' own types: https://node-postgres.com, postgres.js, Drizzle, Prisma, Knex, Kysely. */
// biome-ignore-all lint/suspicious/noExplicitAny: each library has types of its own

type PgTransaction = { query(text: string, values?: any[]): Promise<{ rows: any[] }> };
type PostgresJsTransaction = { unsafe(text: string, values?: any[]): any; savepoint: any };
type DrizzleTransaction = { execute(query: any): any; transaction: any };
type PrismaTransaction = { $queryRawUnsafe(text: string, ...values: any[]): any };
type KnexTransaction = { raw: any; isTransaction?: any };
type KyselyTransaction = { executeQuery: any; selectFrom: any };

export type AnyTransaction =
  | PgTransaction
  | PostgresJsTransaction
  | DrizzleTransaction
  | PrismaTransaction
  | KnexTransaction
  | KyselyTransaction;

type PgPool = { totalCount: number; query: any; connect: any };
type PostgresJsPool = { unsafe: any; begin: any };
type DrizzlePool = { execute: any; transaction: any };
type PrismaPool = { $queryRawUnsafe: any; $transaction: any };
type KnexPool = { raw: any; transaction: any };
type KyselyPool = { executeQuery: any; transaction: any };

/** A pool of pg, `sql` of postgres.js, `db` of Drizzle or Kysely, a client of Prisma, or `knex`. */
export type AnyPool = PgPool | PostgresJsPool | DrizzlePool | PrismaPool | KnexPool | KyselyPool;

/** The transaction that the library itself gives. The last of its overloads counts. */
export type TransactionOf<Pool> = Pool extends { $transaction(run: (tx: infer Tx) => any, ...more: any[]): any }
  ? Tx
  : Pool extends { begin(options: string, run: (tx: infer Tx) => any): any }
    ? Tx
    : Pool extends { transaction(): { execute(run: (tx: infer Tx) => any): any } }
      ? Tx
      : Pool extends { transaction(run: (tx: infer Tx) => any, ...more: any[]): any }
        ? Tx
        : Pool extends { connect: { (): Promise<infer Tx>; (callback: any): any } }
          ? Tx
          : any;
