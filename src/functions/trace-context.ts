/** What an app is told of the trace that a call belongs to (W3C trace context). */
import { hexOf } from '../model/ids.ts';
import type { Run } from '../model/runs/run.ts';
import type { Tracing } from '../tracing/tracing.ts';
import type { CallResponse } from './interpret-response.ts';

/** Makes the call, with the headers that tell of the trace. Where it is recorded, that is in a span of its own.
 *  @param url of the function; its query and whoever it names as user stay untold */
export function tracedCall(
  tracing: Tracing | undefined,
  url: string,
  run: Run,
  post: (headers: Record<string, string>) => Promise<CallResponse>,
): Promise<CallResponse> {
  if (!tracing) return post({ traceparent: traceparentOf(run.requestId, run.id, true) });
  return tracing.within(
    'POST',
    'CLIENT',
    () => attributesOf(url, run),
    async (span) => {
      // An app that follows us in what it records, records nothing of a trace that we have left out.
      const answer = await post({
        traceparent: traceparentOf(run.requestId, run.id, false),
        ...(span && tracing.headers()),
      });
      span?.setAttribute('http.response.status_code', answer.status);
      if (span && answer.status >= 400) tracing.fail(span, String(answer.status));
      return answer;
    },
  );
}

/** Made of the IDs that the service has anyway: everything one request caused shares a trace. `00-<trace>-<span>-<flags>`: the trace is
 *  the request's ID, the span the random end of the run's. */
function traceparentOf(requestId: string, runId: string, sampled: boolean): string {
  return `00-${hexOf(requestId)}-${hexOf(runId).slice(16)}-${sampled ? '01' : '00'}`;
}

function attributesOf(url: string, run: Run) {
  const { origin, pathname, hostname, port, protocol } = new URL(url);
  return {
    'http.request.method': 'POST',
    'url.full': origin + pathname,
    'server.address': hostname,
    'server.port': Number(port || (protocol === 'https:' ? 443 : 80)),
    'tidegate.environment': run.env,
    'tidegate.event.id': run.eventId,
    'tidegate.run.id': run.id,
    'tidegate.run.attempt': run.attempt,
    'tidegate.function.id': run.functionId,
  };
}
