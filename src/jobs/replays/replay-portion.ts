/** One portion of a replay: plans the next events, registers as many runs as the rate allows, starts them, and saves the position. After
 *  a worker's death the portion is repeated. */
import {
  FAILED_TO_START,
  type Replay,
  type ReplayDefinition,
  type ReplayPosition,
  type ReplayResult,
  SKIPPED,
} from '../../model/replays/replay.ts';
import { countsOf } from '../../model/values/counting.ts';
import type { BulkOperations } from '../../store/bulk/bulk-operations.ts';
import type { Store } from '../../store/store.ts';
import { FIRST_WINDOW_MS } from './event-windows.ts';
import type { PlannedEvent, ReplayPlanner } from './planner.ts';
import { type PortionStarterDeps, type StartingPair, startPortion } from './portion-starter.ts';

/** Number of portions per second of runs. */
const PORTIONS_PER_SECOND = 4;
/** Events in the first read of a portion, and maximum per read. */
const FIRST_LIMIT = 20;
const LIMIT_MAX = 200;
/** A portion ends after this many events or this time, even if it could start more runs. */
const EVENTS_MAX = 2_000;
const TURN_MS = 1_000;
/** An interrupted portion may read further, until it finds all registered runs. */
const INTERRUPTED_FACTOR = 5;
/** Factor of the pauses between portions, which makes portions slightly faster than the rate; the registration of runs enforces it. */
const AHEAD = 0.9;

export interface PortionDeps extends PortionStarterDeps, Pick<Store, 'replayedRuns'> {
  planner: ReplayPlanner;
  replays: BulkOperations<ReplayDefinition, ReplayPosition>;
}

/** A pair of the plan, or the end of an event. */
interface Item {
  planned: PlannedEvent;
  pair?: PlannedEvent['pairs'][number];
}

interface Planned {
  items: Item[];
  next: ReplayPosition;
  windowMs: number;
  isEnd: boolean;
}

/** @returns milliseconds until the next portion; undefined: there is no next portion */
export async function doReplayPortion(
  replay: Replay,
  deps: PortionDeps,
  signal: AbortSignal,
): Promise<number | undefined> {
  const { replays, replayedRuns } = deps;
  const { rate } = replay.definition;
  const begunAt = performance.now();
  const registered = await replayedRuns.registered(replay);
  const most = Math.max(1, Math.ceil(rate / PORTIONS_PER_SECOND));
  const plan = await planPortion(replay, registered, most, deps, signal);
  const starting = plan.items.flatMap(({ planned, pair }) => (isStart(pair) ? [{ planned, pair }] : [])).slice(0, most);
  const runs = starting.map(({ planned, pair }) => ({ runId: pair.start.runId, eventId: planned.event.internal_id }));
  const allowed = runs.length === 0 ? { count: 0, untilNextSecondMs: 0 } : await replayedRuns.register(replay, runs);
  if (!allowed) return 0;
  const started = starting.slice(0, allowed.count).map(({ pair }) => pair);
  const failed = await startPortion(replay, started, deps);
  const cut = cutAt(plan.items, started.length);
  const done = plan.items.slice(0, cut);
  const results = done.flatMap(({ planned, pair }) => (pair ? [resultOf(planned, pair, failed)] : []));
  const left = new Map(registered);
  for (const { start } of started) left.delete(start.runId);
  const interrupted = await settle(replay, left, deps);
  const isAll = cut === plan.items.length;
  const elapsedMs = performance.now() - begunAt;
  const restMs = (1_000 * AHEAD * started.length) / rate - elapsedMs;
  const waitsForRate = allowed.count < runs.length;
  const all = [...interrupted.results, ...results];
  await replays.save(replay, {
    position: isAll ? plan.next : (positionOf(done.at(-1)) ?? replay.position),
    numbers: { window_ms: plan.windowMs },
    counts: {
      looked_at: done.filter(({ pair }) => !pair).length,
      matched: done.filter(({ pair, planned }) => !pair && planned.matched).length,
      worked_ms: Math.round(elapsedMs + Math.max(0, restMs)),
      ...countsIn(all),
    },
    results: all.map(withSkip),
    gone: [...interrupted.gone, ...[...failed.keys()].map(({ start }) => start.runId)],
    ...(isAll && plan.isEnd && { doneAt: Date.now() }),
  });
  return Math.max(0, waitsForRate ? allowed.untilNextSecondMs : restMs);
}

/** Settles a dead worker's portion without starting anything, because the replay no longer runs. @returns whether there was any */
export async function settleInterrupted(replay: Replay, deps: PortionDeps): Promise<boolean> {
  const registered = await deps.replayedRuns.registered(replay);
  if (registered.size === 0) return false;
  const { results, gone } = await settle(replay, registered, deps);
  const saved = await deps.replays.save(replay, { counts: countsIn(results), results: results.map(withSkip), gone });
  return saved !== undefined;
}

function countsIn(results: readonly ReplayResult[]): Record<string, number> {
  return countsOf(
    results.map(({ outcome, reason }) => {
      return outcome === 'started' ? 'started' : (outcome === 'skipped' ? SKIPPED : FAILED_TO_START) + reason;
    }),
  );
}

function withSkip(result: ReplayResult) {
  return { result, isSkipped: result.outcome === 'skipped' };
}

async function planPortion(
  replay: Replay,
  registered: ReadonlyMap<string, string>,
  most: number,
  { planner }: PortionDeps,
  signal: AbortSignal,
): Promise<Planned> {
  const begunAt = performance.now();
  const items: Item[] = [];
  const planned = new Map(registered);
  const missing = new Set(registered.keys());
  let starts = 0;
  let lookedAt = 0;
  let next = replay.position;
  let windowMs = replay.counts.window_ms ?? FIRST_WINDOW_MS;
  let isEnd = next.at >= replay.definition.before;
  const mayLookFurther = () => {
    const factor = missing.size > 0 ? INTERRUPTED_FACTOR : 1;
    if (lookedAt >= factor * EVENTS_MAX || performance.now() - begunAt >= factor * TURN_MS) return false;
    return missing.size > 0 || (starts < most && !signal.aborted);
  };
  for (let limit = Math.max(FIRST_LIMIT, Math.min(2 * most, LIMIT_MAX)); !isEnd && mayLookFurther(); ) {
    const part = await planner.next({ selection: replay.definition, position: next, windowMs, limit, planned });
    for (const plannedEvent of part.events) {
      for (const pair of plannedEvent.pairs) {
        items.push({ planned: plannedEvent, pair });
        if (!isStart(pair)) continue;
        starts++;
        planned.set(pair.start.runId, plannedEvent.event.internal_id);
        missing.delete(pair.start.runId);
      }
      items.push({ planned: plannedEvent });
    }
    lookedAt += part.events.length;
    ({ next, windowMs, isEnd } = part);
    limit = Math.min(2 * limit, LIMIT_MAX);
  }
  return { items, next, windowMs, isEnd };
}

/** Number of items to complete when this many runs are started: all before the next run. */
function cutAt(items: readonly Item[], started: number): number {
  let starts = 0;
  const cut = items.findIndex(({ pair }) => isStart(pair) && ++starts > started);
  return cut === -1 ? items.length : cut;
}

function positionOf(last: Item | undefined): ReplayPosition | undefined {
  if (!last) return undefined;
  const { internal_id: id, received_at: at } = last.planned.event;
  return { at, id, ...(last.pair && { functionId: last.pair.functionId }) };
}

/** Settles runs that a dead worker registered and that the plan no longer starts, because a function has changed since. */
async function settle(
  { env }: Replay,
  left: ReadonlyMap<string, string>,
  { runs }: PortionDeps,
): Promise<{ results: ReplayResult[]; gone: string[] }> {
  const existing = await runs.readMany(env, [...left.keys()]);
  const results = existing.map(
    ({ id, functionId, retryOf }): ReplayResult => ({
      eventId: left.get(id) as string,
      functionId,
      outcome: 'started',
      runId: id,
      ...(retryOf && { retryOf }),
    }),
  );
  const found = new Set(existing.map(({ id }) => id));
  return { results, gone: [...left.keys()].filter((id) => !found.has(id)) };
}

function isStart(pair: Item['pair']): pair is StartingPair {
  return pair?.start !== undefined;
}

function resultOf(
  { event: { internal_id: eventId } }: PlannedEvent,
  pair: NonNullable<Item['pair']>,
  failed: ReadonlyMap<StartingPair, ReplayResult['reason']>,
): ReplayResult {
  const { functionId, formerRunId } = pair;
  const former = formerRunId !== undefined && { retryOf: formerRunId };
  const base = { eventId, functionId, ...former };
  if (isStart(pair)) {
    const reason = failed.get(pair);
    if (reason) return { ...base, outcome: 'failed', reason };
    return { ...base, outcome: 'started', runId: pair.start.runId };
  }
  const { reason, runId } = pair.skip as NonNullable<typeof pair.skip>;
  return { ...base, outcome: 'skipped', reason, ...(runId !== undefined && { runId }) };
}
