/** The archive: everything that is in Postgres. */
import type { Config } from '../config.ts';
import type { Logger } from '../log.ts';
import { ArchivedAudit } from './archived-audit.ts';
import { ArchivedDays } from './archived-days.ts';
import { ArchivedRequests } from './archived-requests.ts';
import { Database } from './database.ts';
import { DayTables } from './day-tables.ts';
import { Numbers } from './numbers.ts';
import { RequestShipments } from './request-shipments.ts';
import { type RetentionOf, Shipments } from './shipments.ts';

export interface Archive {
  database: Database;
  numbers: Numbers;
  days: ArchivedDays;
  tables: DayTables;
  shipments: Shipments;
  requestShipments: RequestShipments;
  requests: ArchivedRequests;
  audit: ArchivedAudit;
  /** Events and ended runs that are older than this leave Redis. */
  hotMs: number;
}

/** @returns undefined where there is no Postgres */
export function createArchive(
  { archive: settings }: Pick<Config, 'archive'>,
  retentionOf: RetentionOf,
  log: Logger,
): Archive | undefined {
  if (!settings) return undefined;
  const database = new Database(settings, log);
  const numbers = new Numbers(database);
  const days = new ArchivedDays(database);
  const tables = new DayTables(database);
  return {
    database,
    numbers,
    days,
    tables,
    shipments: new Shipments({ database, numbers, days, tables, retentionOf }),
    requestShipments: new RequestShipments({ database, days, tables }),
    requests: new ArchivedRequests(database),
    audit: new ArchivedAudit({ database, days, tables }),
    hotMs: settings.hotMs,
  };
}
