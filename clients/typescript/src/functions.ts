/** Defining a function: its configuration checked, and its `onFailure` made a function of its own. */
import type {
  AnyFailureHandler,
  AnyFunctionConfig,
  AnyHandler,
  FailureEvent,
  FunctionContext,
  TidegateFunction,
  Trigger,
} from './function-types.ts';
import { reviveError } from './wire-error.ts';

const DEFAULT_RETRIES = 4;

/** @throws TypeError when the configuration makes no sense */
export function defineFunction(appId: string, config: AnyFunctionConfig, handler: AnyHandler): TidegateFunction {
  const { id, name = id, retries = DEFAULT_RETRIES, triggers: given, onFailure, ...flow } = config;
  const triggers = [given].flat();
  if (!id) throw new TypeError('A function needs an id');
  if (!Number.isInteger(retries) || retries < 0) {
    throw new TypeError(`Function "${id}": retries must be a whole number from 0, got ${retries}`);
  }
  if (triggers.length === 0) throw new TypeError(`Function "${id}" has no triggers, so it would never run`);
  for (const trigger of triggers) checkTrigger(id, trigger);
  const fn = { appId, id, name, retries, triggers, flow, handler };
  return Object.freeze({ ...fn, onFailure: onFailure && failureFunction(fn, onFailure) });
}

/** `onFailure` is a function too, triggered by what the service sends when a run has failed for good. */
function failureFunction(of: { appId: string; id: string; name: string }, onFailure: AnyFailureHandler) {
  const condition = `event.data.function_id == '${of.appId}-${of.id}'`;
  const config = {
    id: `${of.id}-failure`,
    name: `${of.name} (failure)`,
    triggers: { event: 'inngest/function.failed', if: condition },
  };
  return defineFunction(of.appId, config, (context: FunctionContext<FailureEvent>) =>
    onFailure({ ...context, error: reviveError(context.event.data.error) }),
  );
}

/** Type checks let unknown fields pass here, and a misspelt `if` would run the function on every event. */
function checkTrigger(id: string, trigger: Trigger): void {
  const fields = Object.keys(trigger).sort().join();
  if (['event', 'event,if', 'cron'].includes(fields)) return;
  throw new TypeError(`Function "${id}": a trigger has event and perhaps if, or cron; got ${JSON.stringify(trigger)}`);
}
