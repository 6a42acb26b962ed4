/** Bodies that are not what the protocol says. */
import { failedAfterRetry, type HostileAnswer, op, opsOnce, raw, step } from './entry.ts';

export const SHAPES: readonly HostileAnswer[] = [
  {
    name: 'an ID that is no hash',
    answer: () => ({ status: 206, body: [op('StepRun', { id: '../../etc' })] }),
    must: failedAfterRetry('AppError', '0.id'),
  },
  {
    name: 'an operation that there is not',
    answer: () => ({ status: 206, body: [op('FlushAll')] }),
    must: failedAfterRetry('AppError', '0.op'),
  },
  { name: 'null for operations', answer: () => ({ status: 206, body: null }), must: failedAfterRetry('AppError') },
  {
    name: 'a list of lists of operations',
    answer: () => ({ status: 206, body: [[op('StepRun')]] }),
    must: failedAfterRetry('AppError'),
  },
  { name: 'no JSON', answer: () => ({ body: raw('<html>') }), must: failedAfterRetry('AppError', 'not JSON') },
  {
    name: 'a byte order mark',
    answer: () => ({ body: raw('\ufeff{}') }),
    must: failedAfterRetry('AppError', 'not JSON'),
  },
  { name: 'nothing', answer: () => ({ body: raw('') }), must: { status: 'Completed', calls: 1, output: null } },
  {
    name: 'bytes that are no UTF-8',
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
    name: 'a number beyond all numbers in a step',
    answer: ({ number }) =>
      number === 0
        ? { status: 206, body: raw(`[{"id":"${step('s')}","op":"StepRun","name":"s","data":1e999}]`) }
        : { body: 'went on' },
    must: { status: 'Completed', calls: 2 },
  },
  {
    name: 'the prototype of all objects',
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
    name: 'an end among other operations',
    answer: () => ({ status: 206, body: [op('Sleep', { name: '1d' }), op('RunComplete', { data: 'over' })] }),
    must: { status: 'Completed', calls: 1, output: 'over' },
  },
  {
    name: 'a step that its code does not have',
    answer: () => ({ status: 206, body: [op('StepNotFound')] }),
    must: failedAfterRetry('StepNotFound'),
  },
  {
    name: 'an invocation of a function that there is not',
    answer: opsOnce(op('InvokeFunction', { opts: { function_id: 'nobody' } })),
    must: { status: 'Completed', calls: 2 },
  },
];
