/** A portion of old events on its way from Redis to the archive, with their ended runs: read, shipped, and removed from Redis only when
 *  the archive has it. After a crash between any two steps, all of it is repeated. */
import type { EventRow } from '../../archive/rows.ts';
import { runRowOf } from '../../archive/run-row.ts';
import type { Shipments } from '../../archive/shipments.ts';
import { writeEvent } from '../../model/events/event-encoding.ts';
import { hasEnded } from '../../model/runs/run.ts';
import { sum } from '../../model/values/sum.ts';
import type { ArchivableEvent, EventGroup } from '../../store/events/archivable-events.ts';
import type { Position } from '../../store/redis/pagination.ts';
import type { KeptRun, RunContents } from '../../store/runs/archivable-runs.ts';
import { PARTS } from '../../store/runs/run-parts.ts';
import type { Store } from '../../store/store.ts';

export interface PortionDeps extends Pick<Store, 'archivableEvents' | 'archivableRuns' | 'eventsInUse'> {
  shipments: Shipments;
}

export interface Shipped {
  events: number;
  runs: number;
}

/** Data of a partition and an environment from before a time. */
export interface Scope {
  partition: number;
  env: string;
  /** Unix milliseconds. */
  before: number;
  hotMs: number;
}

/** Maximum number of runs per shipment. */
const RUNS_AT_ONCE = 1_000;
const RUN_BYTES = 4 * 1_048_576;
/** Interval of checks whether the runs of an event have ended. */
const IN_USE_MS = 60_000;
const LOOK_AGAIN_MS = 1_000;

/** Archives events. If some runs of an event are not archived yet, the event leaves the indexes, and a copy stays in Redis. */
export async function archiveEvents(
  scope: Scope,
  found: readonly (Position & EventGroup)[],
  deps: PortionDeps,
  nowMs: number,
): Promise<Shipped> {
  const { archivableEvents, eventsInUse } = deps;
  const { partition, env } = scope;
  const events = await archivableEvents.read(partition, env, found);
  const rows = events.flatMap((event) => eventRowOf(event) ?? []);
  const { archived, kept } = await ship(scope, events, rows, deps);
  for (const { id, record, runIds } of events) {
    const isUsed = runIds.some((runId) => kept.has(runId) && !archived.has(runId));
    if (isUsed && record) {
      await eventsInUse.add(env, id, writeEvent(record, record.source), nowMs + inUseMs(scope));
    }
  }
  await archivableEvents.freeParts(partition, events);
  await eventsInUse.remove(
    partition,
    env,
    events.map(({ id }) => id),
  );
  await archivableEvents.freeIndexes(partition, events);
  return { events: rows.length, runs: archived.size };
}

/** Archives the ended runs of an archived event.
 *  @returns `again`: time of the next check, Unix milliseconds; undefined if Redis no longer has any of its runs */
export async function archiveRunsOf(
  scope: Scope,
  event: { id: string; runIds: readonly string[] },
  deps: Pick<PortionDeps, 'archivableRuns' | 'shipments'>,
  nowMs: number,
): Promise<{ runs: number; again: number | undefined }> {
  const { archived, kept } = await ship(scope, [event], [], deps);
  const rest = [...kept.values()].filter(({ id }) => !archived.has(id));
  if (rest.length === 0) return { runs: archived.size, again: undefined };
  const ended = rest.filter(hasEnded).map(({ queuedAt }) => Math.max(queuedAt + scope.hotMs, nowMs + LOOK_AGAIN_MS));
  return { runs: archived.size, again: Math.min(nowMs + inUseMs(scope), ...ended) };
}

/** More often if HOT_HOURS is short, as dev mode permits. */
function inUseMs({ hotMs }: Scope): number {
  return Math.min(IN_USE_MS, hotMs);
}

interface ShippedRuns {
  /** IDs of the archived runs. */
  archived: Set<string>;
  /** Runs that stay in Redis. */
  kept: Map<string, KeptRun>;
}

/** Ships event rows together with the ended runs of these events, and removes the runs from Redis. Many runs go in several shipments, the
 *  events with the last one. */
async function ship(
  { env, before }: Scope,
  events: readonly { id: string; runIds: readonly string[] }[],
  rows: readonly EventRow[],
  { archivableRuns, shipments }: Pick<PortionDeps, 'archivableRuns' | 'shipments'>,
): Promise<ShippedRuns> {
  const runs = events.flatMap(({ id: eventId, runIds }) => runIds.map((id) => ({ id, eventId })));
  const shipped: ShippedRuns = { archived: new Set(), kept: new Map() };
  let due: RunContents[] = [];
  let bytes = 0;
  const send = async (eventRows: readonly EventRow[]) => {
    const runRows = due.map(runRowOf);
    await shipments.ship({ events: eventRows, runs: runRows });
    const staying = new Set(await archivableRuns.free(env, due));
    for (const { id, at, status } of runRows) {
      // The next round ships it again, with its new metadata and log.
      if (staying.has(id)) shipped.kept.set(id, { id, status, queuedAt: at });
      else shipped.archived.add(id);
    }
    due = [];
    bytes = 0;
  };
  for (let done = 0; done < runs.length; ) {
    const portion = await archivableRuns.read(env, runs.slice(done, done + RUNS_AT_ONCE), before);
    done += portion.count;
    due.push(...portion.due);
    for (const run of portion.kept) shipped.kept.set(run.id, run);
    bytes += sum(portion.due, sizeOf);
    if (done < runs.length && (due.length >= RUNS_AT_ONCE || bytes > RUN_BYTES)) await send([]);
  }
  await send(rows);
  return shipped;
}

function sizeOf(run: RunContents): number {
  const texts = [run.fields, ...PARTS.map((part) => run[part])].flatMap((contents) => Object.values<string>(contents));
  return sum(texts, (text) => text.length);
}

/** undefined: an earlier round removed the event, and died before it removed the index entries. */
function eventRowOf({
  env,
  id,
  at,
  name,
  record,
  dedupId,
  duplicates,
  decisions,
}: ArchivableEvent): EventRow | undefined {
  if (!record) return undefined;
  const { payload, source, requestId, index } = record;
  return { env, at, id, name, source, requestId, index, dedupId, duplicates, decisions, payload };
}
