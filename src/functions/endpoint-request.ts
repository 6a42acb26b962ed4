/** The request with which the service calls an endpoint again: the one that its client sent, with the ID of the run. The endpoint fetches the
 *  finished steps itself (docs/protocol.md#endpoints). */
import type { Dispatcher } from 'undici';
import type { AppFunction, EndpointProtocol } from '../model/apps/app.ts';
import { endpointRequestOf } from '../model/runs/endpoint.ts';
import type { CallContext } from './call-request.ts';
import { canonical } from './canonical-json.ts';
import { headerName, SERVER_SDK } from './headers.ts';
import { sign } from './signing.ts';

export interface EndpointRequest {
  url: string;
  method: Dispatcher.HttpMethod;
  headers: Record<string, string>;
  body: string | null;
}

/** @throws ServiceError input_invalid when the event is not of a request */
export function endpointRequest(
  { dialect, endpoint }: Pick<AppFunction, 'dialect'> & { endpoint: EndpointProtocol },
  { run, event, stepId, planOnly }: CallContext,
  signingKey: string | undefined,
): EndpointRequest {
  const request = endpointRequestOf(event.data);
  const hasBody = request.method !== 'GET' && request.method !== 'HEAD' && request.body !== '';
  const signed = endpoint === 'signed-run-id' ? run.id : signedBody(request.method, request.body);
  return {
    url: request.url,
    method: request.method as Dispatcher.HttpMethod,
    headers: {
      ...(request.contentType !== '' && { 'content-type': request.contentType }),
      [headerName(dialect, 'sdk')]: SERVER_SDK,
      [headerName(dialect, 'req-version')]: '-1',
      // Without a key too: an SDK tells calls of the service by this header.
      [headerName(dialect, 'signature')]: signingKey === undefined ? '' : sign(signed, signingKey, Date.now()),
      [headerName(dialect, 'step-id')]: stepId ?? 'step',
      [headerName(dialect, 'force-step-plan')]: String(planOnly),
      'x-run-id': run.id,
    },
    body: hasBody ? request.body : null,
  };
}

/** The official SDK reads the bodies of these methods as JSON, and verifies them in canonical form. */
function signedBody(method: string, body: string): string {
  if (method !== 'POST' && method !== 'PUT') return '';
  try {
    return canonical(JSON.parse(body));
  } catch {
    return body;
  }
}
