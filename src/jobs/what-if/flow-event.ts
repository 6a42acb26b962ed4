/** The values of the keys of a function's limits for an event, as flow control has them. */
import type { AppFunction } from '../../model/apps/app.ts';
import { EVALUATION_UNITS } from '../../model/expressions/expression.ts';
import { flowOptionsOf } from '../../model/flow-control/function-options.ts';
import { keyTextOf } from '../../model/flow-control/key-text.ts';
import type { SimulatedEvent } from '../../model/what-if/flow/simulated-flow.ts';
import type { FoundEvent } from '../../store/events/events.ts';
import { FlowKeys, type KeySource } from '../flow-control/flow-keys.ts';

/** An expression that costs too much has no value, and does not count against production's budget. */
const FLOW_KEYS = new FlowKeys({
  evaluator: {
    valueOf: ({ expression }, scope, nowMs) => expression?.valueOf(scope, EVALUATION_UNITS, nowMs).value,
    startTurn() {},
    shouldYield: false,
    async yieldTurn() {},
  },
});

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
