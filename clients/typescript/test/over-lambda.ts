/** A server in front of a Lambda function, with the events that AWS documents:
 *  https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html (both payload formats),
 *  https://docs.aws.amazon.com/lambda/latest/dg/urls-invocation.html, https://docs.aws.amazon.com/elasticloadbalancing/latest/application/lambda-functions.html. */
import type { IncomingMessage, RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';
import type { LambdaEvent, LambdaResult } from '../src/lambda.ts';

type EventOf = (req: IncomingMessage, body: string) => LambdaEvent;

export function overLambda(handler: (event: LambdaEvent) => Promise<LambdaResult>, eventOf: EventOf): RequestListener {
  return async (req, res) => {
    const { statusCode, headers, body } = await handler(eventOf(req, await text(req)));
    res.writeHead(statusCode, headers).end(body);
  };
}

function partsOf(req: IncomingMessage) {
  const { pathname, search, searchParams } = new URL(req.url ?? '/', 'http://any');
  const headers = Object.fromEntries(Object.entries(req.headers).map(([name, value]) => [name, String(value)]));
  return {
    method: req.method ?? 'GET',
    pathname,
    rawQuery: search.slice(1),
    query: Object.fromEntries(searchParams),
    headers,
  };
}

/** Payload format 1.0; its headers are as the client wrote them. */
export const restEvent: EventOf = (req, body) => {
  const { method, pathname, query, headers } = partsOf(req);
  const asWritten = Object.entries(headers).map(([name, value]) => [name.replace(/^x-s/, 'X-S'), value]);
  return {
    path: pathname,
    httpMethod: method,
    headers: Object.fromEntries(asWritten),
    multiValueHeaders: Object.fromEntries(asWritten.map(([name, value]) => [name, [value as string]])),
    queryStringParameters: Object.keys(query).length > 0 ? query : null,
    requestContext: { path: pathname },
    body: body === '' ? null : body,
    isBase64Encoded: false,
  };
};

/** Payload format 2.0. */
export const httpEvent: EventOf = (req, body) => {
  const { method, pathname, rawQuery, headers } = partsOf(req);
  return {
    rawPath: pathname,
    rawQueryString: rawQuery,
    headers,
    requestContext: { http: { method }, domainName: 'abc123.execute-api.eu-central-1.amazonaws.com' },
    ...(body !== '' && { body }),
    isBase64Encoded: false,
  };
};

/** Payload format 2.0, with a body in base64, as for any content type that is not text. */
export const functionUrlEvent: EventOf = (req, body) => {
  const event = httpEvent(req, body);
  return {
    ...event,
    ...(event.body !== undefined && { body: Buffer.from(body).toString('base64') }),
    isBase64Encoded: true,
  };
};

/** Its parameters are not decoded. */
export const loadBalancerEvent: EventOf = (req, body) => {
  const { method, pathname, rawQuery, headers } = partsOf(req);
  const pairs = rawQuery.split('&').map((pair) => pair.split('=', 2));
  return {
    path: pathname,
    httpMethod: method,
    headers,
    queryStringParameters: rawQuery === '' ? {} : Object.fromEntries(pairs),
    requestContext: { elb: {} },
    body,
    isBase64Encoded: false,
  };
};
