/** Bodies that break the protocol. */
import { failedAfterRetry, failedAtOnce, type HostileResponse, op, opsOnce, raw, step } from './entry.ts';

export const SHAPES: readonly HostileResponse[] = [
  {
    name: 'an ID that is not a hash',
    respond: opsOnce(op('StepRun', { id: '../../etc' })),
    must: { status: 'Completed', calls: 2 },
  },
  {
    name: 'an ID of a thousand characters',
    respond: () => ({ status: 206, body: [op('StepRun', { id: 'i'.repeat(1_000) })] }),
    must: failedAfterRetry('AppError', '0.id'),
  },
  {
    name: 'an ID that is half a surrogate pair',
    respond: () => ({ status: 206, body: raw('[{"id":"\\ud800","op":"StepRun"}]') }),
    must: failedAfterRetry('AppError', '0.id'),
  },
  {
    name: 'IDs that look like other things',
    respond: opsOnce(
      op('StepPlanned', { id: '1' }),
      op('Sleep', { id: '__proto__', name: '1ms' }),
      op('Sleep', { id: 'a:b-wake', name: '1ms' }),
      op('WaitForEvent', { id: 'cancel-0', name: 'never/x', opts: { timeout: '1ms' } }),
    ),
    must: { status: 'Completed', calls: 2 },
  },
  {
    name: 'an unknown operation',
    respond: () => ({ status: 206, body: [op('FlushAll')] }),
    must: failedAtOnce('UnsupportedOperation', 'the operation "FlushAll" is not supported by this service'),
  },
  {
    name: 'an unknown operation whose fields have other types than those of known ones',
    respond: () => ({
      status: 206,
      body: [op('FlushAll', { name: 1, displayName: {}, error: 'text', timing: [], opts: 'text', metadata: 1 })],
    }),
    must: failedAtOnce('UnsupportedOperation', 'the operation "FlushAll" is not supported by this service'),
  },
  {
    name: 'an unknown operation with the name of a property of objects',
    respond: () => ({ status: 206, body: [op('constructor')] }),
    must: failedAtOnce('UnsupportedOperation', 'the operation "constructor" is not supported by this service'),
  },
  {
    name: 'an unknown operation that says what it is in code',
    respond: () => ({ status: 206, body: [op('Stream', { opts: { type: 'step.stream' } })] }),
    must: failedAtOnce('UnsupportedOperation', 'step.stream is not supported by this service'),
  },
  {
    name: 'an unknown operation among known ones',
    respond: opsOnce(op('FlushAll', { id: step('t'), opts: { event: { a: 1 } } }), op('StepRun')),
    must: { status: 'Completed', calls: 2 },
  },
  {
    name: 'null instead of operations',
    respond: () => ({ status: 206, body: null }),
    must: failedAfterRetry('AppError'),
  },
  {
    name: 'a list of lists of operations',
    respond: () => ({ status: 206, body: [[op('StepRun')]] }),
    must: failedAfterRetry('AppError'),
  },
  {
    name: 'HTML instead of JSON',
    respond: () => ({ body: raw('<html>') }),
    must: { status: 'Completed', calls: 1, output: '<html>' },
  },
  {
    name: 'a byte order mark',
    respond: () => ({ body: raw('\ufeff{}') }),
    must: { status: 'Completed', calls: 1, output: '\ufeff{}' },
  },
  { name: 'an empty body', respond: () => ({ body: raw('') }), must: { status: 'Completed', calls: 1, output: null } },
  {
    name: 'bytes that are not UTF-8',
    respond: () => ({ body: Buffer.from([0x22, 0xff, 0xfe, 0x22]) }),
    must: { status: 'Completed', calls: 1, output: '\ufffd\ufffd' },
  },
  {
    name: 'half a surrogate pair in a step',
    respond: ({ number }) =>
      number === 0
        ? { status: 206, body: raw(`[{"id":"${step('s')}","op":"StepRun","name":"\\ud800","data":"\\ud800"}]`) }
        : { body: 'went on' },
    must: { status: 'Completed', calls: 2 },
  },
  {
    name: 'a step output with a number too large for a double',
    respond: ({ number }) =>
      number === 0
        ? { status: 206, body: raw(`[{"id":"${step('s')}","op":"StepRun","name":"s","data":1e999}]`) }
        : { body: 'went on' },
    must: { status: 'Completed', calls: 2 },
  },
  {
    name: 'operations that pollute the prototype',
    respond: ({ number }) =>
      number === 0
        ? {
            status: 206,
            body: raw(
              `[{"__proto__":{"admin":true},"constructor":{"prototype":1},"id":"${step('s')}","op":"StepRun","name":"s","data":{"__proto__":{"x":1}}}]`,
            ),
          }
        : { body: 'went on' },
    must: { status: 'Completed', calls: 2 },
  },
  {
    name: 'a completion among other operations',
    respond: () => ({ status: 206, body: [op('Sleep', { name: '1d' }), op('RunComplete', { data: 'over' })] }),
    must: { status: 'Completed', calls: 1, output: 'over' },
  },
  {
    name: 'a step that the function does not have',
    respond: () => ({ status: 206, body: [op('StepNotFound')] }),
    must: failedAfterRetry('StepNotFound'),
  },
  {
    name: 'an invocation of an unknown function',
    respond: opsOnce(op('InvokeFunction', { opts: { function_id: 'nobody' } })),
    must: { status: 'Completed', calls: 2 },
  },
];
