/** Responses with too many operations, or without progress. */
import { failedAfterRetry, failedAtOnce, type HostileResponse, many, op, opsOnce, step } from './entry.ts';

export const STEPS: readonly HostileResponse[] = [
  {
    name: '9,000 planned steps at once',
    respond: () => ({ status: 206, body: many(9_000, (n) => op('StepPlanned', { id: step(`${n}`) })) }),
    must: failedAtOnce('TooManyOperations', '9000 step operations, more than 1000'),
  },
  {
    name: '9,000 finished steps at once',
    respond: () => ({ status: 206, body: many(9_000, (n) => op('StepRun', { id: step(`${n}`), data: n })) }),
    must: failedAtOnce('TooManyOperations'),
  },
  {
    name: 'more planned steps in each response until the run has too many',
    respond: ({ number }) => ({
      status: 206,
      body: [
        ...many(900, (n) => op('Sleep', { id: step(`${number} ${n}`), name: '1d' })),
        op('StepRun', { id: step(`done ${number}`), data: null, opts: { parallelMode: 'race' } }),
      ],
    }),
    must: { status: 'Failed', error: 'TooManySteps', says: 'more than 1000 steps', calls: 2 },
  },
  {
    name: 'the same step a thousand times',
    respond: opsOnce(...many(1_000, (n) => op('StepRun', { data: n }))),
    must: { status: 'Completed', calls: 2 },
  },
  {
    name: 'no operation at all',
    respond: () => ({ status: 206, body: [] }),
    must: failedAfterRetry('AppError', 'returned no operation'),
  },
  {
    name: 'a finished step in every response',
    respond: () => ({ status: 206, body: [op('StepRun', { data: 1 })] }),
    must: { status: 'Failed', error: 'AppError', says: 'again', calls: 3 },
  },
];
