/** Explains why each function that listens to an event did or did not run on it. Runs and stored decisions explain most; the rest is derived on
 *  request from the event and the triggers at that time. */
import { setImmediate } from 'node:timers/promises';
import type { History } from '../../history/history.ts';
import type { AppFunction } from '../../model/apps/app.ts';
import { type PastTriggers, triggersSince } from '../../model/apps/trigger-history.ts';
import { type EventRecord, FUNCTION_INVOKED, type Source, triggerEventOf } from '../../model/events/event.ts';
import type { TriggerTable } from '../../model/events/triggers.ts';
import type { DecisionReason } from '../../model/flow-control/decision.ts';
import { functionDigest, type StoredDecision } from '../../model/flow-control/decision-encoding.ts';
import { flowOptionsOf } from '../../model/flow-control/function-options.ts';
import { Composed } from '../../model/values/composed.ts';
import { isJsonObject } from '../../model/values/json.ts';
import type { TriggerHistory } from '../../store/apps/trigger-history.ts';
import type { RunBrief } from '../../store/runs/run-lists.ts';
import type { FunctionTables } from '../functions/function-tables.ts';
import { ExpressionReader, type ReadExpression, type UnreadKey } from './expression-reader.ts';

/** Allows for clock differences between web processes, and for the time that a registration takes. */
const SKEW_MS = 2_000;
const TURN_MS = 10;

/** `merged`: another run covers the event. `pending`: the event is being ingested, or waits in a lane. `unknown`: no
 *  run or decision is stored, although the triggers were met. */
export const OUTCOMES = ['ran', 'skipped', 'merged', 'pending', 'unknown'] as const;

const OUTCOME_BY_REASON: Partial<Record<DecisionReason, (typeof OUTCOMES)[number]>> = {
  batched: 'merged',
  debounced: 'merged',
  in_lane: 'pending',
  parked: 'pending',
};

export interface ExplainedDecision {
  functionId: string;
  outcome: (typeof OUTCOMES)[number];
  reason?: DecisionReason | 'not_registered';
  /** Runs that the event started; for `merged` and repeats, the run that covers it. */
  runIds: string[];
  until?: number;
  /** Set if the triggers decided. */
  expressions?: ReadExpression[];
  /** Whether the deciding triggers have changed since. */
  changedSince?: boolean;
  /** Keys of the function's flow control that could not be evaluated and count as empty. */
  keysNotEvaluated?: UnreadKey[];
}

export interface Page {
  limit: number;
  /** ID of the last function of the previous page. */
  cursor?: string | undefined;
}

/** Known facts about one event and function. */
interface Known {
  functionId: string;
  decision?: StoredDecision | undefined;
  runs: RunBrief[];
}

export class ExplainedDecisions extends Composed<{
  events: History['events'];
  functions: FunctionTables;
  decisions: History['decisions'];
  runLists: History['runLists'];
  triggerHistory: TriggerHistory;
}> {
  /** Sorted by function ID; `next`: more functions follow this ID. */
  async of(
    env: string,
    event: EventRecord,
    source: Source,
    { limit, cursor = '' }: Page,
  ): Promise<{ decisions: ExplainedDecision[]; next: string | undefined }> {
    const { events, functions, decisions, runLists, triggerHistory } = this.deps;
    const id = event.internal_id;
    // Checked first: an ingested event has its runs and decisions.
    const isIngested = await events.isIngested(env, event.name, id);
    const [table, stored, [runs = []]] = await Promise.all([
      functions.of(env),
      decisions.of(env, id),
      runLists.briefsByEvent(env, [id]),
    ]);
    const all = concerned(event, source, table, stored, runs);
    const rest = all.filter(({ functionId }) => functionId > cursor);
    const page = rest.slice(0, limit);
    const ids = page.map(({ functionId }) => functionId);
    const histories = await triggerHistory.read(env, ids);
    const reader = new ExpressionReader(triggerEventOf(event, source), event.received_at);
    const explained: ExplainedDecision[] = [];
    let turnStartedAt = performance.now();
    for (const [i, known] of page.entries()) {
      const fn = table.find(known.functionId);
      const history = histories[i] ?? [];
      explained.push(explain(known, { event, source, fn, history, isIngested, reader }));
      if (performance.now() - turnStartedAt > TURN_MS) {
        await setImmediate();
        turnStartedAt = performance.now();
      }
    }
    return { decisions: explained, next: rest.length > limit ? page.at(-1)?.functionId : undefined };
  }
}

/** The functions that listen now, and functions with stored runs or decisions. For an invocation: the invoked function instead of the listening
 *  functions. */
function concerned(
  event: EventRecord,
  source: Source,
  table: TriggerTable,
  stored: readonly StoredDecision[],
  runs: readonly RunBrief[],
): Known[] {
  const listening =
    event.name === FUNCTION_INVOKED
      ? invokedIn(event, table)
      : [...table.listeners(event.name, source)].map(({ id }) => id);
  const known = new Map<string, Known>();
  const of = (functionId: string) => {
    const facts = known.get(functionId) ?? { functionId, runs: [] };
    known.set(functionId, facts);
    return facts;
  };
  for (const id of listening) of(id);
  for (const run of runs) of(run.functionId).runs.push(run);
  const names = namesOf(stored, known.keys(), table);
  for (const decision of stored) {
    const functionId = names.get(decision.digest);
    if (functionId !== undefined) of(functionId).decision = decision;
  }
  return [...known.values()].sort((a, b) => (a.functionId < b.functionId ? -1 : 1));
}

function invokedIn({ data }: EventRecord, table: TriggerTable): string[] {
  const id = isJsonObject(data._inngest) ? data._inngest.fn_id : undefined;
  return typeof id === 'string' && table.find(id) ? [id] : [];
}

/** Function IDs by digest. */
function namesOf(stored: readonly StoredDecision[], likely: Iterable<string>, table: TriggerTable) {
  const names = new Map<string, string>();
  const missing = new Set(stored.map(({ digest }) => digest));
  const find = (ids: Iterable<string>) => {
    for (const id of ids) {
      if (missing.size === 0) return;
      const digest = functionDigest(id);
      if (missing.delete(digest)) names.set(digest, id);
    }
  };
  find(likely);
  find(table.all().map(({ id }) => id));
  return names;
}

interface Context {
  event: EventRecord;
  source: Source;
  fn: AppFunction | undefined;
  history: readonly PastTriggers[];
  isIngested: boolean;
  reader: ExpressionReader;
}

function explain({ functionId, decision, runs }: Known, context: Context): ExplainedDecision {
  const { fn, isIngested, reader } = context;
  const options = fn && flowOptionsOf(fn);
  const keysNotEvaluated = options ? reader.keysNotEvaluated(options) : [];
  const keys = keysNotEvaluated.length > 0 && { keysNotEvaluated };
  if (runs.length > 0) return { functionId, outcome: 'ran', runIds: runs.map(({ id }) => id), ...keys };
  if (decision) {
    const { reason, runId, until } = decision;
    const outcome = OUTCOME_BY_REASON[reason] ?? 'skipped';
    const runIds = runId === undefined ? [] : [runId];
    return { functionId, outcome, reason, runIds, ...(until !== undefined && { until }), ...keys };
  }
  if (!isIngested) return { functionId, outcome: 'pending', runIds: [] };
  return { functionId, runIds: [], ...byTriggers(context) };
}

/** The triggers that did not match: the first ones since the event's receipt, which were in force when it was ingested. */
function byTriggers({ event, source, fn, history, reader }: Context): Omit<ExplainedDecision, 'functionId' | 'runIds'> {
  const fromReceipt = triggersSince(history, fn, event.received_at);
  const before = triggersSince(history, fn, event.received_at - SKEW_MS).slice(0, -fromReceipt.length);
  for (const triggers of [...fromReceipt, ...before]) {
    if (triggers === undefined) continue;
    const changedSince = triggers !== fromReceipt.at(-1);
    const found = triggers === null ? undefined : reader.triggers(triggers, event.name, source);
    if (triggers === null || found === 'not_listening') return { outcome: 'skipped', reason: 'not_registered' };
    if (found === undefined || found === 'met') continue;
    const reason = found.some(({ result }) => result !== 'false') ? 'not_evaluated' : 'expression_false';
    return { outcome: 'skipped', reason, expressions: found, changedSince };
  }
  return { outcome: 'unknown' };
}
