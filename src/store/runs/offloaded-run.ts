/** A run that sleeps or waits for long, as it leaves Redis and as Postgres stores it. */
import type { Run } from '../../model/runs/run.ts';
import { RUN_FIELDS } from '../keys/run-fields.ts';
import { idsIn } from '../redis/joined-ids.ts';
import type { Position, TimeRange } from '../redis/pagination.ts';

/** The data of a run that lists show. */
export interface OffloadedRecord {
  /** Fields of its hash (keys/run-fields.ts). */
  fields: Record<string, string>;
  steps: StepsReply;
}

/** Reply of read-steps.lua. */
export type StepsReply = [pending: string[], count: number, done: number];

export interface OffloadedContents {
  fields: Record<string, string>;
  contents: Buffer;
}

/** A run that does nothing but sleep, as it was read. */
export interface SleepingRun extends OffloadedRecord, OffloadedContents {
  env: string;
  id: string;
  eventIds: string[];
  /** Time of its next reconciliation, Unix milliseconds, as Redis writes it. */
  reconcileAt: string;
  /** The time at which it returns, Unix milliseconds. */
  dueAt: number;
  /** Microseconds by the clock of Redis. */
  readAt: number;
}

/** Postgres, as far as the store needs it. */
export interface OffloadedRunSource {
  /** Brings runs back.
   *  @param latestMs latest time of their next reconciliations
   *  @throws ServiceError archive_unavailable */
  bringBack(env: string, ids: readonly string[], latestMs: number): Promise<unknown>;
  /** @throws ServiceError archive_unavailable */
  records(env: string, ids: readonly string[]): Promise<Map<string, OffloadedRecord>>;
  /** @throws ServiceError archive_unavailable */
  contents(env: string, ids: readonly string[]): Promise<Map<string, OffloadedContents>>;
  /** The result may contain runs that are not offloaded.
   *  @param functionIds undefined: all functions
   *  @throws ServiceError archive_unavailable */
  newest(
    env: string,
    functionIds: readonly string[] | undefined,
    timeRange: TimeRange,
    limit: number,
  ): Promise<Position[]>;
}

/** Parts of an offloaded run by suffix (keys/runs.ts): the fields of a hash with their values, or the entries of a list. */
export type OffloadedParts = ReadonlyMap<string, string[]>;

/** IDs of all events of a run. */
export function eventsOf({ fields }: Pick<OffloadedRecord, 'fields'>): string[] {
  const batch = fields[RUN_FIELDS.batch];
  return batch ? idsIn(batch) : [fields[RUN_FIELDS.eventId] as string];
}

export function queuedAtOf({ fields }: Pick<OffloadedRecord, 'fields'>): Run['queuedAt'] {
  return Number(fields[RUN_FIELDS.queuedAt]);
}
