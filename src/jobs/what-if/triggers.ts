/** Compares the triggers of a candidate with those of the app, on a sample of the events that were received. Starts nothing. */
import type { History } from '../../history/history.ts';
import type { AppFunction } from '../../model/apps/app.ts';
import type { TriggerTable } from '../../model/events/triggers.ts';
import { nextTick } from '../../model/schedules/ticks.ts';
import type { SchedulesOfFunction, TriggerReport, TriggersOfFunction } from '../../model/what-if/what-if.ts';
import { type Bucket, intervalsOf } from '../../store/events/event-counts.ts';
import { type FlowDeps, simulateFlows } from './flow.ts';
import { startedBy, Turn, tableOf } from './started-by.ts';

/** Maximum numbers of names: examined, and listened to by any of the functions, the newest first. */
const NAMES_READ = 1_000;
const NAMES_MAX = 50;
/** Maximum number of events per name, from all parts of the time range, so that a rush at its end does not hide the rest. */
const EVENTS_PER_NAME = 100;
const PARTS = 5;
const FUNCTIONS_MAX = 500;
const TIME_MS = 5_000;
const TICKS_MS = 2_000;
/** Number of parts of the time range, to find when events were most frequent. */
const RECEIPT_PARTS = 168;

export interface TriggersGiven {
  env: string;
  present: readonly AppFunction[];
  candidate: readonly AppFunction[];
  /** IDs of functions of the candidate that the service would refuse: their earlier registration stays. */
  refused: readonly string[];
  /** Unix milliseconds. */
  since: number;
  nowMs: number;
}

export interface TriggersDeps extends FlowDeps {
  eventCounts: Pick<History['eventCounts'], 'names' | 'histogram'>;
}

export async function compareTriggers(given: TriggersGiven, deps: TriggersDeps): Promise<TriggerReport> {
  const { env, since, nowMs } = given;
  const kept = given.present.filter(({ id }) => given.refused.includes(id));
  const tables = { present: tableOf(given.present), candidate: tableOf([...given.candidate, ...kept]) };
  const rows = rowsOf(given);
  const { names } = await deps.eventCounts.names(env, NAMES_READ, nowMs);
  const heard = names.filter(({ name, lastAt }) => lastAt >= since && listenersOf(name, tables).size > 0);
  const turn = new Turn(TIME_MS);
  const receipts = new Map<string, readonly Bucket[]>();
  let [sampled, isCut] = [0, heard.length > NAMES_MAX || names.length === NAMES_READ];
  for (const { name } of heard.slice(0, NAMES_MAX)) {
    if (turn.isOver) {
      isCut = true;
      break;
    }
    const own = [...listenersOf(name, tables)].map((id) => rows.get(id) as TriggersOfFunction);
    const { buckets } = await deps.eventCounts.histogram({ env, name, from: since, to: nowMs, buckets: RECEIPT_PARTS });
    receipts.set(name, buckets);
    const received = buckets.reduce((sum, { count }) => sum + count, 0);
    for (const row of own) row.received += received;
    let room = EVENTS_PER_NAME;
    for (const [i, { from, to }] of intervalsOf({ from: since, to: nowMs, buckets: PARTS }).entries()) {
      const limit = Math.ceil(room / (PARTS - i));
      const query = { env, name, timeRange: { after: from, before: to }, limit };
      for (const event of (await deps.eventLists.list(query, nowMs)).events) {
        sampled++;
        room--;
        for (const row of own) row.sampled++;
        for (const side of ['present', 'candidate'] as const) {
          for (const id of await startedBy(event, tables[side], turn)) (rows.get(id) as TriggersOfFunction)[side]++;
        }
      }
    }
  }
  const sides = sidesOf(given, kept);
  const tickTurn = new Turn(TICKS_MS);
  for (const [id, row] of rows) {
    const schedules = await compareSchedules(
      sides.present.get(id),
      sides.candidate.get(id),
      { since, nowMs },
      tickTurn,
    );
    if (schedules) row.schedules = schedules;
  }
  const { flows, isCut: isFlowCut } = await simulateFlows({ env, ...sides, receipts, nowMs }, deps);
  for (const [id, flow] of flows) (rows.get(id) as TriggersOfFunction).flow = flow;
  const functions = [...rows.values()].filter(
    (row) => row.change !== undefined || row.sampled > 0 || row.flow || row.schedules,
  );
  functions.sort((a, b) => weightOf(b) - weightOf(a));
  return { since, sampled, isCut, isFlowCut, functions: functions.slice(0, FUNCTIONS_MAX) };
}

/** Functions of both sides, keyed by ID. Functions that are refused stay as they are. */
function sidesOf({ present, candidate }: TriggersGiven, kept: readonly AppFunction[]) {
  const byId = (all: readonly AppFunction[]) => new Map(all.map((fn) => [fn.id, fn]));
  return { present: byId(present), candidate: byId([...candidate, ...kept]) };
}

function weightOf({ change, flow, schedules, present, candidate }: TriggersOfFunction): number {
  return (change || flow || schedules ? 1_000_000 : 0) + Math.abs(candidate - present);
}

type Tables = Record<'present' | 'candidate', TriggerTable>;

function listenersOf(name: string, { present, candidate }: Tables): Set<string> {
  return new Set([...present.listeners(name), ...candidate.listeners(name)].map(({ id }) => id));
}

function rowsOf({ present, candidate, refused }: TriggersGiven): Map<string, TriggersOfFunction> {
  const [before, after] = [present, candidate].map((all) => new Set(all.map(({ id }) => id))) as [
    Set<string>,
    Set<string>,
  ];
  const changeOf = (id: string) => {
    if (refused.includes(id)) return 'refused' as const;
    if (before.has(id)) return after.has(id) ? undefined : ('removed' as const);
    return 'added' as const;
  };
  const ids = [...new Set([...before, ...after, ...refused])].sort();
  return new Map(
    ids.map((id) => {
      const change = changeOf(id);
      return [id, { id, ...(change && { change }), received: 0, sampled: 0, present: 0, candidate: 0 }];
    }),
  );
}

/** More than the number of minutes in a week. */
const TICKS_MAX = 11_000;
const SHOWN = 5;

/** Compares the ticks of both sides in the same period. Pauses are left out.
 *  @returns undefined if they are the same */
export async function compareSchedules(
  present: AppFunction | undefined,
  candidate: AppFunction | undefined,
  { since, nowMs }: { since: number; nowMs: number },
  turn: Turn,
): Promise<SchedulesOfFunction | undefined> {
  const [before, after] = [cronsOf(present), cronsOf(candidate)];
  if (before.length === after.length && before.every((cron) => after.includes(cron))) return undefined;
  const ticks = async (crons: readonly string[]) => {
    const found = new Set<number>();
    for (const cron of crons) {
      let at = nextTick(cron, since);
      while (at !== undefined && at <= nowMs && found.size < TICKS_MAX && !turn.isOver) {
        found.add(at);
        at = nextTick(cron, at);
        await turn.yieldIfLong();
      }
    }
    return found;
  };
  const [now, then] = [await ticks(before), await ticks(after)];
  const shown = (some: Set<number>, others: Set<number>) => {
    const own = [...some].filter((at) => !others.has(at)).sort((a, b) => b - a);
    return { count: own.length, latest: own.slice(0, SHOWN) };
  };
  return {
    present: now.size,
    candidate: then.size,
    more: shown(then, now),
    fewer: shown(now, then),
    isCut: now.size >= TICKS_MAX || then.size >= TICKS_MAX || turn.isOver,
  };
}

function cronsOf(fn: AppFunction | undefined): string[] {
  return [...new Set(fn?.triggers.flatMap(({ cron }) => cron ?? []))];
}
