/** Propagates the trace of a call to the app (W3C trace context). */
import { hexOf } from '../model/ids.ts';
import type { Run } from '../model/runs/run.ts';
import { runAttributes } from '../tracing/attributes.ts';
import type { Tracing } from '../tracing/tracing.ts';
import type { CallResponse } from './http-post.ts';

/** Makes the call with trace headers, in a span if the trace is recorded.
 *  @param url the function's URL; the span omits its query and credentials */
export function tracedCall(
  tracing: Tracing | undefined,
  url: string,
  run: Run,
  post: (headers: Record<string, string>) => Promise<CallResponse>,
): Promise<CallResponse> {
  if (!tracing) return post({ traceparent: traceparentOf(run.requestId, run.id, true) });
  return tracing.withSpan(
    'POST',
    'CLIENT',
    () => callAttributes(url, run),
    async (span) => {
      // Flagged as not recorded, so that an app that honors the flag does not record the trace either.
      const response = await post({
        traceparent: traceparentOf(run.requestId, run.id, false),
        ...(span && tracing.propagationHeaders()),
      });
      span?.setAttribute('http.response.status_code', response.status);
      if (span && response.status >= 400) tracing.markFailed(span, String(response.status));
      return response;
    },
  );
}

/** Derived from existing IDs, so that everything caused by one request shares a trace. `00-<trace>-<span>-<flags>`: the trace is the
 *  request's ID, the span the random end of the run's ID. */
function traceparentOf(requestId: string, runId: string, sampled: boolean): string {
  return `00-${hexOf(requestId)}-${hexOf(runId).slice(16)}-${sampled ? '01' : '00'}`;
}

function callAttributes(url: string, run: Run) {
  const { origin, pathname, hostname, port, protocol } = new URL(url);
  return {
    'http.request.method': 'POST',
    'url.full': origin + pathname,
    'server.address': hostname,
    'server.port': Number(port || (protocol === 'https:' ? 443 : 80)),
    ...runAttributes({ env: run.env, eventId: run.eventId, runId: run.id, functionId: run.functionId }),
    'tidegate.run.attempt': run.attempt,
  };
}
