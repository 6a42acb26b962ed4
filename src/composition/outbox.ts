/** Composes the outbox of a worker. */
import { Database } from '../archive/database.ts';
import { OutboxRows } from '../archive/outbox-rows.ts';
import { OutboxWakes } from '../archive/outbox-wakes.ts';
import { AcceptedEvents } from '../history/accepted-events.ts';
import type { OutboxDeps } from '../jobs/outbox/duties.ts';
import { OutboxRelay } from '../jobs/outbox/relay.ts';
import { outboxTerms } from '../jobs/outbox/terms.ts';
import { readLoad } from '../jobs/queues/load.ts';
import { retentionDaysOf } from './archive.ts';
import type { IngestionNeeds, IngestionParts } from './ingestion.ts';

export type ClosableOutbox = OutboxDeps & { close(): Promise<void> };

/** Connections of a worker, besides the connection that listens. */
const OUTBOX_CONNECTIONS = 2;

export function outboxDeps(parts: IngestionNeeds & IngestionParts): ClosableOutbox | undefined {
  const { config, redis, queues, history, queuedEvents, environments, installationLimits, acceptor, log } = parts;
  if (!config.outbox) return undefined;
  const { environment: env, url, tlsVerify } = config.outbox;
  const database = new Database({ url, tlsVerify, poolSize: OUTBOX_CONNECTIONS }, log, 'tidegate outbox');
  const outboxRows = new OutboxRows(database);
  const terms = outboxTerms({
    env,
    config,
    environments,
    installationLimits,
    redis,
    load: () => readLoad(redis, queues),
    retentionDays: retentionDaysOf(config),
  });
  const acceptedEvents = new AcceptedEvents({ stored: history.events, queued: queuedEvents });
  return {
    outboxRows,
    outboxWakes: new OutboxWakes({ url, tlsVerify }),
    outboxRelay: new OutboxRelay({ rows: outboxRows, acceptor, acceptedEvents, terms }),
    outboxStatus: parts.outboxStatus,
    outboxEnvironment: env,
    runs: history.runs,
    close: () => database.close(),
  };
}
