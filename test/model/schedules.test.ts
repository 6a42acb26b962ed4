import { expect } from 'chai';
import fc from 'fast-check';
import { cronProblem } from '../../src/model/apps/cron.ts';
import { type LateTimer, ticksToRun } from '../../src/model/schedules/missed-ticks.ts';
import { jitterMs, tickingTrigger } from '../../src/model/schedules/schedules.ts';
import { lastTick, nextTick } from '../../src/model/schedules/ticks.ts';
import { clockPeriodAt, wallClockOffsetMs } from '../../src/model/schedules/wall-clock.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const at = (text: string) => Date.parse(text);
const iso = (ms: number | undefined) => (ms === undefined ? undefined : new Date(ms).toISOString());

/** The ticks after a time, as a chain of timers finds them: each asks anew, some milliseconds after the last. */
function chain(cron: string, from: string, count: number): (string | undefined)[] {
  const ticks: (string | undefined)[] = [];
  for (let now = at(from), i = 0; i < count; i++) {
    const tick = nextTick(cron, now) as number;
    ticks.push(iso(tick)?.replace(':00.000Z', 'Z'));
    now = tick + 5;
  }
  return ticks;
}

describe('Ticks of a schedule', () => {
  const SAME: [string, string][] = [
    ['@hourly', '0 * * * *'],
    ['@daily', '0 0 * * *'],
    ['@midnight', '0 0 * * *'],
    ['@weekly', '0 0 * * 0'],
    ['@monthly', '0 0 1 * *'],
    ['@yearly', '0 0 1 1 *'],
    ['@annually', '0 0 1 1 *'],
    ['30 9 * * MON', '30 9 * * 1'],
    ['0 0 * * 7', '0 0 * * 0'],
    ['CRON_TZ=Europe/Berlin 0 9 * * *', 'TZ=Europe/Berlin 0 9 * * *'],
  ];
  for (const [cron, same] of SAME) {
    it(`"${cron}" ticks as "${same}" does`, () => {
      expect(chain(cron, '2026-11-20T12:00:00Z', 5)).to.deep.equal(chain(same, '2026-11-20T12:00:00Z', 5));
    });
  }

  it('has six fields with seconds first, and an interval ticks at its multiples', () => {
    expect(chain('*/20 * * * * *', '2026-11-20T12:00:01Z', 3)).to.deep.equal([
      '2026-11-20T12:00:20.000Z',
      '2026-11-20T12:00:40.000Z',
      '2026-11-20T12:01Z',
    ]);
    expect(chain('@every 90m', '2026-11-20T12:10:00Z', 2)).to.deep.equal(['2026-11-20T13:30Z', '2026-11-20T15:00Z']);
    expect(iso(lastTick('@every 90m', at('2026-11-20T13:30:00Z')))).to.equal('2026-11-20T13:30:00.000Z');
  });

  it('come once, an hour later, for a nightly schedule whose time is skipped by the clock change', () => {
    const cron = 'TZ=Europe/Berlin 30 2 * * *';
    const ticks = ['2027-03-27T01:30Z', '2027-03-28T01:30Z', '2027-03-29T00:30Z'];
    expect(chain(cron, '2027-03-26T12:00:00Z', 3)).to.deep.equal(ticks);
    expect(iso(lastTick(cron, at('2027-03-28T12:00:00Z')))).to.equal('2027-03-28T01:30:00.000Z');
  });

  it('come once, at the first time, for a nightly schedule whose time is repeated by the clock change', () => {
    const cron = 'TZ=Europe/Berlin 30 2 * * *';
    const ticks = ['2026-10-24T00:30Z', '2026-10-25T00:30Z', '2026-10-26T01:30Z'];
    expect(chain(cron, '2026-10-23T12:00:00Z', 3)).to.deep.equal(ticks);
    for (const from of ['00:30:00.001', '00:59:59', '01:00:00.001', '01:29:59', '01:31']) {
      expect(iso(nextTick(cron, at(`2026-10-25T${from}Z`))), from).to.equal('2026-10-26T01:30:00.000Z');
    }
    expect(iso(lastTick(cron, at('2026-10-25T12:00:00Z')))).to.equal('2026-10-25T00:30:00.000Z');
  });

  it('come in both repeated hours for an hourly schedule', () => {
    const ticks = ['2026-10-25T00:00Z', '2026-10-25T01:00Z', '2026-10-25T02:00Z'];
    expect(chain('TZ=Europe/Berlin 0 * * * *', '2026-10-24T23:30:00Z', 3)).to.deep.equal(ticks);
  });

  for (const [timeZone, from, ...ticks] of [
    ['Africa/Cairo', '2026-04-22T23:00Z', '2026-04-23T22:00Z', '2026-04-24T21:00Z'],
    ['America/Santiago', '2026-09-05T05:00Z', '2026-09-06T04:00Z', '2026-09-07T03:00Z'],
    ['Asia/Beirut', '2026-03-28T00:00Z', '2026-03-28T22:00Z', '2026-03-29T21:00Z'],
    ['Atlantic/Azores', '2026-03-28T02:00Z', '2026-03-29T01:00Z', '2026-03-30T00:00Z'],
    ['America/Havana', '2026-03-07T06:00Z', '2026-03-08T05:00Z', '2026-03-09T04:00Z'],
  ] as const) {
    it(`come an hour later, on the same day, where the clocks skip midnight: in ${timeZone}`, () => {
      expect(chain(`TZ=${timeZone} 0 0 * * *`, from, 2)).to.deep.equal(ticks);
    });
  }

  for (const [timeZone, from, ...ticks] of [
    ['America/Havana', '2026-10-31T05:00Z', '2026-11-01T04:00Z', '2026-11-02T05:00Z'],
    ['Atlantic/Azores', '2026-10-24T01:00Z', '2026-10-25T00:00Z', '2026-10-26T01:00Z'],
  ] as const) {
    it(`come once where the clocks repeat midnight: in ${timeZone}`, () => {
      expect(chain(`TZ=${timeZone} 0 0 * * *`, from, 2)).to.deep.equal(ticks);
    });
  }

  it('come on time before the clocks skip the last hour of a day, and an hour later in it', () => {
    const ticks = ['2026-03-29T00:00Z', '2026-03-29T23:00Z'];
    expect(chain('TZ=America/Nuuk 0 22 * * *', '2026-03-28T01:30Z', 2)).to.deep.equal(ticks);
    expect(chain('TZ=America/Nuuk 0 23 * * *', '2026-03-28T01:30Z', 2)).to.deep.equal([
      '2026-03-29T01:00Z',
      '2026-03-30T00:00Z',
    ]);
  });

  it('come where the clocks are set by half an hour', () => {
    const hourly = 'TZ=Australia/Lord_Howe 0 * * * *';
    expect(chain(hourly, '2026-04-04T13:45Z', 2)).to.deep.equal(['2026-04-04T14:00Z', '2026-04-04T15:30Z']);
    expect(chain(hourly, '2026-10-03T14:00Z', 3)).to.deep.equal([
      '2026-10-03T14:30Z',
      '2026-10-03T15:30Z',
      '2026-10-03T16:00Z',
    ]);
    const nightly = 'TZ=Australia/Lord_Howe 0 2 * * *';
    expect(chain(nightly, '2026-04-04T10:00Z', 2)).to.deep.equal(['2026-04-04T15:30Z', '2026-04-05T15:30Z']);
  });

  it('come every 20 minutes also where the clocks are set back by an hour at a quarter to', () => {
    const ticks = ['2026-04-04T13:15Z', '2026-04-04T13:35Z', '2026-04-04T13:55Z', '2026-04-04T14:15Z'];
    expect(chain('TZ=Pacific/Chatham */20 * * * *', '2026-04-04T13:05Z', 4)).to.deep.equal(ticks);
  });

  it('come once a day in every time zone: at midnight, at its first time, or later by what the clocks skipped', () => {
    const zones = new Map<string, string>();
    // Most zones share their clocks with others.
    for (const timeZone of Intl.supportedValuesOf('timeZone')) {
      const offsets = Array.from({ length: 24 }, (_, i) => wallClockOffsetMs(Date.UTC(2026, i, 10), timeZone));
      zones.set(offsets.join(' '), timeZone);
    }
    expect(zones.size).to.be.greaterThan(40);
    for (const timeZone of zones.values()) {
      const cron = `TZ=${timeZone} 0 0 * * *`;
      const first = Date.UTC(2026, 0, 1);
      let tick = first - wallClockOffsetMs(first, timeZone) - 1;
      for (let wallMs = first; wallMs < Date.UTC(2028, 0, 1); wallMs += DAY) {
        tick = nextTick(cron, tick) as number;
        const offsetMs = wallClockOffsetMs(tick, timeZone);
        const lateMs = tick + offsetMs - wallMs;
        const skippedMs = offsetMs - wallClockOffsetMs(tick - DAY, timeZone);
        expect(lateMs, `${cron} ${iso(tick)}`).to.be.oneOf([0, Math.max(0, skippedMs)]);
        if (skippedMs < 0) {
          const beforeMs = tick + skippedMs;
          expect(beforeMs + wallClockOffsetMs(beforeMs, timeZone), `${cron} ${iso(tick)}`).to.be.lessThan(wallMs);
        }
      }
    }
  });

  it('are found one after the other, forward and backward, around any change of the clocks', () => {
    const patterns = ['* * * * *', '*/20 * * * *', '0 * * * *', '*/7 0-3,23 * * *', '30 2,3 * * *', '59 23 * * 6,0'];
    const cases = fc.record({
      timeZone: fc.constantFrom(...Intl.supportedValuesOf('timeZone')),
      pattern: fc.constantFrom(...patterns),
      year: fc.integer({ min: 1990, max: 2040 }),
      partMs: fc.integer({ min: 0, max: 12 * HOUR }),
    });
    fc.assert(
      fc.property(cases, ({ timeZone, pattern, year, partMs }) => {
        const cron = `TZ=${timeZone} ${pattern}`;
        const change = clockPeriodAt(Date.UTC(year, 0, 1), timeZone).to;
        let last = nextTick(cron, change - partMs) as number;
        for (let i = 0; i < 30; i++) {
          const next = nextTick(cron, last) as number;
          expect(next).to.be.greaterThan(last);
          expect([lastTick(cron, next), lastTick(cron, next - 1)]).to.deep.equal([next, last]);
          expect(nextTick(cron, next - 1)).to.equal(next);
          last = next;
        }
      }),
      { numRuns: 200 },
    );
  });

  it('do not depend on what was computed before', () => {
    for (const cron of ['TZ=America/New_York */15 1-3 * * *', 'TZ=Australia/Lord_Howe 45 1 * * *', '0 0 29 2 *']) {
      for (const day of ['2026-11-01', '2027-03-14', '2026-04-04', '2026-10-03', '2028-02-28']) {
        const ticks: number[] = [];
        const until = at(`${day}T23:59:00Z`);
        for (let now = at(`${day}T00:00:00Z`); now < until; now = ticks.at(-1) as number) {
          ticks.push(nextTick(cron, now) as number);
        }
        for (let now = at(`${day}T00:00:00Z`); now < until; now += 420_001) {
          const expected = ticks.find((tick) => tick > now);
          expect(iso(nextTick(cron, now)), `${cron} ${iso(now)}`).to.equal(iso(expected));
        }
      }
    }
  });

  it('do not exist for an impossible date or an invalid schedule', () => {
    for (const cron of ['0 0 31 2 *', 'every day', '@every nonsense', '61 * * * *']) {
      expect(nextTick(cron, 0), cron).to.equal(undefined);
      expect(lastTick(cron, 0), cron).to.equal(undefined);
    }
    expect(cronProblem('0 0 31 2 *')).to.include('never ticks');
    expect(cronProblem('0 0 29 2 *')).to.equal(undefined);
  });
});

describe('Missed ticks', () => {
  const due = at('2026-11-20T12:00:00Z');
  const late = (cron: string, lateMs: number, { isRepeated = false, catchUp }: Partial<LateTimer> = {}) => {
    const { run, skipped } = ticksToRun({ cron, dueAt: due, nowMs: due + lateMs, isRepeated, catchUp });
    const seconds = (tick: number) => (tick - due) / 1_000;
    return [run.map(seconds), skipped && [seconds(skipped.first), seconds(skipped.last), skipped.count]];
  };
  const run = (cron: string, lateMs: number, isRepeated = false) => late(cron, lateMs, { isRepeated })[0];

  it('run if they are on time or some seconds late, together with later ones', () => {
    expect(run('* * * * *', 3)).to.deep.equal([0]);
    expect(run('* * * * * *', 3_500)).to.deep.equal([0, 1, 2, 3]);
  });

  it('run only the last if they are missed for longer', () => {
    expect(run('* * * * *', 45_000)).to.deep.equal([0]);
    expect(run('* * * * *', 200_000)).to.deep.equal([180]);
    expect(run('* * * * * *', 11_500)).to.deep.equal([11]);
    expect(run('0 12 * * *', 3 * 86_400_000 + 1)).to.deep.equal([3 * 86_400]);
  });

  it('also run for ten minutes if a dead worker may have begun them', () => {
    expect(run('* * * * *', 45_000, true)).to.deep.equal([0]);
    expect(run('* * * * *', 90_000, true)).to.deep.equal([0, 60]);
    expect(run('*/2 * * * * *', 11_500, true)).to.deep.equal([0, 2, 4, 6, 8, 10]);
    expect(run('*/2 * * * * *', 31_500, true)).to.deep.equal([0, 2, 4, 6, 8, 10, 30]);
    expect(run('* * * * *', 660_000, true)).to.deep.equal([660]);
  });

  it('are reported if they do not run: the first, the last, and their number', () => {
    expect(late('* * * * *', 3)[1]).to.equal(undefined);
    expect(late('* * * * *', 45_000)[1]).to.equal(undefined);
    expect(late('* * * * *', 200_000)[1]).to.deep.equal([0, 120, 3]);
    expect(late('* * * * *', 90_000, { isRepeated: true })[1]).to.equal(undefined);
    expect(late('* * * * *', 200_000, { isRepeated: true })[1]).to.deep.equal([60, 120, 2]);
    expect(late('*/2 * * * * *', 31_500, { isRepeated: true })[1]).to.deep.equal([12, 28, 9]);
    expect(late('* * * * * *', 58_500)[1]).to.deep.equal([0, 57, 58]);
    expect(late('* * * * * *', 3_600_000)[1]).to.deep.equal([0, 3_599, undefined]);
  });

  it('all run, up to the last 1,000, if the trigger asks for it', () => {
    const all = { catchUp: 'all' as const };
    const seconds = (count: number, from = 0) => Array.from({ length: count }, (_, i) => from + i);
    expect(late('* * * * *', 200_000, all)).to.deep.equal([[0, 60, 120, 180], undefined]);
    expect(late('* * * * * *', 58_500, all)).to.deep.equal([seconds(59), undefined]);
    expect(late('* * * * * *', 58_500, { ...all, isRepeated: true })).to.deep.equal([seconds(59), undefined]);
    expect(late('* * * * * *', 1_499_000, all)).to.deep.equal([seconds(1_000, 500), [0, 499, 500]]);
    // The clocks skip 02:30 in spring.
    const skip = at('2026-03-27T01:30:00Z');
    const { run } = ticksToRun({
      ...{ cron: 'TZ=Europe/Berlin 30 2 * * *', dueAt: skip, nowMs: skip + 3 * 86_400_000, isRepeated: false },
      catchUp: 'all',
    });
    expect(run.map(iso)).to.deep.equal(
      ['2026-03-27T01:30', '2026-03-28T01:30', '2026-03-29T01:30', '2026-03-30T00:30'].map((text) => `${text}:00.000Z`),
    );
  });

  it('belong to the first of several schedules that tick at the same time, whichever timer fires first', () => {
    const triggers = [
      { event: 'x' },
      { cron: '0 12 * * *' },
      { cron: '*/5 * * * *', jitter: '30s' },
      { cron: '* * * * *' },
    ];
    const ticking = (tick: number) => tickingTrigger({ triggers }, tick)?.cron;
    expect(ticking(due)).to.equal('0 12 * * *');
    expect(ticking(due + 300_000)).to.equal('*/5 * * * *');
    expect(ticking(due + 360_000)).to.equal('* * * * *');
    expect(ticking(due + 1_000)).to.equal(undefined);
  });

  it('have the same jitter for the same run, below the maximum of the trigger', () => {
    const trigger = { cron: '* * * * *', jitter: '30s' };
    const all = Array.from({ length: 1_000 }, (_, i) => jitterMs(`01JD${i}`, trigger));
    expect(Math.min(...all)).to.be.within(0, 200);
    expect(Math.max(...all)).to.be.within(29_800, 29_999);
    expect(jitterMs('01JD7', trigger)).to.equal(all[7]);
    expect(jitterMs('01JD7', { cron: '* * * * *' })).to.equal(0);
  });
});
