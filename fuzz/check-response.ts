/** What an answer may be. Everything else is a finding. */
import { CATALOGUE } from '../src/errors.ts';
import type { Case } from './case.ts';
import type { Response } from './socket.ts';

/** Longest that a request may take: a transform's patience, and some for the way. */
export const LIMIT_MS = 12_000;
/** A connection may be cut while so large a body is still on its way: the answer can be lost with it. */
const CUT_BYTES = 32_768;
/** What a service that is well may answer with 503. */
const MEANT = new Set(['overloaded', 'memory_short', 'transform_quarantined', 'webhook_paused']);
/** Paths whose errors are of the catalogue, as JSON. */
const CATALOGUED = /^\/(?:e|v0|v1|fn)\//;
const INSIDE = /node_modules|\/src\/(?:api|store|jobs|model|functions)\/|\n {4}at \S/;

/** @returns what is wrong with it, in a sentence; undefined: nothing */
export function checkResponse(
  one: Case,
  { status, headers, body, ms, ended }: Response,
  sentBytes: number,
): string | undefined {
  if (ms > LIMIT_MS && ended !== 'silent') return `it took ${Math.round(ms)} ms to be answered`;
  if (status === undefined) return unanswered(one, ended, sentBytes);
  if (status >= 500 && !isMeant(status, body)) return `it was answered with ${status}: ${body.slice(0, 300)}`;
  if (INSIDE.test(body) && isError(status)) return `the answer tells of the inside: ${body.slice(0, 600)}`;
  if (one.kind === 'wire' || !isError(status) || !CATALOGUED.test(one.target)) return undefined;
  // What Node's parser refuses has no body, and never reaches the service.
  if (body === '' || one.method === 'HEAD') return undefined;
  if (!headers['content-type']?.startsWith('application/json')) return undefined;
  const code = codeOf(body);
  if (code === undefined || !Object.hasOwn(CATALOGUE, code)) return `an error without a code: ${body.slice(0, 300)}`;
  const [expected] = CATALOGUE[code as keyof typeof CATALOGUE];
  return expected === status ? undefined : `the code ${code} came with status ${status}`;
}

/** Bytes that are no whole request may be met with silence: the server's own time limit ends that. */
function unanswered(one: Case, ended: Response['ended'], sentBytes: number): string | undefined {
  if (one.kind === 'wire') return undefined;
  if (sentBytes > CUT_BYTES && (ended === 'reset' || ended === 'closed')) return undefined;
  return ended === 'silent' ? `no answer came within ${LIMIT_MS} ms` : `the connection was ${ended} without an answer`;
}

function isMeant(status: number, body: string): boolean {
  return status === 503 && MEANT.has(codeOf(body) ?? '');
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
