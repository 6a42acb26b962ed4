/** Responses that are nested too deep, or look like it. */
import { deep, failedAfterRetry, failedAtOnce, type HostileResponse, raw, step } from './entry.ts';

export const DEPTH: readonly HostileResponse[] = [
  {
    name: 'an output nested 100,000 deep',
    respond: () => ({ body: raw(deep(100_000)) }),
    must: failedAtOnce('AnswerTooDeep', '500 levels'),
  },
  {
    name: 'an output nested 5,000 deep',
    respond: () => ({ body: raw(deep(5_000)) }),
    must: failedAtOnce('AnswerTooDeep'),
  },
  {
    name: 'an output of objects nested 2,000,000 deep',
    respond: () => ({ body: raw(`${'{"a":'.repeat(700_000)}1${'}'.repeat(700_000)}`) }),
    must: failedAtOnce('AnswerTooDeep'),
  },
  {
    name: 'an output that opens a million lists and closes none',
    respond: () => ({ body: raw('['.repeat(1_000_000)) }),
    must: failedAtOnce('AnswerTooDeep'),
  },
  {
    name: 'an output nested 500 deep',
    respond: () => ({ body: raw(deep(500)) }),
    must: { status: 'Completed', calls: 1 },
  },
  {
    name: 'brackets by the thousand in a string',
    respond: () => ({ body: '['.repeat(5_000) }),
    must: { status: 'Completed', calls: 1 },
  },
  {
    name: 'a step output nested 100,000 deep',
    respond: () => ({
      status: 206,
      body: raw(`[{"id":"${step('s')}","op":"StepRun","name":"s","data":${deep(100_000)}}]`),
    }),
    must: failedAtOnce('AnswerTooDeep'),
  },
  {
    name: 'a step output nested 490 deep',
    respond: ({ number }) =>
      number === 0
        ? { status: 206, body: raw(`[{"id":"${step('s')}","op":"StepRun","name":"s","data":${deep(490)}}]`) }
        : { body: 'went on' },
    must: { status: 'Completed', calls: 2, output: 'went on' },
  },
  {
    name: 'an error nested 100,000 deep',
    respond: () => ({ status: 500, body: raw(deep(100_000)) }),
    must: failedAfterRetry('Error', 'status 500'),
  },
];
