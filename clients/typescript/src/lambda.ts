/** Functions on AWS Lambda, behind a function URL, API Gateway (REST or HTTP API) or a load balancer:
 *  `export const handler = serve({ client, functions })`. */
import { createHandler, type ServeOptions } from './handler.ts';

export type { ServeOptions };

/** The parts of an event that this adapter reads. Payload format 2.0 has `rawPath`; 1.0 and load balancers have `path`. */
export interface LambdaEvent {
  rawPath?: string;
  rawQueryString?: string;
  path?: string;
  httpMethod?: string;
  queryStringParameters?: Record<string, string | undefined> | null;
  headers?: Record<string, string | undefined> | null;
  multiValueHeaders?: Record<string, string[] | undefined> | null;
  body?: string | null;
  isBase64Encoded?: boolean;
  requestContext?: { http?: { method: string }; path?: string; domainName?: string; elb?: unknown };
}

export interface LambdaResult {
  statusCode: number;
  headers: Record<string, string>;
  body: string;
  isBase64Encoded: false;
}

/** If the option `path` is set, other paths get a 404. The path of a request begins with the stage of its API, unless that is `$default`. */
export function serve(options: ServeOptions): (event: LambdaEvent) => Promise<LambdaResult> {
  const handle = createHandler(options, 'aws-lambda');
  return async (event) => {
    const headers = headersOf(event);
    const answer = await handle({
      method: event.requestContext?.http?.method ?? event.httpMethod ?? 'GET',
      url: urlOf(event),
      secure: true,
      header: (name) => headers.get(name) ?? (name === 'host' ? event.requestContext?.domainName : undefined),
      body: async () => Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8'),
    });
    const { status, ...rest } = answer ?? { status: 404, headers: {}, body: '' };
    return { statusCode: status, ...rest, isBase64Encoded: false };
  };
}

function headersOf({ headers, multiValueHeaders }: LambdaEvent): ReadonlyMap<string, string> {
  const several = Object.entries(multiValueHeaders ?? {}).map(([name, values]) => [name, values?.join(', ')] as const);
  const all = [...several, ...Object.entries(headers ?? {})];
  return new Map(all.flatMap(([name, value]) => (value === undefined ? [] : [[name.toLowerCase(), value]])));
}

/** Original path and query. */
function urlOf({ rawPath, rawQueryString, path = '/', queryStringParameters, requestContext }: LambdaEvent): string {
  if (rawPath !== undefined) return rawQueryString ? `${rawPath}?${rawQueryString}` : rawPath;
  const given = Object.entries(queryStringParameters ?? {}).map(([name, value = '']): [string, string] => [
    name,
    value,
  ]);
  // A load balancer does not decode parameters.
  const query = requestContext?.elb ? given.map((pair) => pair.join('=')).join('&') : `${new URLSearchParams(given)}`;
  // Includes the stage of a REST API, which `path` lacks.
  const whole = requestContext?.path ?? path;
  return query === '' ? whole : `${whole}?${query}`;
}
