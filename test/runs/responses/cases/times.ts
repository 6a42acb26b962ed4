/** Sleeps and timeouts that never end, or are invalid. */
import { failedAfterRetry, failedAtOnce, type HostileResponse, op, opsOnce } from './entry.ts';

export const TIMES: readonly HostileResponse[] = [
  {
    name: 'a sleep of 99999999999999 weeks',
    respond: opsOnce(op('Sleep', { name: '99999999999999w' })),
    must: failedAtOnce('SleepTooLong', '1827 days'),
  },
  {
    name: 'a sleep of a number of 90 digits',
    respond: opsOnce(op('Sleep', { name: `${'9'.repeat(90)}s` })),
    must: failedAtOnce('SleepTooLong'),
  },
  {
    name: 'a sleep until the year 9999',
    respond: opsOnce(op('Sleep', { name: '9999-12-31T00:00:00Z' })),
    must: failedAtOnce('SleepTooLong'),
  },
  {
    name: 'a sleep until the last possible date',
    respond: opsOnce(op('Sleep', { name: '+275760-09-13T00:00:00Z' })),
    must: failedAtOnce('SleepTooLong'),
  },
  {
    name: 'a sleep of -99999999999999 weeks',
    respond: opsOnce(op('Sleep', { name: '-99999999999999w' })),
    must: { status: 'Completed', calls: 2 },
  },
  {
    name: 'a sleep of no time at all',
    respond: opsOnce(op('Sleep', { name: 'tomorrow-ish' })),
    must: failedAtOnce('InvalidSleep'),
  },
  {
    name: 'a sleep that is a list',
    respond: () => ({ status: 206, body: [op('Sleep', { opts: { duration: ['1s'] } })] }),
    must: failedAfterRetry('AppError'),
  },
  {
    name: 'a sleep of a megabyte of digits',
    respond: opsOnce(op('Sleep', { opts: { duration: '1'.repeat(1_000_000) } })),
    must: failedAtOnce('NameTooLong', 'duration'),
  },
  {
    name: 'a wait of a thousand years',
    respond: opsOnce(op('WaitForEvent', { opts: { event: 'x', timeout: '52000w' } })),
    must: failedAtOnce('TimeoutTooLong'),
  },
  {
    name: 'an invocation of a thousand years',
    respond: opsOnce(op('InvokeFunction', { opts: { function_id: 'x', timeout: '52000w' } })),
    must: failedAtOnce('TimeoutTooLong'),
  },
  {
    name: 'a wait without an end that is a date',
    respond: opsOnce(op('WaitForEvent', { opts: { event: 'x', timeout: 'never' } })),
    must: failedAtOnce('InvalidTimeout'),
  },
  {
    name: 'a wait for no event',
    respond: opsOnce(op('WaitForEvent', { name: '' })),
    must: failedAtOnce('InvalidWait'),
  },
  {
    name: 'a retry-after of 400 digits, and of another kind',
    respond: ({ number }) =>
      number === 0 ? { status: 500, headers: { 'retry-after': 'soon' }, body: { message: 'no' } } : {},
    must: { status: 'Completed', calls: 2 },
  },
];
