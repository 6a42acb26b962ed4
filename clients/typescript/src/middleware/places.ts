/** The places of encoded values. A middleware that encrypts binds a value to its place: moved to another one, it does not decrypt. */
import type { Call } from '../call.ts';
import type { TidegateFunction } from '../function-types.ts';
import type { FoundStep } from '../steps/found.ts';
import type { Place } from './types.ts';

const INVOKED = 'inngest/function.invoked';

/** An event that is sent is bound only to its name, because there is no run yet. */
export function eventPlace(name: string): Place {
  return ['event', name];
}

/** The service names, in the data of an invocation, the function and the step that invoked it. */
export function receivedPlace(name: string, data: unknown): Place {
  const invocation = name === INVOKED ? invocationIn(data) : undefined;
  return invocation ? [...eventPlace(name), invocation.functionId, invocation.caller] : eventPlace(name);
}

/** @param functionId `<app id>-<function id>` */
export function invocationPlace(functionId: string, runId: string, hashedId: string): Place {
  return ['event', INVOKED, functionId, callerOf(runId, hashedId)];
}

/** The output of an invoked run belongs to the step that invoked it, any other to its run. */
export function outputPlace(functionId: string, runId: string, event: { name?: string; data?: unknown }): Place {
  const invocation = event.name === INVOKED ? invocationIn(event.data) : undefined;
  return ['output', functionId, invocation?.functionId === functionId ? invocation.caller : runId];
}

/** The places of one run's values. */
export interface RunPlaces {
  step(hashedId: string): Place;
  output: Place;
  invocation(functionId: string, hashedId: string): Place;
  /** The places of the result that a step got; undefined: no client encodes it. A re-run from a step has results of earlier runs too. */
  results(step: Pick<FoundStep, 'kind' | 'hashedId' | 'opts'>): readonly Place[] | undefined;
}

export function placesOf(
  { appId, id }: Pick<TidegateFunction, 'appId' | 'id'>,
  { runId, rerunOf, event }: Pick<Call, 'runId' | 'rerunOf' | 'event'>,
): RunPlaces {
  const functionId = `${appId}-${id}`;
  const runs = [runId, ...rerunOf];
  return {
    step: (hashedId) => ['step', hashedId, functionId, runId],
    output: outputPlace(functionId, runId, event),
    invocation: (invoked, hashedId) => invocationPlace(invoked, runId, hashedId),
    results({ kind, hashedId, opts }) {
      if (kind === 'run') return runs.map((run) => ['step', hashedId, functionId, run]);
      if (kind === 'invoke') return runs.map((run) => ['output', String(opts.function_id), callerOf(run, hashedId)]);
      return undefined;
    },
  };
}

/** The text of `_inngest.correlation_id` of an invocation, as the service writes it. */
function callerOf(runId: string, hashedId: string): string {
  return `${runId}.${hashedId}`;
}

function invocationIn(data: unknown): { functionId: string; caller: string } | undefined {
  const { fn_id: functionId, correlation_id: caller } =
    (data as { _inngest?: Record<string, unknown> } | null)?._inngest ?? {};
  return typeof functionId === 'string' && typeof caller === 'string' ? { functionId, caller } : undefined;
}
