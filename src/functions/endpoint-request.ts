/** The request with which the service calls an endpoint again: the client's original one, with the ID of the run. The endpoint fetches
 *  the finished steps itself (docs/protocol.md#endpoints). */
import type { Dispatcher } from 'undici';
import type { AppFunction, EndpointProtocol } from '../model/apps/app.ts';
import { endpointRequestOf, isServiceMessage, mayHoldEvent } from '../model/runs/endpoint.ts';
import { machineTime } from '../model/values/clock.ts';
import { tryParseJson } from '../model/values/json.ts';
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

const LOOKS_LIKE_CALL =
  'the body of the request could be taken for a call of a function, because it has "event" or "events"; it is not signed. Give these fields other names';

/** The service refuses to send the request; a retry would not help. */
export class EndpointRefused extends Error {
  override name = 'EndpointRefused';
}

/** @throws ServiceError input_invalid if the event is not of a request; EndpointRefused */
export function endpointRequest(
  { dialect, endpoint, url }: Pick<AppFunction, 'dialect' | 'url'> & { endpoint: EndpointProtocol },
  { run, event, stepId, planOnly }: CallContext,
  signingKey: string | undefined,
): EndpointRequest {
  const request = endpointRequestOf(event.data);
  // An invocation has its own data, which may name another host.
  if (new URL(request.url).host !== new URL(url).host) {
    throw new EndpointRefused(`the request is for ${new URL(request.url).host}, and the endpoint is at ${url}`);
  }
  const hasBody = request.method !== 'GET' && request.method !== 'HEAD' && request.body !== '';
  const signature = () => sign(signedPart(endpoint, request), signingKey as string, machineTime());
  return {
    url: request.url,
    method: request.method as Dispatcher.HttpMethod,
    headers: {
      ...(request.contentType !== '' && { 'content-type': request.contentType }),
      [headerName(dialect, 'sdk')]: SERVER_SDK,
      [headerName(dialect, 'req-version')]: '-1',
      // Set even without a key: SDKs recognize the service's calls by this header.
      [headerName(dialect, 'signature')]: signingKey === undefined ? '' : signature(),
      [headerName(dialect, 'step-id')]: stepId ?? 'step',
      [headerName(dialect, 'force-step-plan')]: String(planOnly),
      'x-run-id': run.id,
    },
    body: hasBody ? request.body : null,
  };
}

/** The signed text, as SDKs verify it. The official TypeScript SDK reads the bodies of these methods as JSON, and
 *  verifies them in canonical form.
 *  It verifies calls of functions in the same way, and the client has written the body: a body that an SDK could take
 *  for a call is never signed.
 *  @throws EndpointRefused */
function signedPart(endpoint: EndpointProtocol, { method, body }: Record<'method' | 'body', string>): string {
  // The official Go SDK (0.16.0) verifies the canonical form of the run's ID, which is not JSON and becomes nothing. So does a call whose
  // body it cannot make canonical, such as one with a name twice.
  const coversBody = endpoint !== 'signed-run-id' && (method === 'POST' || method === 'PUT');
  if (!coversBody && mayHoldEvent(body)) throw new EndpointRefused(LOOKS_LIKE_CALL);
  if (!coversBody || body === '') return '';
  const value = tryParseJson(body);
  if (value === undefined || typeof value === 'string') {
    throw new EndpointRefused(
      `the body of the ${method} request is not a JSON object, array or number: the SDK takes no other`,
    );
  }
  if (isServiceMessage(value)) {
    throw new EndpointRefused(LOOKS_LIKE_CALL);
  }
  return canonical(value);
}
