/** Faults of Postgres, and of workers while they write to it. None excuses anything: only what is archived depends on Postgres. */
import { setTimeout } from 'node:timers/promises';
import type { Client } from 'pg';
import type { PostgresServer } from '../postgres.ts';
import type { ChaosContext, Fault } from './fault.ts';
import { crash } from './process-faults.ts';

/** What a shipment writes to. */
const TABLES = ['events', 'runs', 'event_counts', 'event_name_days', 'archived_days'] as const;
/** Longer than a worker waits before it archives after its start. */
const BLOCKED_WITHIN_MS = 25_000;
const POLL_MS = 20;
const SETTLED_MS = 500;
/** From the time when a shipment goes on until it has left Redis. */
const SHIPMENT_MS = 60;
/** Longer than the service waits for a statement. */
const FROZEN = 1.5;

/** What runs that sleep are moved to, and back. */
const OFFLOADED = ['offloaded_runs'] as const;

type Work = (postgres: PostgresServer, context: ChaosContext) => Promise<void>;

function postgresFault(name: string, weight: number, work: Work, ends = 0): Fault {
  return {
    name,
    weight,
    excuses: false,
    ends,
    unavailable: ({ postgres }) =>
      postgres ? undefined : 'the faults of Postgres: this run has none (--without-archive)',
    run: async (context) => {
      if (context.postgres) await work(context.postgres, context);
    },
  };
}

/** Events must be accepted as always meanwhile. */
async function withoutPostgres({ service, sender }: ChaosContext, work: () => Promise<void>): Promise<void> {
  while (service.ready.length < service.webs.length) await setTimeout(50);
  await setTimeout(SETTLED_MS);
  sender.isWithoutPostgres = true;
  await work();
  sender.isWithoutPostgres = false;
}

export const POSTGRES_FAULTS: readonly Fault[] = [
  postgresFault('kill-postgres', 3, (postgres, context) =>
    withoutPostgres(context, async () => {
      await postgres.kill();
      await setTimeout(context.random.between(0, 3_000));
      await postgres.start();
    }),
  ),
  postgresFault('stop-postgres', 2, (postgres, context) =>
    withoutPostgres(context, async () => {
      await postgres.stop();
      await setTimeout(context.stopMs);
      await postgres.start();
    }),
  ),
  postgresFault('freeze-postgres', 2, (postgres, context) =>
    withoutPostgres(context, async () => {
      postgres.pause();
      await setTimeout(FROZEN * context.stopMs);
      postgres.resume();
    }),
  ),
  {
    ...postgresFault('kill-archiving-worker', 3, killWhileWriting(TABLES), 2),
    // Calls in flight end with the worker.
    excuses: true,
  },
  {
    ...postgresFault('kill-offloading-worker', 3, killWhileWriting(OFFLOADED), 2),
    excuses: true,
  },
];

/** Kills the workers in the midst of a shipment, or soon after it went on: before its commit, or after that and before Redis is freed. */
function killWhileWriting(tables: readonly string[]): Work {
  return (postgres, context) => killWorkers(postgres, context.random.pick(tables), context);
}

async function killWorkers(postgres: PostgresServer, table: string, { service, random }: ChaosContext): Promise<void> {
  const isHeldUp = random.next() < 0.5;
  const laterMs = random.between(0, SHIPMENT_MS);
  const client = await postgres.connect();
  try {
    await client.query('BEGIN');
    // Nobody writes to it; everybody may read.
    await client.query(`LOCK TABLE ${table} IN SHARE MODE`);
    await untilBlocked(client);
    if (!isHeldUp) {
      await client.query('ROLLBACK');
      await setTimeout(laterMs);
    }
    await Promise.all(service.workers.map(crash));
  } finally {
    await client.end();
  }
}

async function untilBlocked(client: Client): Promise<void> {
  const deadline = performance.now() + BLOCKED_WITHIN_MS;
  while (performance.now() < deadline) {
    const { rowCount } = await client.query(
      "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()",
    );
    if (rowCount) return;
    await setTimeout(POLL_MS);
  }
}
