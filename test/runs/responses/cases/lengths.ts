/** Names, outputs and errors that are too long, or of the wrong kind. */
import { failedAfterRetry, failedAtOnce, type HostileResponse, op, opsOnce, raw, step } from './entry.ts';

export const LENGTHS: readonly HostileResponse[] = [
  {
    name: 'a step name of 5,000 characters',
    respond: opsOnce(op('StepRun', { displayName: 'n'.repeat(5_000) })),
    must: failedAtOnce('NameTooLong', '5000 characters, more than 1024'),
  },
  {
    name: 'a function ID of a megabyte',
    respond: opsOnce(op('InvokeFunction', { opts: { function_id: 'f'.repeat(1_000_000) } })),
    must: failedAtOnce('NameTooLong'),
  },
  {
    name: 'an output with more large numbers than are kept exactly',
    respond: () => ({ body: raw(`[${Array(20_001).fill('12345678901234567890')}]`) }),
    must: { status: 'Completed', calls: 1, output: Array(20_001).fill(12_345_678_901_234_567_000) },
  },
  {
    name: 'an output of 5 MB',
    respond: () => ({ body: 'x'.repeat(5_000_000) }),
    must: failedAfterRetry('OutputTooLarge'),
  },
  {
    name: 'a step output of a little more than 4 MiB',
    respond: opsOnce(op('StepRun', { data: 'x'.repeat(4_194_310) })),
    must: { status: 'Completed', calls: 2 },
  },
  {
    name: 'two steps with the largest outputs',
    respond: opsOnce(...['a', 'b'].map((id) => op('StepRun', { id: step(id), data: 'x'.repeat(4_194_290) }))),
    must: { status: 'Completed', calls: 2 },
  },
  {
    name: 'a response of 9 MB',
    respond: () => ({ body: 'x'.repeat(9_000_000) }),
    must: failedAfterRetry('OutputTooLarge', 'larger than 8454144 bytes'),
  },
  {
    name: 'an error message of a megabyte',
    respond: () => ({
      status: 400,
      headers: { 'x-service-no-retry': 'true' },
      body: { name: 'E', message: 'm'.repeat(1_000_000) },
    }),
    must: failedAtOnce('E', '(1000000 characters in total)'),
  },
  {
    name: 'an error that is not an object',
    respond: () => ({ status: 500, body: 42 }),
    must: failedAfterRetry('Error', 'status 500'),
  },
  {
    name: 'an error whose fields are not text',
    respond: () => ({ status: 500, body: { name: {}, message: [], stack: 1 } }),
    must: failedAfterRetry('Error'),
  },
  {
    name: 'a failed step with an invalid error',
    respond: opsOnce(op('StepFailed', { data: { name: {}, message: 5 } })),
    must: { status: 'Completed', calls: 2 },
  },
];
