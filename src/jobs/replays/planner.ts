/** Plans a replay: for each past event, the affected functions, and for each function whether a run starts. Read-only; a dry run and the
 *  replay itself share it. */

import type { History } from '../../history/history.ts';
import type { AppFunction } from '../../model/apps/app.ts';
import { FUNCTION_INVOKED, SCHEDULED_TIMER } from '../../model/events/event.ts';
import { TriggerTable } from '../../model/events/triggers.ts';
import { flowOptionsOf } from '../../model/flow-control/function-options.ts';
import type { PartitionedIds } from '../../model/partitions/partitioned-ids.ts';
import {
  type FormerStatus,
  formerStatusOf,
  type ReplayPosition,
  type ReplaySelection,
  replayRunIdOf,
  type SkipReason,
} from '../../model/replays/replay.ts';
import { hasEnded, type Run } from '../../model/runs/run.ts';
import { Composed } from '../../model/values/composed.ts';
import type { FoundEvent } from '../../store/events/events.ts';
import type { RunBrief } from '../../store/runs/run-lists.ts';
import type { FunctionTables } from '../functions/function-tables.ts';
import { type MatchingDeps, matchEvents } from '../matching/event-matcher.ts';
import { type EventSourceDeps, eventSourceOf } from './event-source.ts';
import { readWindow } from './event-windows.ts';

/** Maximum number of pairs of events and functions planned together. */
const PAIRS_MAX = 50_000;

/** An event and a function. */
export interface Pair {
  functionId: string;
  former: FormerStatus;
  formerRunId: string | undefined;
  start?: RunToReplay;
  skip?: { reason: SkipReason; runId?: string | undefined };
}

export interface RunToReplay {
  runId: string;
  fn: AppFunction;
  /** The event, or the first event of a batch. */
  eventId: string;
  requestId: string;
  batch?: readonly string[] | undefined;
  /** Whether a worker that died had started the run, and it has ended since. */
  hasEnded: boolean;
}

export interface PlannedEvent {
  event: Pick<FoundEvent, 'internal_id' | 'received_at' | 'name'>;
  /** Whether the function's former run has a selected status. */
  matched: boolean;
  /** Remaining pairs, by function ID. */
  pairs: Pair[];
}

export interface Plan {
  /** Oldest first. */
  events: PlannedEvent[];
  next: ReplayPosition;
  windowMs: number;
  /** Whether there are no more events. */
  isEnd: boolean;
}

export interface PlanRequest {
  /** `id` is that of the replay. */
  selection: ReplaySelection & { id: string };
  position: ReplayPosition;
  windowMs: number;
  limit: number;
  /** Run ID → event ID of runs registered by an earlier try, or started by an earlier part of the plan. */
  planned: ReadonlyMap<string, string>;
}

export interface PlannerDeps extends MatchingDeps {
  history: Pick<History, 'eventLists' | 'events' | 'runs' | 'runLists'>;
  functions: FunctionTables;
  search: EventSourceDeps['search'];
}

export class ReplayPlanner extends Composed<PlannerDeps> {
  async next({ selection, position, windowMs, limit, planned }: PlanRequest): Promise<Plan> {
    const { env, filter, before, functionIds } = selection;
    const functions = functionIds?.length ?? [...(await this.deps.functions.of(env)).all()].length;
    const few = Math.max(1, Math.min(limit, Math.floor(PAIRS_MAX / Math.max(1, functions))));
    const source = eventSourceOf(env, filter, { ...this.deps, ...this.deps.history });
    const window = await readWindow({ position, before, windowMs, limit: few }, source);
    const pairs = await this.#pairs(selection, window.events, planned);
    const events = window.events.map((event): PlannedEvent => {
      const all = pairs.get(event) ?? [];
      const isBegun = event.received_at === position.at && event.internal_id === position.id;
      const { functionId = '' } = position;
      const rest = isBegun ? all.filter((pair) => pair.functionId > functionId) : all;
      return { event, matched: all.length > 0, pairs: rest };
    });
    return { events, next: window.next, windowMs: window.windowMs, isEnd: window.next.at >= before };
  }

  async #pairs(
    selection: PlanRequest['selection'],
    events: readonly FoundEvent[],
    planned: ReadonlyMap<string, string>,
  ): Promise<Map<FoundEvent, Pair[]>> {
    const pairs = new Map<FoundEvent, Pair[]>(events.map((event) => [event, []]));
    if (events.length === 0) return pairs;
    const { env, functionIds } = selection;
    const table = await this.deps.functions.of(env);
    const ids = events.map(({ internal_id }) => internal_id);
    const [briefs, matches] = await Promise.all([
      this.deps.history.runLists.briefsByEvent(env, ids, 'throw'),
      this.#matches(env, events, functionIds ? onlyOf(table, functionIds) : table),
    ]);
    const batchRuns = await this.#runsOfBatches(env, table, briefs.flat());
    const seen = new Map(planned);
    for (const [i, event] of events.entries()) {
      const matching = matches.get(event.internal_id) ?? NO_MATCHES;
      const wanted = functionIds ?? [...matching.keys()];
      for (const functionId of [...wanted].sort()) {
        const runs = (briefs[i] ?? []).filter((run) => run.functionId === functionId);
        const known = { fn: table.find(functionId), match: matching.get(functionId), runs, batchRuns, seen };
        const pair = pairOf(this.deps.ids, selection, event, functionId, known);
        if (pair) pairs.get(event)?.push(pair);
      }
    }
    return pairs;
  }

  /** The result is keyed by event ID and function ID. */
  async #matches(env: string, events: readonly FoundEvent[], table: TriggerTable): Promise<Map<string, Matches>> {
    const listened = events
      .filter(({ name, source }) => table.listeners(name, source).size > 0)
      .map(({ internal_id }) => internal_id);
    const envelopes = await this.deps.history.events.envelopes(env, listened);
    const found = await matchEvents(
      [...envelopes.values()].map((event) => ({ event })),
      new Map([[env, table]]),
      this.deps,
    );
    const matches = new Map<string, Matches>();
    const of = (eventId: string) => {
      const ofEvent = matches.get(eventId) ?? new Map();
      matches.set(eventId, ofEvent);
      return ofEvent;
    };
    for (const { eventId, functionId, reason } of found.decisions) of(eventId).set(functionId, reason as Match);
    for (const { event, fn } of found.proposals) of(event.internalId).set(fn.id, 'met');
    return matches;
  }

  /** Reads the runs of functions with batches: only a run names the events of its batch. */
  async #runsOfBatches(env: string, table: TriggerTable, briefs: readonly RunBrief[]): Promise<Map<string, Run>> {
    const ids = briefs.filter(({ functionId }) => takesBatches(table.find(functionId))).map(({ id }) => id);
    const runs = ids.length === 0 ? [] : await this.deps.history.runs.readMany(env, [...new Set(ids)]);
    return new Map(runs.map((run) => [run.id, run]));
  }
}

type Match = 'met' | 'paused' | 'not_evaluated';
type Matches = Map<string, Match>;
const NO_MATCHES: Matches = new Map();

interface Known {
  fn: AppFunction | undefined;
  /** undefined if the triggers do not match the event. */
  match: Match | undefined;
  /** Runs of this event and function, in the order of creation. */
  runs: readonly RunBrief[];
  batchRuns: ReadonlyMap<string, Run>;
  /** Like `planned`; the plan adds its own runs. */
  seen: Map<string, string>;
}

/** @returns undefined if its former run has another status than selected */
function pairOf(
  ids: PartitionedIds,
  { id, statuses }: PlanRequest['selection'],
  { internal_id: eventId, name, request_id }: FoundEvent,
  functionId: string,
  { fn, match, runs, batchRuns, seen }: Known,
): Pair | undefined {
  const isOwn = (run: RunBrief) =>
    run.id === replayRunIdOf(ids, id, eventId, functionId) || batchRuns.get(run.id)?.replayId === id;
  const own = runs.find(isOwn);
  const latest = runs.filter((run) => !isOwn(run)).at(-1);
  const former = latest ? formerStatusOf(latest) : 'none';
  const skip = (reason: SkipReason, runId?: string): Pair => ({
    functionId,
    former: former ?? 'none',
    formerRunId: latest?.id,
    skip: { reason, runId },
  });
  if (former === undefined) return skip('run_active', latest?.id);
  if (!statuses.includes(former)) return undefined;
  if (!fn || fn.archived) return skip('function_archived');
  if (fn.pausedAt !== undefined) return skip('function_paused');
  if (match === 'not_evaluated') return skip('not_evaluated');
  if (match === undefined && !(latest && isDirect(name))) return skip('not_matching');
  const formerRun = latest && batchRuns.get(latest.id);
  const { eventId: firstId, batch, requestId } = formerRun?.batch ? formerRun : { eventId, requestId: request_id };
  const runId = replayRunIdOf(ids, id, firstId, functionId);
  const startedFor = seen.get(runId);
  if (startedFor === undefined ? own !== undefined : startedFor !== eventId) return skip('already_replayed', runId);
  seen.set(runId, eventId);
  const hasRunEnded = own !== undefined && hasEnded(own);
  const start = { runId, fn, eventId: firstId, requestId, batch, hasEnded: hasRunEnded };
  return { functionId, former, formerRunId: latest?.id, start };
}

/** Whether the event addresses one function, regardless of triggers. */
function isDirect(name: string): boolean {
  return name === FUNCTION_INVOKED || name === SCHEDULED_TIMER;
}

function takesBatches(fn: AppFunction | undefined): boolean {
  return fn !== undefined && flowOptionsOf(fn)?.batch !== undefined;
}

/** A table of only these functions, so that no other expressions are evaluated. */
function onlyOf(table: TriggerTable, functionIds: readonly string[]): TriggerTable {
  return new TriggerTable(functionIds.flatMap((id) => table.find(id) ?? []));
}
