import { expect } from 'chai';
import { checkFlow } from '../../src/model/flow-control/flow-check.ts';
import { FUNCTION_LIMITS } from '../support/function-limits.ts';

/** [what is given, what the problem says] */
type Case = [config: object, problem: string];

const INTEGER = 'an integer from 1 to 2^53 - 1';
const EXPRESSION = 'a CEL expression over `event`';

const INVALID: Record<string, Case[]> = {
  concurrency: [
    [{ concurrency: -1 }, `field "concurrency": got the number -1: ${INTEGER}`],
    [{ concurrency: 1.5 }, `field "concurrency": got the number 1.5: ${INTEGER}`],
    [{ concurrency: 2 ** 53 }, `field "concurrency": got the number 9007199254740992: ${INTEGER}`],
    [{ concurrency: { limit: '5' } }, `field "concurrency.limit": got the string "5": ${INTEGER}`],
    [
      { concurrency: 'five' },
      'field "concurrency": got the string "five": an integer, an object with limit, key and scope',
    ],
    [{ concurrency: [{ limit: 1 }, { limit: -1 }] }, `field "concurrency.1.limit": got the number -1: ${INTEGER}`],
    [{ concurrency: [5] }, 'field "concurrency.0": got the number 5: an object with the fields limit, key, scope'],
    [
      { concurrency: [{ limit: 1 }, { limit: 2 }, { limit: 3 }] },
      'field "concurrency": got an array: a list of at most 2 limits, and this one has 3',
    ],
    [
      { concurrency: { fn: [{ limit: 1 }, { limit: 2 }, { limit: 3 }] } },
      'field "concurrency.fn": got an array: a list of at most 2 limits, and this one has 3',
    ],
    [{ concurrency: { step: { limit: 1 } } }, 'field "concurrency.step": got an object: a list of at most 2 limits'],
    [
      { concurrency: { limit: 1, key: 'event.id', scope: 'global' } },
      'field "concurrency.scope": got the string "global": "fn" or "env" or "account"',
    ],
    [
      { concurrency: { step: [{ limit: 1, scope: 'account' }] } },
      'field "concurrency.step.0.key": got nothing: a key: functions share a limit of the scope "env" or "account" by it',
    ],
    [
      { concurrency: { limit: 1, scope: 'env', key: '' } },
      'field "concurrency.key": got the string "": a key: functions share a limit',
    ],
  ],
  throttle: [
    [{ throttle: 5 }, 'field "throttle": got the number 5: an object with the fields limit, period, burst, key'],
    [{ throttle: { limit: 0, period: '1m' } }, `field "throttle.limit": got the number 0: ${INTEGER}`],
    [{ throttle: { limit: 1 } }, 'field "throttle.period": got nothing: a time string from 1s to 7d, such as "30s"'],
    [{ throttle: { limit: 1, period: '999ms' } }, 'field "throttle.period": got the string "999ms": a time string'],
    [{ throttle: { limit: 1, period: '169h' } }, 'field "throttle.period": got the string "169h": a time string'],
    [{ throttle: { limit: 1, period: 'soon' } }, 'field "throttle.period": got the string "soon": a time string'],
    [{ throttle: { limit: 1, period: 60 } }, 'field "throttle.period": got the number 60: a time string'],
    [
      { throttle: { limit: 1, period: '1m', burst: -1 } },
      'field "throttle.burst": got the number -1: an integer from 0 to 2^53 - 1',
    ],
  ],
  rateLimit: [
    [{ rateLimit: { limit: 0, period: '1m' } }, `field "rateLimit.limit": got the number 0: ${INTEGER}`],
    [
      { rateLimit: { limit: 1, period: '25h' } },
      'field "rateLimit.period": got the string "25h": a time string from 1s to 24h, such as "30s"',
    ],
  ],
  debounce: [
    [{ debounce: { period: '8d' } }, 'field "debounce.period": got the string "8d": a time string from 1s to 7d'],
    [{ debounce: { timeout: '1m' } }, 'field "debounce.period": got nothing: a time string from 1s to 7d'],
    [
      { debounce: { period: '1m', timeout: 'never' } },
      'field "debounce.timeout": got the string "never": a time string from 1ms to 1827d',
    ],
  ],
  batchEvents: [
    [
      { batchEvents: { maxSize: 1, timeout: '5s' } },
      'field "batchEvents.maxSize": got the number 1: an integer from 2 to 100 (BATCH_SIZE_MAX)',
    ],
    [{ batchEvents: { maxSize: 101, timeout: '5s' } }, 'field "batchEvents.maxSize": got the number 101'],
    [
      { batchEvents: { maxSize: 2, timeout: '61s' } },
      'field "batchEvents.timeout": got the string "61s": a time string from 1s to 60s (BATCH_TIMEOUT_MAX_SECONDS)',
    ],
    [{ batchEvents: { maxSize: 2, timeout: '500ms' } }, 'field "batchEvents.timeout": got the string "500ms"'],
    [{ batchEvents: { maxSize: 2, timeout: null } }, 'field "batchEvents.timeout": got null'],
  ],
  singleton: [
    [{ singleton: { mode: 'queue' } }, 'field "singleton.mode": got the string "queue": "skip" or "cancel"'],
    [{ singleton: { key: 'event.id' } }, 'field "singleton.mode": got nothing: "skip" or "cancel"'],
    [{ Singleton: { mode: 'queue' } }, 'field "singleton.mode": got the string "queue"'],
  ],
  timeouts: [
    [
      { timeouts: { start: '2000d' } },
      'field "timeouts.start": got the string "2000d": a time string from 1ms to 1827d',
    ],
    [{ timeouts: { finish: 5 } }, 'field "timeouts.finish": got the number 5: a time string'],
  ],
};

const limits = { limit: 1, period: '1m' };
/** [field, the configuration with an expression there] */
const EXPRESSIONS: [field: string, of: (source: unknown) => object][] = [
  ['concurrency.key', (key) => ({ concurrency: { limit: 1, key } })],
  ['concurrency.1.key', (key) => ({ concurrency: [{ limit: 1 }, { limit: 1, key }] })],
  ['concurrency.fn.0.key', (key) => ({ concurrency: { fn: [{ limit: 1, key }] } })],
  ['concurrency.step.0.key', (key) => ({ concurrency: { step: [{ limit: 1, scope: 'env', key }] } })],
  ['throttle.key', (key) => ({ throttle: { ...limits, key } })],
  ['rateLimit.key', (key) => ({ rateLimit: { ...limits, key } })],
  ['debounce.key', (key) => ({ debounce: { period: '1m', key } })],
  ['batchEvents.key', (key) => ({ batchEvents: { maxSize: 2, timeout: '1s', key } })],
  ['batchEvents.if', (source) => ({ batchEvents: { maxSize: 2, timeout: '1s', if: source } })],
  ['singleton.key', (key) => ({ singleton: { mode: 'skip', key } })],
  ['priority.run', (run) => ({ priority: { run } })],
  ['idempotency', (idempotency) => ({ idempotency })],
];

function problemOf(config: object, more = {}): string | undefined {
  const check = checkFlow({ ...config }, { ...FUNCTION_LIMITS, ...more });
  for (;;) {
    const { done, value } = check.next();
    if (done) return value;
  }
}

describe('The check of flow control at a registration', () => {
  for (const [field, cases] of Object.entries(INVALID)) {
    it(`names the problem of ${field}, the given value and what is allowed`, () => {
      for (const [config, problem] of cases) expectStart(problemOf(config), problem);
    });
  }

  it('names every expression that is not valid CEL, too large, or not a string', () => {
    for (const [field, of] of EXPRESSIONS) {
      expect(problemOf(of('event.data.tenant')), field).to.equal(undefined);
      expectStart(
        problemOf(of('event.data.')),
        `field "${field}": got the string "event.data.": ${EXPRESSION}; it is not valid: `,
      );
      expect(problemOf(of('x')), field).to.include('it is not valid: Unknown variable: x');
      const long = `"${'x'.repeat(5_000)}"`;
      expect(problemOf(of(long)), field).to.include('has 5002 characters; at most 4096 are allowed');
      expect(problemOf(of(7)), field).to.equal(`field "${field}": got the number 7: ${EXPRESSION}, as a string`);
    }
  });

  it('rejects batches together with options that apply to a single event', () => {
    const batchEvents = { maxSize: 2, timeout: '1s' };
    const others = {
      rateLimit: limits,
      idempotency: 'event.id',
      debounce: { period: '1m' },
      singleton: { mode: 'skip' },
      order: { key: 'event.id' },
      priority: { run: '1' },
      cancel: [{ event: 'a/b' }],
    };
    const allowed =
      'it cannot be combined with "rateLimit", "idempotency", "debounce", "singleton", "order", "priority" or "cancel"';
    for (const [field, value] of Object.entries(others)) {
      expect(problemOf({ batchEvents, [field]: value })).to.equal(
        `field "batchEvents": got it together with "${field}": ${allowed}`,
      );
    }
    expect(problemOf({ batchEvents, ...others, throttle: limits })).to.include('"priority" and "cancel": it cannot');
    const fitting = { concurrency: { limit: 1, key: 'event.id' }, throttle: limits, timeouts: { finish: '1m' } };
    const absent = { cancel: [], rateLimit: null, priority: { run: null }, idempotency: '' };
    expect(problemOf({ batchEvents, ...fitting, ...absent })).to.equal(undefined);
  });

  it('rejects an order without a key, or together with a singleton', () => {
    const order = { key: 'event.id', by: 'event.ts', window: '1h', onStale: 'SKIP', onFailure: 'park' };
    expect(problemOf({ order })).to.equal(undefined);
    expect(problemOf({ order: { by: 'event.ts' } })).to.equal(
      `field "order.key": got nothing: ${EXPRESSION}, as a string`,
    );
    expect(problemOf({ order: { ...order, window: '61m' } })).to.include('to 60m');
    expect(problemOf({ order: { ...order, by: 'event.' } })).to.include('field "order.by"');
    expect(problemOf({ order, singleton: { mode: 'skip' } })).to.include('got it together with "singleton"');
  });

  it('allows larger and slower batches where the settings do', () => {
    const config = { batchEvents: { maxSize: 1_000, timeout: '5m' } };
    expect(problemOf(config, { batchSize: 1_000, batchTimeoutMs: 300_000 })).to.equal(undefined);
    const of = (size: number) => ({ batchEvents: { maxSize: size, timeout: '5s' } });
    expect(problemOf(of(1_001), { batchSize: 1_000 })).to.include('from 2 to 1,000 (BATCH_SIZE_MAX)');
  });

  it('accepts the bounds of every range', () => {
    const most = Number.MAX_SAFE_INTEGER;
    for (const config of [
      { concurrency: most },
      { throttle: { limit: most, period: '7d', burst: most } },
      { throttle: { limit: 1, period: '1s', burst: 0 } },
      { rateLimit: { limit: most, period: '24h' } },
      { rateLimit: { limit: 1, period: '1s' } },
      { debounce: { period: '1s', timeout: '1ms' } },
      { debounce: { period: '7d', timeout: '30d' } },
      { batchEvents: { maxSize: 2, timeout: '1s' } },
      { batchEvents: { maxSize: 100, timeout: '60s' } },
      { timeouts: { start: '1ms', finish: '1827d' } },
    ]) {
      expect(problemOf(config), JSON.stringify(config)).to.equal(undefined);
    }
  });

  it('handles nested and unusual values', () => {
    let nested: unknown = 'x';
    for (let depth = 0; depth < 20_000; depth++) nested = [nested];
    expect(problemOf({ concurrency: nested })).to.include('field "concurrency.0": got an array');
    expect(problemOf({ throttle: { ...limits, note: nested } })).to.equal(undefined);
    expect(problemOf({ priority: { run: { run: 'x' } } })).to.include('field "priority.run": got an object');
  });
});

function expectStart(problem: string | undefined, start: string): void {
  expect(problem?.slice(0, start.length)).to.equal(start);
}
