/** The archive: all data in Postgres. */
import type { Config } from '../config.ts';
import type { Logger } from '../log.ts';
import { ArchivedAudit } from './archived-audit.ts';
import { ArchivedDays, DayTables } from './archived-days.ts';
import { ArchivedEvents } from './archived-events.ts';
import { ArchivedEventsSince } from './archived-events-since.ts';
import { ArchivedIds } from './archived-ids.ts';
import { ArchivedRequests } from './archived-requests.ts';
import { ArchivedRunCounts } from './archived-run-counts.ts';
import { ArchivedRunParts } from './archived-run-parts.ts';
import { ArchivedRunRows } from './archived-run-rows.ts';
import { ArchivedRuns } from './archived-runs.ts';
import { ArchivedScopes } from './archived-scopes.ts';
import { ArchivedStorage } from './archived-storage.ts';
import { Database } from './database.ts';
import { DayRemoval } from './day-removal.ts';
import { Numbers } from './numbers.ts';
import { OffloadedRunRows } from './offloaded-run-rows.ts';
import { RequestShipments } from './request-shipments.ts';
import { SchemaCheck } from './schema-check.ts';
import { type RetentionOf, Shipments } from './shipments.ts';
import { UnusedNumbers } from './unused-numbers.ts';
import { WebhookBodies } from './webhook-bodies.ts';

export interface Archive {
  database: Database;
  numbers: Numbers;
  days: ArchivedDays;
  tables: DayTables;
  dayRemoval: DayRemoval;
  unusedNumbers: UnusedNumbers;
  storage: ArchivedStorage;
  shipments: Shipments;
  requestShipments: RequestShipments;
  requests: ArchivedRequests;
  webhookBodies: WebhookBodies;
  audit: ArchivedAudit;
  ids: ArchivedIds;
  events: ArchivedEvents;
  eventsSince: ArchivedEventsSince;
  runs: ArchivedRuns;
  runCounts: ArchivedRunCounts;
  runParts: ArchivedRunParts;
  /** Active runs that sleep here. */
  offloadedRuns: OffloadedRunRows;
  /** Age at which events and ended runs leave Redis. */
  hotMs: number;
}

/** @returns undefined without Postgres */
export function createArchive(
  { archive: settings }: Pick<Config, 'archive'>,
  retentionOf: RetentionOf,
  log: Logger,
): Archive | undefined {
  if (!settings) return undefined;
  const database = new Database(settings, log);
  const schemaCheck = new SchemaCheck(database, { log });
  database.openAfter(() => schemaCheck.pass());
  const numbers = new Numbers(database);
  const days = new ArchivedDays(database);
  const tables = new DayTables(database);
  const unusedNumbers = new UnusedNumbers(database);
  const scopes = new ArchivedScopes({ numbers, retentionOf });
  const rows = new ArchivedRunRows(database, { scopes });
  return {
    database,
    numbers,
    days,
    tables,
    dayRemoval: new DayRemoval(database, { unusedNumbers }),
    unusedNumbers,
    storage: new ArchivedStorage(database, { numbers }),
    ids: new ArchivedIds(database, { numbers }),
    shipments: new Shipments(database, { numbers, days, tables, retentionOf }),
    requestShipments: new RequestShipments(database, { days, tables }),
    requests: new ArchivedRequests(database),
    webhookBodies: new WebhookBodies(database, { days, tables }),
    audit: new ArchivedAudit(database, { days, tables }),
    events: new ArchivedEvents(database, { numbers, days, retentionOf }),
    eventsSince: new ArchivedEventsSince(database, { numbers, scopes }),
    runs: new ArchivedRuns(database, { numbers, scopes, rows }),
    runCounts: new ArchivedRunCounts(database, { numbers, scopes }),
    runParts: new ArchivedRunParts(database, { rows }),
    offloadedRuns: new OffloadedRunRows(database, { numbers }),
    hotMs: settings.hotMs,
  };
}
