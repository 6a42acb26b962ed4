/** Simulates flow control for a what-if: stored events of functions whose limits or triggers differ, under the limits of both sides. */
import type { History } from '../../history/history.ts';
import type { AppFunction } from '../../model/apps/app.ts';
import { EVALUATION_UNITS } from '../../model/expressions/expression.ts';
import { flowOptionsOf } from '../../model/flow-control/function-options.ts';
import { keyTextOf } from '../../model/flow-control/key-text.ts';
import { simulateFlow } from '../../model/what-if/flow/simulate-flow.ts';
import type { SimulatedCall, SimulatedEvent } from '../../model/what-if/flow/simulated-flow.ts';
import type { FlowReport } from '../../model/what-if/what-if.ts';
import type { Bucket } from '../../store/events/event-counts.ts';
import type { FoundEvent } from '../../store/events/events.ts';
import { FlowKeys, type KeySource } from '../flow-control/flow-keys.ts';
import { startedBy, Turn, tableOf } from './started-by.ts';

const FUNCTIONS_MAX = 20;
const EVENTS_MAX = 2_000;
const PAGE = 100;
const TIME_MS = 5_000;
const RUNS_MEASURED = 20;
const CALLS_MAX = 20;

export interface FlowDeps {
  eventLists: Pick<History['eventLists'], 'list'>;
  runLists: Pick<History['runLists'], 'list'>;
  runParts: Pick<History['runParts'], 'read'>;
}

export interface FlowGiven {
  env: string;
  present: ReadonlyMap<string, AppFunction>;
  candidate: ReadonlyMap<string, AppFunction>;
  /** Number of received events in equal parts of the time range, by name. */
  receipts: ReadonlyMap<string, readonly Bucket[]>;
  nowMs: number;
}

/** `isCut`: some were left out. */
export async function simulateFlows(given: FlowGiven, deps: FlowDeps) {
  const turn = new Turn(TIME_MS);
  const flows = new Map<string, FlowReport>();
  const ids = differing(given);
  for (const id of ids.slice(0, FUNCTIONS_MAX)) {
    if (turn.isOver) break;
    const flow = await flowOf(id, given, turn, deps);
    if (flow) flows.set(id, flow);
  }
  return { flows, isCut: ids.length > FUNCTIONS_MAX || turn.isOver };
}

/** IDs of functions that the candidate has with other limits or triggers. A removed function has no queue in the candidate. */
function differing({ present, candidate }: FlowGiven): string[] {
  return [...candidate.values()].flatMap((fn) => {
    const before = present.get(fn.id);
    const [now, then] = [before, fn].map((version) => version && flowOptionsOf(version));
    if (!now && !then) return [];
    return before && JSON.stringify([now, before.triggers]) === JSON.stringify([then, fn.triggers]) ? [] : [fn.id];
  });
}

async function flowOf(id: string, given: FlowGiven, turn: Turn, deps: FlowDeps): Promise<FlowReport | undefined> {
  const sides = { present: given.present.get(id), candidate: given.candidate.get(id) };
  const known = Object.values(sides).filter((fn) => fn !== undefined);
  const names = [...given.receipts.keys()].filter((name) => known.some((fn) => tableOf([fn]).isTrigger(name)));
  const window = busiest(names.map((name) => given.receipts.get(name) as readonly Bucket[]));
  if (!window) return undefined;
  const events = await eventsIn(window, names, given, turn, deps);
  const courses = await coursesOf(given.env, id, deps);
  const simulated = async (fn: AppFunction | undefined) => {
    return fn && simulateFlow(await startingEvents(fn, given.env, events, turn), flowOptionsOf(fn), courses);
  };
  const [present, candidate] = [await simulated(sides.present), await simulated(sides.candidate)];
  const from = events.length < EVENTS_MAX ? window.from : (events[0]?.received_at ?? window.from);
  const both = { ...(present && { present }), ...(candidate && { candidate }) };
  return { from, to: window.to, measured: courses.length, ...both };
}

/** The busiest part of the period, with as many adjacent parts as can be read. */
function busiest(ofNames: readonly (readonly Bucket[])[]): { from: number; to: number } | undefined {
  const [first] = ofNames;
  if (!first) return undefined;
  const counts = first.map((_, i) => ofNames.reduce((sum, buckets) => sum + (buckets[i]?.count ?? 0), 0));
  const countAt = (i: number) => counts[i] ?? Number.POSITIVE_INFINITY;
  let low = counts.indexOf(Math.max(...counts));
  let high = low;
  let sum = countAt(low);
  if (sum === 0) return undefined;
  for (;;) {
    const next = countAt(low - 1) <= countAt(high + 1) ? low - 1 : high + 1;
    if (sum + countAt(next) > EVENTS_MAX) break;
    sum += countAt(next);
    [low, high] = [Math.min(low, next), Math.max(high, next)];
  }
  return { from: (first[low] as Bucket).from, to: (first[high] as Bucket).to };
}

/** Events in the order of their receipt; if there are more than fit, the latest. */
async function eventsIn(
  window: { from: number; to: number },
  names: readonly string[],
  { env, nowMs }: FlowGiven,
  turn: Turn,
  { eventLists }: FlowDeps,
): Promise<FoundEvent[]> {
  const found: FoundEvent[] = [];
  const range = { after: window.from, before: window.to };
  let cursor: { at: number; id: string } | undefined;
  do {
    const limit = Math.min(PAGE, EVENTS_MAX - found.length);
    const page = await eventLists.list({ env, names, timeRange: { ...range, cursor }, limit }, nowMs);
    found.push(...page.events);
    cursor = page.next;
  } while (cursor && found.length < EVENTS_MAX && !turn.isOver);
  return found.reverse();
}

async function startingEvents(
  fn: AppFunction,
  env: string,
  events: readonly FoundEvent[],
  turn: Turn,
): Promise<SimulatedEvent[]> {
  const table = tableOf([fn]);
  const starting: SimulatedEvent[] = [];
  for (const event of events) {
    if ((await startedBy(event, table, turn)).length > 0) starting.push(simulatedEvent(event, fn, env));
  }
  return starting;
}

/** The calls of the latest runs that have completed, one after the other. */
async function coursesOf(env: string, id: string, { runLists, runParts }: FlowDeps): Promise<SimulatedCall[][]> {
  const query = { env, functionIds: [id], statuses: ['Completed'] as const, timeRange: {}, limit: RUNS_MEASURED };
  const { runs } = await runLists.list(query);
  return Promise.all(
    runs.map(async ({ id: runId, startedAt = 0, endedAt = startedAt }) => {
      const history = await runParts.read(env, runId, 'history');
      const attempts = history.filter(({ kind }) => kind === 'attempt').sort((a, b) => a.startedAt - b.startedAt);
      if (attempts.length === 0) return [{ afterMs: 0, ms: endedAt - startedAt }];
      return attempts.slice(0, CALLS_MAX).map((attempt, i): SimulatedCall => {
        const { startedAt: at, queuedAt = at, endedAt: end } = attempt;
        const before = attempts[i - 1]?.endedAt ?? queuedAt;
        return { afterMs: Math.max(0, queuedAt - before), ms: Math.max(0, end - at) };
      });
    }),
  );
}

/** An expression that costs too much has no value, and does not count against production's budget. */
const FLOW_KEYS = new FlowKeys({
  evaluator: {
    valueOf: ({ expression }, scope, nowMs) => expression?.valueOf(scope, EVALUATION_UNITS, nowMs).value,
    startTurn() {},
    shouldYield: false,
    async yieldTurn() {},
  },
});

/** The event with the values of the keys of the function's limits, as flow control has them. */
export function simulatedEvent(event: FoundEvent, fn: AppFunction, env: string): SimulatedEvent {
  const options = flowOptionsOf(fn);
  const at = event.received_at;
  const source: KeySource = { env, functionId: fn.id, event, source: event.source, receivedAt: at };
  const value = (key: string) => FLOW_KEYS.valueOf(key, source);
  const text = (key: string | undefined) => (key === undefined ? '' : keyTextOf(value(key)));
  /** undefined: the limit does not apply. */
  const keyed = (option: { key?: string } | undefined) => {
    const found = option?.key === undefined ? '' : value(option.key);
    return found === undefined || found === null || found === false ? undefined : keyTextOf(found);
  };
  const frozen = options && FLOW_KEYS.freeze(options, source);
  const frozenOf = (limits: readonly { key?: string }[] = []) => {
    return limits.map(({ key }) => (key === undefined ? '' : (frozen?.values[key] ?? '')));
  };
  const { batch, idempotency } = options ?? {};
  const runsAlone = batch?.if !== undefined && value(batch.if) !== true;
  return {
    at,
    ts: event.ts,
    rateLimit: keyed(options?.rateLimit),
    idempotency: idempotency === undefined ? undefined : keyed({ key: idempotency }),
    singleton: keyed(options?.singleton),
    debounce: text(options?.debounce?.key),
    batch: runsAlone ? undefined : text(batch?.key),
    throttle: frozenOf(options?.throttle && [options.throttle])[0] ?? '',
    run: frozenOf(options?.runConcurrency),
    step: frozenOf(options?.stepConcurrency),
    prioritySeconds: frozen?.priority ?? 0,
  };
}
