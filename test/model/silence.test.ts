import { expect } from 'chai';
import fc from 'fast-check';
import { silenceOf, type TrafficHistory } from '../../src/model/webhooks/silence.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** A Monday. */
const START = Date.UTC(2026, 0, 5);

/** What the store has of requests at these times: the hours of the last 8 days. */
function historyOf(times: readonly number[]): TrafficHistory {
  const lastAt = times.at(-1) as number;
  const hours = new Map<number, { hour: number; requests: number; longestGapMs: number }>();
  for (const [i, at] of times.entries()) {
    const hour = Math.floor(at / HOUR);
    const gap = i === 0 ? 0 : at - (times[i - 1] as number);
    const known = hours.get(hour) ?? { hour, requests: 0, longestGapMs: 0 };
    hours.set(hour, { hour, requests: known.requests + 1, longestGapMs: Math.max(known.longestGapMs, gap) });
  }
  const kept = [...hours.values()].filter(({ hour }) => hour > Math.floor(lastAt / HOUR) - 8 * 24);
  return { hours: kept, lastAt };
}

/** Whether the webhook is ever called silent between two of its requests. */
function falseAlarms(times: readonly number[]): number[] {
  return times.slice(0, -1).flatMap((_, i) => {
    const next = times[i + 1] as number;
    // Only gaps of more than an hour can be one.
    if (next - (times[i] as number) < HOUR) return [];
    const from = silenceOf(historyOf(times.slice(0, i + 1)))?.from;
    return from !== undefined && from <= next ? [i] : [];
  });
}

/** A reproducible source of numbers in [0, 1). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
    return ((state ^ (state >>> 13)) >>> 0) / 2 ** 32;
  };
}

/** Requests at random times, as many per hour as the time of the week has. */
function trafficOf(days: number, perHour: (weekday: number, hour: number) => number, seed: number): number[] {
  const random = randomOf(seed);
  const times: number[] = [];
  for (let at = START; at < START + days * DAY; ) {
    const weekday = Math.floor((at - START) / DAY) % 7;
    const rate = perHour(weekday, Math.floor((at % DAY) / HOUR));
    const step = rate === 0 ? Number.POSITIVE_INFINITY : (-Math.log(1 - random()) / rate) * HOUR;
    const endOfHour = (Math.floor(at / HOUR) + 1) * HOUR;
    at = Math.min(at + step, endOfHour);
    if (at < endOfHour) times.push(Math.floor(at));
  }
  return times;
}

/** One request in each interval. */
const every = (ms: number, days: number) =>
  Array.from({ length: Math.floor((days * DAY) / ms) }, (_, i) => START + i * ms);

/** Chance has a part in traffic: the same each time, so that a failure can be looked into. */
const RUNS = { numRuns: 30, seed: 18 };
const seeds = fc.integer({ min: 1, max: 2 ** 31 - 1 });

describe('Silence of webhooks', () => {
  it('a webhook with a request each minute is silent after an hour without one', () => {
    const times = every(60_000, 10);
    expect(silenceOf(historyOf(times))?.from).to.equal((times.at(-1) as number) + HOUR);
  });

  it('a webhook with a request each hour is silent when ten would have been expected', () => {
    const times = every(HOUR, 10);
    const { from, requestsPerHour } = silenceOf(historyOf(times)) ?? {};
    expect(from).to.be.closeTo((times.at(-1) as number) + 10 * HOUR, HOUR / 5);
    expect(requestsPerHour).to.be.closeTo(1, 0.02);
  });

  it('a webhook is never silent with fewer than 20 requests in the week before, or with less than a day of history', () => {
    expect(silenceOf(historyOf(every(DAY / 2, 30)))).to.equal(undefined);
    expect(silenceOf(historyOf(every(60_000, 1)))).to.equal(undefined);
    expect(silenceOf({ hours: [], lastAt: START })).to.equal(undefined);
  });

  it('a webhook in its first week is silent after three days, since its weekend may still come', () => {
    const times = every(60_000, 3);
    expect(silenceOf(historyOf(times))?.from).to.equal((times.at(-1) as number) + 3 * DAY);
  });

  it('the end of office traffic is detected after twice its weekend', () => {
    const office = (weekday: number, hour: number) => (weekday < 5 && hour >= 8 && hour < 18 ? 60 : 0);
    const times = trafficOf(16, office, 7).filter((at) => at < START + 15 * DAY + 12 * HOUR);
    const lastAt = times.at(-1) as number;
    const { from = Number.POSITIVE_INFINITY } = silenceOf(historyOf(times)) ?? {};
    expect(from - lastAt).to.be.within(2 * 61 * HOUR, 2 * 63 * HOUR);
  });

  it('nights and weekends of office traffic raise no alarm, from its first day on', () => {
    fc.assert(
      fc.property(
        seeds,
        fc.integer({ min: 2, max: 40 }),
        fc.integer({ min: 5, max: 10 }),
        fc.integer({ min: 16, max: 22 }),
        (seed, rate, opens, closes) => {
          const office = (weekday: number, hour: number) => (weekday < 5 && hour >= opens && hour < closes ? rate : 0);
          expect(falseAlarms(trafficOf(24, office, seed))).to.deep.equal([]);
        },
      ),
      RUNS,
    );
  });

  it('traffic that only slows down at night and on weekends raises no alarm', () => {
    fc.assert(
      fc.property(seeds, fc.integer({ min: 20, max: 60 }), (seed, rate) => {
        const waves = (weekday: number, hour: number) =>
          rate * (weekday < 5 ? 1 : 0.3) * (0.55 + 0.45 * Math.cos(((hour - 14) / 12) * Math.PI));
        expect(falseAlarms(trafficOf(15, waves, seed))).to.deep.equal([]);
      }),
      RUNS,
    );
  });

  it('one burst each night, or each week, raises no alarm', () => {
    fc.assert(
      fc.property(seeds, fc.integer({ min: 0, max: 23 }), fc.constantFrom(1, 7), (seed, hour, days) => {
        const random = randomOf(seed);
        const bursts = Array.from({ length: Math.ceil(35 / days) }, (_, n) => {
          const at = START + n * days * DAY + hour * HOUR + Math.floor(random() * HOUR);
          return Array.from({ length: 100 }, (_, i) => at + i * 20);
        });
        expect(falseAlarms(bursts.flat())).to.deep.equal([]);
      }),
      RUNS,
    );
  });
});
