/** `/v1/storage`: how much space an environment takes in Redis and Postgres. */
import { z } from 'zod';
import type { ArchivedDayUse } from '../../archive/archived-storage.ts';
import type { StorageUse } from '../../history/storage-use.ts';
import { DAY_MS, iso } from '../../model/values/time.ts';
import { apiObject, time, timeOrNull, wholeOrNull } from '../http/validation.ts';
import type { ApiParts } from '../parts.ts';
import { type Route, routesOf } from '../rest/route.ts';

const DAYS_SHOWN = 14;
const FORECAST_DAYS = [7, 30, 90, 365];

const archivedSchema = z.object({
  rows: z.int(),
  payload_bytes: z.int().describe('Before compression'),
  disk_bytes: z
    .int()
    .describe(
      "Includes indexes and today's tables. The size of tables that environments share is divided by size of payloads",
    ),
});

export const storageSchema = apiObject('Storage', {
  measured_at: z.iso.datetime().describe('Time of the measurement; up to 15 s ago'),
  retention_days: z.number(),
  hot: z
    .object({
      events: z.int(),
      runs: z.int(),
      bytes: wholeOrNull.describe('null: Redis does not permit MEMORY USAGE, or there is too little data'),
      oldest_at: timeOrNull.describe('Minute of the oldest event'),
    })
    .describe('In Redis: estimates from a sample of events'),
  archive: z.enum(['off', 'ok', 'unavailable']).describe('`off`: there is no Postgres'),
  archived: z
    .object({
      events: archivedSchema,
      runs: archivedSchema,
      oldest_day: z.iso.date().nullable(),
      days: z
        .array(
          z.object({
            day: z.iso.date(),
            events: z.int(),
            runs: z.int(),
            payload_bytes: z.int(),
            disk_bytes: z.int(),
          }),
        )
        .describe(`The last ${DAYS_SHOWN} days with data, newest first`),
      disk_bytes_per_day: wholeOrNull.describe(
        'Mean over the last week, without the newest day; null: there is no complete day yet',
      ),
      forecast: z
        .array(z.object({ retention_days: z.number(), disk_bytes: z.int() }))
        .describe('Disk usage at that rate, for several retentions including that of the environment'),
    })
    .nullable()
    .describe('In Postgres; null: there is no Postgres, or it is unavailable'),
  installation: z
    .object({ webhook_requests: archivedSchema, audit_entries: archivedSchema })
    .nullable()
    .describe('In Postgres, for all environments together'),
});

const routes = routesOf({ tag: 'Environments', scope: 'environment' });

export function storageRoutes({ storageUses, environments, archive, retentionMs }: ApiParts): Route[] {
  return [
    routes.get('/v1/storage', {
      operationId: 'getStorage',
      summary: 'Get the storage of an environment',
      description: 'Size of the data in Redis and in the archive, and the cost of the retention.',
      data: storageSchema,
      async handle({ env }) {
        const [use, environment] = await Promise.all([storageUses.of(env), environments.read(env)]);
        return { data: presentStorage(use, archive !== undefined, environment?.retentionDays ?? retentionMs / DAY_MS) };
      },
    }),
  ];
}

function presentStorage(use: StorageUse, hasArchive: boolean, retentionDays: number) {
  const { at, hot, archived } = use;
  return {
    measured_at: time(at),
    retention_days: retentionDays,
    hot: {
      events: hot.events,
      runs: hot.runs,
      bytes: hot.bytes ?? null,
      oldest_at: hot.oldestAt === undefined ? null : time(hot.oldestAt),
    },
    archive: !hasArchive ? ('off' as const) : use.isUnavailable ? ('unavailable' as const) : ('ok' as const),
    archived: archived ? presentArchived(archived.environment, use.diskBytesPerDay, retentionDays) : null,
    installation: archived
      ? {
          webhook_requests: sum(archived.installation, 'webhook_requests'),
          audit_entries: sum(archived.installation, 'audit_entries'),
        }
      : null,
  };
}

function presentArchived(all: readonly ArchivedDayUse[], perDay: number | undefined, retentionDays: number) {
  const byDay = [...Map.groupBy(all, ({ day }) => day)].reverse();
  const [first] = all;
  const forecasts = [...new Set([...FORECAST_DAYS, retentionDays])].sort((a, b) => a - b);
  return {
    events: sum(all, 'events'),
    runs: sum(all, 'runs'),
    oldest_day: first ? dateOf(first.day) : null,
    days: byDay.slice(0, DAYS_SHOWN).map(([day, uses]) => {
      const { payload_bytes, disk_bytes } = sum(uses);
      const rows = (kind: ArchivedDayUse['kind']) => sum(uses, kind).rows;
      return { day: dateOf(day), events: rows('events'), runs: rows('runs'), payload_bytes, disk_bytes };
    }),
    disk_bytes_per_day: perDay === undefined ? null : Math.round(perDay),
    forecast:
      perDay === undefined
        ? []
        : forecasts.map((days) => ({ retention_days: days, disk_bytes: Math.round(perDay * days) })),
  };
}

function sum(all: readonly ArchivedDayUse[], kind?: ArchivedDayUse['kind']) {
  const total = { rows: 0, payload_bytes: 0, disk_bytes: 0 };
  for (const day of all) {
    if (kind !== undefined && day.kind !== kind) continue;
    total.rows += day.rows;
    total.payload_bytes += day.bytes;
    total.disk_bytes += day.diskBytes;
  }
  return total;
}

function dateOf(day: number): string {
  return iso(day).slice(0, 10);
}
