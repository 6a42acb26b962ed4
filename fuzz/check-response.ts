/** Checks a response. Everything that is not allowed here is a finding. */
import { CATALOGUE } from '../src/errors.ts';
import type { Case, HttpCase } from './case.ts';
import { SECRET_MARK } from './providers.ts';
import type { Response } from './socket.ts';

/** Maximum duration of a request: the time limit of a transform and some overhead. */
export const LIMIT_MS = 12_000;
/** The service may close the connection during a larger body; the response can be lost. */
const CUT_BYTES = 32_768;
/** Codes with which a healthy service responds 503. */
const EXPECTED_503 = new Set([
  'overloaded',
  'memory_short',
  'transform_quarantined',
  'webhook_paused',
  'verification_unavailable',
]);
/** Per answer to a webhook request. */
const WEBHOOK_ANSWER_MAX_BYTES = 65_536;
/** Paths whose errors are JSON with a code from the catalogue. */
const JSON_API = /^\/(?:e|v0|v1|fn)\//;
const INTERNALS = /node_modules|\/src\/(?:api|store|jobs|model|functions)\/|\n {4}at \S/;

/** @returns a description of the problem; undefined for a valid response */
export function checkResponse(
  one: Case,
  { status, headers, body, ms, ended }: Response,
  sentBytes: number,
): string | undefined {
  if (ms > LIMIT_MS && ended !== 'silent') return `the response took ${Math.round(ms)} ms`;
  if (status === undefined) return checkMissingResponse(one, ended, sentBytes);
  if (status >= 500 && !isExpected(status, body)) return `the response was ${status}: ${body.slice(0, 300)}`;
  if (body.includes(SECRET_MARK)) return `the response has a secret: ${body.slice(0, 600)}`;
  const mistaken = one.kind === 'http' ? checkVerified(one, status, body) : undefined;
  if (mistaken) return mistaken;
  if (INTERNALS.test(body) && isError(status)) return `the response exposes internals: ${body.slice(0, 600)}`;
  if (one.kind === 'wire' || !isError(status) || !JSON_API.test(one.target)) return undefined;
  // Node's parser rejects some requests with an empty body before the service sees them.
  if (body === '' || one.method === 'HEAD') return undefined;
  if (!headers['content-type']?.startsWith('application/json')) return undefined;
  const code = codeOf(body);
  if (code === undefined || !Object.hasOwn(CATALOGUE, code)) return `the error has no code: ${body.slice(0, 300)}`;
  const [expected] = CATALOGUE[code as keyof typeof CATALOGUE];
  return expected === status ? undefined : `the code ${code} has status ${status}, expected ${expected}`;
}

/** What the signature of a request to a webhook demands. */
function checkVerified({ area, method, expects }: HttpCase, status: number, body: string): string | undefined {
  // A HEAD request is a probe, which makes no event.
  if (area !== '/e/ provider' || method === 'HEAD') return undefined;
  if (expects === 'forged' && !isError(status)) return `a forged request was answered ${status}: ${body.slice(0, 300)}`;
  if (expects === 'genuine' && codeOf(body) === 'verification_failed') {
    return `a request of the provider was rejected: ${body.slice(0, 300)}`;
  }
  const bytes = Buffer.byteLength(body);
  return bytes > WEBHOOK_ANSWER_MAX_BYTES ? `the response has ${bytes} bytes` : undefined;
}

/** An incomplete request may get no response until the server's timeout. */
function checkMissingResponse(one: Case, ended: Response['ended'], sentBytes: number): string | undefined {
  if (one.kind === 'wire') return undefined;
  if (sentBytes > CUT_BYTES && (ended === 'reset' || ended === 'closed')) return undefined;
  return ended === 'silent' ? `no response within ${LIMIT_MS} ms` : `the connection was ${ended} without a response`;
}

function isExpected(status: number, body: string): boolean {
  return status === 503 && EXPECTED_503.has(codeOf(body) ?? '');
}

function isError(status: number): boolean {
  return status >= 400;
}

function codeOf(body: string): string | undefined {
  try {
    const { code } = JSON.parse(body);
    return typeof code === 'string' ? code : undefined;
  } catch {
    return undefined;
  }
}
