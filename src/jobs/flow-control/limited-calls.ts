/** Calls with the limits of their functions. */
import type { AppFunction } from '../../model/apps/app.ts';
import { flowOptionsOf } from '../../model/flow-control/function-options.ts';
import { type CallLimits, type Limit, limitsOf } from '../../model/flow-control/limits.ts';
import { type FlowOptions, type FrozenKeys, limitKeysOf } from '../../model/flow-control/options.ts';
import type { Clock } from '../../model/values/clock.ts';
import { Composed } from '../../model/values/composed.ts';
import type { CallToAdmit } from '../../store/flow-control/admissions.ts';
import type { BacklogInfo } from '../../store/flow-control/backlog-info.ts';
import type { Store } from '../../store/store.ts';
import type { FunctionTables } from '../functions/function-tables.ts';
import { type CallToSchedule, callRefOf, entryOf } from '../queues/call-ref.ts';
import type { FlowKeys } from './flow-keys.ts';

/** Added between calls of the same millisecond, to keep their order. */
const STEP_MS = 0.001;
const STARTS = 1_000;

export interface LimitedCall {
  call: CallToSchedule;
  limits: CallLimits;
  info: BacklogInfo;
  score: number;
}

export interface LimitedCallsDeps extends Pick<Store, 'runs' | 'events' | 'environmentKinds'> {
  functions: FunctionTables;
  flowKeys: FlowKeys;
  /** Calls that all workers together can have in flight. */
  capacity: () => number;
  clock: Clock;
}

/** Finds the limits of calls, and their positions in the backlogs. */
export class LimitedCalls extends Composed<LimitedCallsDeps> {
  /** Unix milliseconds, with three decimals. */
  #lastScore = 0;
  #starts = 0;

  /** @param known the function of the call, if the caller has it
   *  @returns undefined if no limit applies */
  async of(call: CallToSchedule, known?: AppFunction): Promise<LimitedCall | undefined> {
    const { env, functionId, started, queuedAt } = call.ref;
    const fn = known ?? (await this.deps.functions.find(env, functionId));
    if (!fn || !hasLimits(fn)) return undefined;
    const keys = await this.#keysOf(call, flowOptionsOf(fn));
    const isStart = !started;
    const isBranch = (await this.deps.environmentKinds.of(env)) === 'branch';
    const limits = limitsOf({ env, isBranch, fn, keys, isStart, queuedAt, capacity: this.deps.capacity() });
    if (!limits) return undefined;
    const since = isStart && queuedAt !== undefined ? this.#scoreAt(queuedAt) : this.#scoreNow();
    const score = since - (keys?.priority ?? 0) * 1_000;
    return { call, limits, info: infoOf(env, fn.id, limits.limits, isStart), score };
  }

  /** Current data of the backlog; undefined: its calls have other limits now, or none. */
  async presentInfo(backlog: string, { env, functionId, keys: values }: BacklogInfo): Promise<BacklogInfo | undefined> {
    const fn = (await this.deps.functions.of(env)).find(functionId);
    if (!fn) return undefined;
    const keys = { values };
    const isBranch = (await this.deps.environmentKinds.of(env)) === 'branch';
    const kinds = [{ isStart: true, queuedAt: 0 }, { isStart: true }, { isStart: false }];
    for (const kind of kinds) {
      const limits = limitsOf({ env, isBranch, fn, keys, ...kind, capacity: this.deps.capacity() });
      if (limits?.backlog === backlog) return infoOf(env, fn.id, limits.limits, kind.isStart);
    }
    return undefined;
  }

  /** Score of a start: when the run was queued; starts of the same millisecond keep their order. */
  #scoreAt(queuedAt: number): number {
    return queuedAt + (this.#starts++ % STARTS) * STEP_MS;
  }

  /** Score of the current time; calls that arrive together keep their order. */
  #scoreNow(): number {
    this.#lastScore = Math.max(this.deps.clock(), this.#lastScore + STEP_MS);
    return this.#lastScore;
  }

  /** Returns the keys of the run, and evaluates them now if its function did not have them when the run was created. */
  async #keysOf({ ref }: CallToSchedule, options: FlowOptions | undefined): Promise<FrozenKeys | undefined> {
    const { env, runId, eventId, functionId, keys } = ref;
    if (!options || isComplete(options, keys)) return keys;
    const event = await this.deps.events.record(env, eventId);
    if (!event) return keys;
    const source = { env, functionId, event, source: 'service' as const, receivedAt: event.received_at };
    const evaluated = this.deps.flowKeys.freeze(options, source);
    if (!evaluated) return keys;
    const frozen = { ...evaluated, ...keys, values: { ...evaluated.values, ...keys?.values } };
    await this.deps.runs.setKeys(env, runId, frozen);
    return frozen;
  }
}

export function hasLimits(fn: AppFunction): boolean {
  if (fn.held || fn.cancelQueuedBefore !== undefined) return true;
  const options = flowOptionsOf(fn);
  if (!options) return false;
  const { runConcurrency, stepConcurrency, throttle, priority } = options;
  return runConcurrency.length + stepConcurrency.length > 0 || throttle !== undefined || priority !== undefined;
}

/** Whether calls that continue a run have limits. Run concurrency, throttles and pauses only hold back the start of a run. */
export function limitsContinuing(fn: AppFunction): boolean {
  const options = flowOptionsOf(fn);
  return options !== undefined && (options.stepConcurrency.length > 0 || options.priority !== undefined);
}

/** Whether the run has all keys that the options need. */
function isComplete(options: FlowOptions, keys: FrozenKeys | undefined): boolean {
  // The keys of a re-run that does not wait for its turn contain only its lane.
  const hasPriority = keys !== undefined && (keys.lane === undefined || keys.lane.number !== undefined);
  const isFrozen = limitKeysOf(options).every((source) => keys?.values[source] !== undefined);
  return isFrozen && (options.priority === undefined || hasPriority);
}

export function toAdmit({ call, limits, info, score }: LimitedCall, executions: number): CallToAdmit {
  return { entry: entryOf(callRefOf(call)), executions, score, backlog: limits.backlog, info };
}

function infoOf(env: string, functionId: string, limits: readonly Limit[], startsRuns: boolean): BacklogInfo {
  const keys = limits.flatMap(({ source, key }) => (source === undefined ? [] : [[source, key] as const]));
  return { env, functionId, startsRuns, keys: Object.fromEntries(keys), limits };
}
