/** A portion of old events on its way from Redis to the archive, with those of their runs that have ended: read, shipped, and removed from Redis
 *  only when the archive has it. A crash between any two steps is made good by doing all of it again. */
import type { EventRow, RunRow } from '../../archive/rows.ts';
import { runRowOf } from '../../archive/run-row.ts';
import type { Shipments } from '../../archive/shipments.ts';
import { writeEvent } from '../../model/events/event-encoding.ts';
import { hasEnded } from '../../model/runs/run.ts';
import {
  type ArchivableEvent,
  type ArchivableEvents,
  dedupIdOf,
  type EventGroup,
} from '../../store/events/archivable-events.ts';
import type { EventsInUse } from '../../store/events/events-in-use.ts';
import type { Position } from '../../store/redis/pagination.ts';
import type { ArchivableRuns, RunState } from '../../store/runs/archivable-runs.ts';

export interface PortionDeps {
  shipments: Shipments;
  archivableEvents: ArchivableEvents;
  archivableRuns: ArchivableRuns;
  eventsInUse: EventsInUse;
}

export interface Shipped {
  events: number;
  runs: number;
}

/** Of a partition and an environment, what was created before a time. */
export interface Scope {
  partition: number;
  env: string;
  /** Unix milliseconds. */
  before: number;
  hotMs: number;
}

/** Bytes and runs of one shipment. */
const RUN_BYTES = 4 * 1_048_576;
const RUNS_AT_ONCE = 500;
/** Of a run beside its output and memos. */
const RUN_OVERHEAD = 1_024;
/** Until it is looked again whether the runs of an event have ended. */
const IN_USE_MS = 60_000;

/** Archives events. Events with runs that are not archived yet leave the indexes of Redis, and a copy of each stays there. */
export async function archiveEvents(
  scope: Scope,
  found: readonly (Position & EventGroup)[],
  deps: PortionDeps,
  nowMs: number,
): Promise<Shipped> {
  const { archivableEvents, archivableRuns, eventsInUse, shipments } = deps;
  const { partition, env } = scope;
  const events = await archivableEvents.read(partition, env, found);
  const states = await archivableRuns.states(env, distinct(events.flatMap(({ runIds }) => runIds)));
  const due = dueRuns(events, states, scope.before);
  const lastRows = await shipAllButLast(env, due, deps);
  const rows = events.flatMap((event) => eventRowOf(event) ?? []);
  await shipments.ship({ events: rows, runs: lastRows });

  await archivableRuns.free(env, due);
  const shipped = new Set(due.map(({ id }) => id));
  const used = events.filter(({ runIds }) => runIds.some((id) => states.has(id) && !shipped.has(id)));
  for (const { id, record } of used) {
    if (record) await eventsInUse.add(env, id, writeEvent(record, record.source), nowMs + inUseMs(scope));
  }
  await eventsInUse.removeUnused(
    partition,
    env,
    events.map(({ id }) => id),
  );
  await archivableEvents.free(partition, events);
  return { events: rows.length, runs: due.length };
}

/** Archives the ended runs of an event that is archived already.
 *  @returns when to look again, Unix milliseconds; undefined: Redis has none of its runs any more */
export async function archiveRunsOf(
  scope: Scope,
  eventId: string,
  runIds: readonly string[],
  { archivableRuns, shipments }: Pick<PortionDeps, 'archivableRuns' | 'shipments'>,
  nowMs: number,
): Promise<{ runs: number; again: number | undefined }> {
  const { env, before, hotMs } = scope;
  const states = await archivableRuns.states(env, runIds);
  const due = dueRuns([{ id: eventId, runIds }], states, before);
  const rows = await shipAllButLast(env, due, { archivableRuns, shipments });
  await shipments.ship({ events: [], runs: rows });
  await archivableRuns.free(env, due);
  const rest = [...states.values()].filter((state) => !due.includes(state));
  if (rest.length === 0) return { runs: due.length, again: undefined };
  const ended = rest.filter(hasEnded).map(({ queuedAt }) => queuedAt + hotMs);
  return {
    runs: due.length,
    again: Math.min(nowMs + inUseMs(scope), ...ended.map((at) => Math.max(at, nowMs + 1_000))),
  };
}

/** Sooner where little time makes something old, as dev mode permits. */
function inUseMs({ hotMs }: Scope): number {
  return Math.min(IN_USE_MS, hotMs);
}

/** Runs that have ended and are old enough. The run of a batch is archived with its first event. */
function dueRuns(
  events: readonly { id: string; runIds: readonly string[] }[],
  states: ReadonlyMap<string, RunState>,
  before: number,
): RunState[] {
  return events.flatMap(({ id: eventId, runIds }) =>
    runIds.flatMap((id) => {
      const state = states.get(id);
      return state && hasEnded(state) && state.queuedAt < before && state.eventId === eventId ? [state] : [];
    }),
  );
}

/** Ships runs in portions of a bounded size.
 *  @returns the rows of the last portion */
async function shipAllButLast(
  env: string,
  runs: readonly RunState[],
  { archivableRuns, shipments }: Pick<PortionDeps, 'archivableRuns' | 'shipments'>,
): Promise<RunRow[]> {
  let rows: RunRow[] = [];
  for (const portion of portionsOf(runs)) {
    if (rows.length > 0) await shipments.ship({ events: [], runs: rows });
    const contents = await archivableRuns.read(
      env,
      portion.map(({ id }) => id),
    );
    rows = contents.map(runRowOf);
  }
  return rows;
}

function* portionsOf(runs: readonly RunState[]): Generator<RunState[]> {
  let portion: RunState[] = [];
  let bytes = 0;
  for (const run of runs) {
    const size = run.bytes + RUN_OVERHEAD;
    if (portion.length > 0 && (portion.length === RUNS_AT_ONCE || bytes + size > RUN_BYTES)) {
      yield portion;
      portion = [];
      bytes = 0;
    }
    portion.push(run);
    bytes += size;
  }
  if (portion.length > 0) yield portion;
}

/** undefined: an earlier round has removed the event, and died before it removed its entries from the indexes. */
function eventRowOf({ env, id, at, name, record, duplicates, decisions }: ArchivableEvent): EventRow | undefined {
  if (!record) return undefined;
  const { payload, source, requestId, index } = record;
  return { env, at, id, name, source, requestId, index, dedupId: dedupIdOf(payload), duplicates, decisions, payload };
}

function distinct(ids: readonly string[]): string[] {
  return [...new Set(ids)];
}
