import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { ServiceError } from '../../src/errors.ts';
import type { TransformOutcome } from '../../src/transforms/transforms.ts';
import { QUICK, REQUEST, shared, webhook } from './support.ts';

const FOLDER = new URL('./attacks/', import.meta.url);
/** Bound of an error response: message, location and 16 KiB of console output with levels. */
const FAILURE_CHARS = 32_768;

type Expected =
  | { event: unknown }
  | { event_text: string }
  | { error: string; message: string }
  | { any_of: Expected[] };

interface Attack {
  attack: string;
  requests?: { body?: unknown; headers?: Record<string, string>; query?: Record<string, string[]>; raw?: string }[];
  expect: Expected | Expected[];
}

const attacks = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.js'))
  .map((file) => {
    const text = readFileSync(new URL(file, FOLDER), 'utf8');
    const end = text.indexOf('*/');
    return { file, code: text.slice(end + 3), ...(JSON.parse(text.slice(2, end)) as Attack) };
  });

describe('A transform that', () => {
  const quick = shared({ ...QUICK, totalTimeoutMs: 20_000 });
  /** For attacks that end by themselves, on a busy machine too. */
  const patient = shared({ ...QUICK, timeoutMs: 5_000, totalTimeoutMs: 20_000 });
  const harmless = webhook(
    'let n = 0; const transform = (evt) => ({ name: "fine", n: ++n, seen: typeof leak, ...evt })',
  );

  for (const { file, code, attack, requests = [{}], expect: expected } of attacks) {
    it(`${attack} (${file})`, async () => {
      const transforms = JSON.stringify(expected).includes('ran longer') ? quick : patient;
      const attacker = webhook(code);
      for (const [i, given] of requests.entries()) {
        const body = 'body' in given ? given.body : given.raw === undefined ? {} : JSON.parse(given.raw);
        const result = await transforms.run(attacker, { ...REQUEST, ...given, body }).catch((error: unknown) => error);
        const wanted = Array.isArray(expected) ? (expected[i] as Expected) : expected;
        expect(meets(wanted, result), `request ${i}: ${shown(result)}`).to.equal(true);
        if (result instanceof ServiceError) {
          expect(JSON.stringify([result.message, result.facts]).length).to.be.below(FAILURE_CHARS);
        } else expect((result as TransformOutcome).logs.length).to.be.at.most(101);
      }
      const { returned: event } = await transforms.run(harmless, { ...REQUEST, body: { file } });
      expect(event).to.deep.equal({ name: 'fine', n: 1, seen: 'undefined', file });
    });
  }
});

function meets(wanted: Expected, result: unknown): boolean {
  if ('any_of' in wanted) return wanted.any_of.some((item) => meets(item, result));
  if ('error' in wanted) {
    return result instanceof ServiceError && result.code === wanted.error && result.message.includes(wanted.message);
  }
  if (!(result instanceof Object && 'returned' in result)) return false;
  if ('event_text' in wanted) return JSON.stringify(result.returned) === wanted.event_text;
  return JSON.stringify(sorted(result.returned)) === JSON.stringify(sorted(wanted.event));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.map(([key, one]) => [key, sorted(one)]);
}

function shown(result: unknown) {
  const text = result instanceof ServiceError ? `${result.code}: ${result.message}` : JSON.stringify(result);
  return String(text).slice(0, 500);
}
