/** Contradictory responses: statuses, headers and operations that contradict each other or themselves. */
import { failedAfterRetry, failedAtOnce, type HostileResponse, many, op, opsOnce, raw, step } from './entry.ts';

export const FURTHER: readonly HostileResponse[] = [
  {
    name: 'megabytes of white space',
    respond: () => ({ body: raw(' '.repeat(1_000_000)) }),
    must: { status: 'Completed', calls: 1, output: null },
  },
  {
    name: 'two JSON values',
    respond: () => ({ body: raw('1 2') }),
    must: { status: 'Completed', calls: 1, output: '1 2' },
  },
  {
    name: 'a number too large for a double',
    respond: () => ({ body: raw('1e400') }),
    must: { status: 'Completed', calls: 1 },
  },
  {
    name: 'an output with the key __proto__',
    respond: () => ({ body: raw('{"__proto__":{"polluted":true}}') }),
    must: { status: 'Completed', calls: 1 },
  },
  {
    name: 'an output that looks like an error',
    respond: () => ({ body: { name: 'Error', message: 'no' } }),
    must: { status: 'Completed', calls: 1, output: { name: 'Error', message: 'no' } },
  },
  {
    name: 'no content',
    respond: () => ({ status: 204, body: raw('') }),
    must: { status: 'Completed', calls: 1, output: null },
  },
  {
    name: 'another success',
    respond: () => ({ status: 202, body: { n: 7 } }),
    must: { status: 'Completed', calls: 1, output: { n: 7 } },
  },
  { name: 'an unknown status', respond: () => ({ status: 599, body: 'x' }), must: failedAfterRetry('Error') },
  {
    name: '429 without retry-after',
    respond: () => ({ status: 429, body: {} }),
    must: failedAfterRetry('Error'),
  },
  {
    name: 'a negative retry-after',
    respond: () => ({ status: 500, headers: { 'retry-after': '-5' }, body: {} }),
    must: failedAfterRetry('Error'),
  },
  {
    name: 'no-retry with operations',
    respond: ({ number }) =>
      number === 0
        ? { status: 206, headers: { 'x-service-no-retry': 'true' }, body: [op('StepRun', { data: 1 })] }
        : { body: 'went on' },
    must: { status: 'Completed', calls: 2, output: 'went on' },
  },
  {
    name: 'no-retry in capitals',
    respond: () => ({ status: 500, headers: { 'x-service-no-retry': 'TRUE' }, body: {} }),
    must: failedAfterRetry('Error'),
  },
  {
    name: '200,000 empty objects as operations',
    respond: () => ({ status: 206, body: raw(`[${'{},'.repeat(200_000)}{}]`) }),
    must: failedAtOnce('TooManyOperations'),
  },
  {
    name: 'one operation with 20,000 unknown fields',
    respond: opsOnce({
      ...op('StepRun', { data: 1 }),
      ...Object.fromEntries(many(20_000, (n) => [`f${n}`, n]) as [string, number][]),
    }),
    must: { status: 'Completed', calls: 2, output: 'went on' },
  },
  {
    name: 'a known operation in lower case',
    respond: () => ({ status: 206, body: [op('steprun')] }),
    must: failedAtOnce('UnsupportedOperation'),
  },
  {
    name: 'an ID in capitals',
    respond: opsOnce({ ...op('StepRun'), id: 'A'.repeat(40) }),
    must: { status: 'Completed', calls: 2 },
  },
  {
    name: 'one step both finished and failed',
    respond: opsOnce(op('StepRun', { data: 1 }), op('StepFailed', { error: { name: 'E', message: 'm' } })),
    must: { status: 'Completed', calls: 2, output: 'went on' },
  },
  {
    name: 'a step named like the prototype',
    respond: opsOnce({
      ...op('StepRun', { data: 1 }),
      id: step('__proto__'),
      name: '__proto__',
      displayName: 'constructor',
    }),
    must: { status: 'Completed', calls: 2, output: 'went on' },
  },
  {
    name: 'an error with a cause in a cause in a cause',
    respond: () => ({
      status: 400,
      headers: { 'x-service-no-retry': 'true' },
      body: raw(`${'{"name":"E","message":"m","cause":'.repeat(100)}1${'}'.repeat(100)}`),
    }),
    must: failedAtOnce('E', 'm'),
  },
  {
    name: 'a completion without output',
    respond: () => ({ status: 206, body: [op('RunComplete')] }),
    must: { status: 'Completed', calls: 1, output: null },
  },
];
