/** Counts the calls in flight of functions with flow control. */
import type { CallContext } from '../../../functions/call-request.ts';
import type { FunctionClient } from '../../../functions/function-client.ts';
import type { Outcome } from '../../../functions/interpret-response.ts';
import type { AppFunction } from '../../../model/apps/app.ts';
import { flowOptionsOf } from '../../../model/flow-control/function-options.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';

interface CountedCallDeps {
  functionClient: Pick<FunctionClient, 'call'>;
  telemetry: Pick<Telemetry, 'recordCallInFlight'>;
}

export function countedCall(
  fn: AppFunction,
  context: CallContext,
  { functionClient, telemetry }: CountedCallDeps,
): Promise<Outcome> {
  const outcome = functionClient.call(fn, context);
  if (!flowOptionsOf(fn)) return outcome;
  const { env } = context.run;
  telemetry.recordCallInFlight(env, fn.id, 1);
  return outcome.finally(() => telemetry.recordCallInFlight(env, fn.id, -1));
}
