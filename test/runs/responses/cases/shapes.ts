/** Bodies that break the protocol. */
import { failedAfterRetry, type HostileResponse, op, opsOnce, raw, step } from './entry.ts';

export const SHAPES: readonly HostileResponse[] = [
  {
    name: 'an ID that is not a hash',
    answer: () => ({ status: 206, body: [op('StepRun', { id: '../../etc' })] }),
    must: failedAfterRetry('AppError', '0.id'),
  },
  {
    name: 'an unknown operation',
    answer: () => ({ status: 206, body: [op('FlushAll')] }),
    must: failedAfterRetry('AppError', '0.op'),
  },
  {
    name: 'null instead of operations',
    answer: () => ({ status: 206, body: null }),
    must: failedAfterRetry('AppError'),
  },
  {
    name: 'a list of lists of operations',
    answer: () => ({ status: 206, body: [[op('StepRun')]] }),
    must: failedAfterRetry('AppError'),
  },
  {
    name: 'HTML instead of JSON',
    answer: () => ({ body: raw('<html>') }),
    must: failedAfterRetry('AppError', 'not JSON'),
  },
  {
    name: 'a byte order mark',
    answer: () => ({ body: raw('\ufeff{}') }),
    must: failedAfterRetry('AppError', 'not JSON'),
  },
  { name: 'an empty body', answer: () => ({ body: raw('') }), must: { status: 'Completed', calls: 1, output: null } },
  {
    name: 'bytes that are not UTF-8',
    answer: () => ({ body: Buffer.from([0x22, 0xff, 0xfe, 0x22]) }),
    must: { status: 'Completed', calls: 1, output: '\ufffd\ufffd' },
  },
  {
    name: 'half a surrogate pair in a step',
    answer: ({ number }) =>
      number === 0
        ? { status: 206, body: raw(`[{"id":"${step('s')}","op":"StepRun","name":"\\ud800","data":"\\ud800"}]`) }
        : { body: 'went on' },
    must: { status: 'Completed', calls: 2 },
  },
  {
    name: 'a step output with a number too large for a double',
    answer: ({ number }) =>
      number === 0
        ? { status: 206, body: raw(`[{"id":"${step('s')}","op":"StepRun","name":"s","data":1e999}]`) }
        : { body: 'went on' },
    must: { status: 'Completed', calls: 2 },
  },
  {
    name: 'operations that pollute the prototype',
    answer: ({ number }) =>
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
    answer: () => ({ status: 206, body: [op('Sleep', { name: '1d' }), op('RunComplete', { data: 'over' })] }),
    must: { status: 'Completed', calls: 1, output: 'over' },
  },
  {
    name: 'a step that the function does not have',
    answer: () => ({ status: 206, body: [op('StepNotFound')] }),
    must: failedAfterRetry('StepNotFound'),
  },
  {
    name: 'an invocation of an unknown function',
    answer: opsOnce(op('InvokeFunction', { opts: { function_id: 'nobody' } })),
    must: { status: 'Completed', calls: 2 },
  },
];
