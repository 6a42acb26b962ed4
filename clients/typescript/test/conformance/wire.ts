/** Messages of a case: requests to the app, requests that the fake service received, responses. */
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { only } from '../../../../test/conformance/cases.ts';
import { expectHeaders, expectMatch, type Names } from '../../../../test/conformance/match.ts';
import { canonical } from '../../src/canonical.ts';
import { SDK } from '../../src/headers.ts';
import type { Recorded, Reply } from '../servers.ts';

export const PATH = '/api/service';
export const REGISTERED: Names = { sdk: SDK, framework: 'nodejs' };

export type ReplyCase = Reply | 'hang up';

export interface RequestCase {
  method: string;
  path: string;
  headers?: Record<string, string>;
  body?: unknown;
  sign?: { key: string; age_seconds: number; for?: string | null };
}

export interface ResponseCase {
  status: number;
  headers?: Record<string, string>;
  body: unknown;
}

/** Default reply of the fake service. */
export const NO_REPLY: ReplyCase[] = [{ status: 200, body: {} }];

const ALWAYS_IN_RESPONSES = {
  'content-type': 'application/json',
  'x-service-sdk': '{{sdk}}',
  'x-service-framework': '{{framework}}',
  'x-service-req-version': '2',
};
const ALWAYS_REQUESTED = { 'content-type': 'application/json', 'x-service-sdk': '{{sdk}}' };
const NOT_UNLESS_NAMED = [
  'x-service-env',
  'authorization',
  'x-service-event-id-seed',
  'x-service-no-retry',
  'retry-after',
] as const;

/** Sends the request unchanged: no path normalization, no headers except those that HTTP requires. */
export async function ask(origin: string, given: RequestCase): Promise<{ response: IncomingMessage; body: unknown }> {
  only(given, ['method', 'path', 'headers', 'body', 'sign']);
  const { method, path, headers = {}, sign } = given;
  const body = typeof given.body === 'string' ? given.body : given.body === undefined ? '' : canonical(given.body);
  const signature = sign && signaturesOf(path, body, sign);
  const { hostname, port } = new URL(origin);
  const sent = request({ hostname, port, method, path, headers: { ...headers, ...signature }, agent: false });
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return { response, body: JSON.parse(await text(response)) };
}

function signaturesOf(path: string, body: string, sign: NonNullable<RequestCase['sign']>): Record<string, string> {
  const { key, age_seconds, for: signedFor = path, ...rest } = sign;
  only(rest, []);
  const at = Math.floor(Date.now() / 1_000) - age_seconds;
  const hmac = (text: string) =>
    createHmac('sha256', key.replace(/^signkey-\w+-/, ''))
      .update(text)
      .digest('hex');
  const query = new URLSearchParams(signedFor?.split('?', 2)[1]);
  const named = `url\n${query.get('fnId') ?? ''}\n${query.get('stepId') ?? 'step'}\n`;
  return {
    'x-service-signature': `t=${at}&s=${hmac(`${body}${at}`)}`,
    ...(signedFor !== null && { 'x-service-signature-url': hmac(`${named}${body}${at}`) }),
  };
}

export function expectResponse(
  { response, body }: { response: IncomingMessage; body: unknown },
  expected: ResponseCase,
  names: Names,
): void {
  only(expected, ['status', 'headers', 'body']);
  expectMatch({ status: response.statusCode, body }, { status: expected.status, body: expected.body }, names);
  expectHeaders(response.headers, { ...ALWAYS_IN_RESPONSES, ...expected.headers }, NOT_UNLESS_NAMED, names);
}

export function expectRequests(actual: readonly Recorded[], expected: readonly RequestCase[], names: Names): void {
  expect(actual.map(({ method, url }) => `${method} ${url}`)).to.deep.equal(
    expected.map(({ method, path }) => `${method} ${path}`),
  );
  actual.forEach((request, n) => {
    const { headers = {}, body, ...rest } = expected[n] as RequestCase;
    only(rest, ['method', 'path']);
    expectMatch(JSON.parse(request.body), body, names);
    expectHeaders(request.headers, { ...ALWAYS_REQUESTED, ...headers }, NOT_UNLESS_NAMED, names);
  });
}
