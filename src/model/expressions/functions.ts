/** Functions that the protocol adds to CEL (docs/functions.md#expressions). */
import type { Environment } from '@marcbachmann/cel-js';
import { isShallow, parseIntegers } from '../values/json.ts';
import { durationMs } from '../values/time.ts';
import { NOT_EVALUABLE } from './fuel.ts';

/** The time of an evaluation. Not the clock's, because evaluating an event again must give the same result. */
export interface EvaluationTime {
  nowMs: number;
}

const TIME = 'google.protobuf.Timestamp';
const DURATION = 'google.protobuf.Duration';
const MAX_DATE_LENGTH = 64;
const ISO_DATE = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?)?$/;
const MAIL_DATE = /^[A-Z][a-z]{2}, \d{1,2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} (?:GMT|UTC|[+-]\d{4})$/;
/** Larger numbers are milliseconds: as seconds they would lie after the year 5000. */
const MAX_SECONDS = 1e11;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

export function registerFunctions(environment: Environment, time: EvaluationTime): void {
  environment
    .registerFunction('lowercase(string): string', (text: string) => text.toLowerCase())
    .registerFunction('uppercase(string): string', (text: string) => text.toUpperCase())
    .registerFunction('b64decode(string): string', b64decode)
    .registerFunction('json_parse(string): dyn', jsonParse)
    .registerFunction(`date(string): ${TIME}`, dateOf)
    .registerFunction(`date(int): ${TIME}`, (time: bigint) => dateOfNumber(Number(time)))
    .registerFunction(`date(double): ${TIME}`, dateOfNumber)
    .registerFunction(`date(${TIME}): ${TIME}`, (date: Date) => date)
    .registerFunction(`now(): ${TIME}`, () => new Date(time.nowMs));
  for (const [name, sign] of [
    ['now_minus', -1],
    ['now_plus', 1],
  ] as const) {
    environment
      .registerFunction(`${name}(string): ${TIME}`, (text: string) => valid(time.nowMs + sign * spanOf(text)))
      .registerFunction(`${name}(${DURATION}): ${TIME}`, (span: { valueOf(): number }) =>
        valid(time.nowMs + sign * span.valueOf()),
      );
  }
}

function spanOf(text: string): number {
  const ms = durationMs(text);
  if (ms === undefined) throw NOT_EVALUABLE;
  return ms;
}

/** A date without a time zone is UTC. */
function dateOf(text: string): Date {
  if (text.length > MAX_DATE_LENGTH) throw NOT_EVALUABLE;
  const iso = ISO_DATE.exec(text);
  if (iso) return valid(Date.parse(`${text.replace(' ', 'T')}${iso[1] || !text.includes(':') ? '' : 'Z'}`));
  if (MAIL_DATE.test(text)) return valid(Date.parse(text));
  throw NOT_EVALUABLE;
}

function dateOfNumber(time: number): Date {
  return valid(Math.abs(time) < MAX_SECONDS ? time * 1_000 : time);
}

function valid(ms: number): Date {
  const date = new Date(ms);
  if (Number.isNaN(date.getTime())) throw NOT_EVALUABLE;
  return date;
}

function b64decode(text: string): string {
  const standard = text.replaceAll('-', '+').replaceAll('_', '/');
  if (!BASE64.test(standard)) throw NOT_EVALUABLE;
  return Buffer.from(standard, 'base64').toString('utf8');
}

function jsonParse(text: string): unknown {
  let value: unknown;
  try {
    value = parseIntegers(text);
  } catch {
    throw NOT_EVALUABLE;
  }
  if (!isShallow(value, text)) throw NOT_EVALUABLE;
  return value;
}
