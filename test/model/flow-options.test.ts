import { expect } from 'chai';
import { flowOptionsOf, flowProblemsOf } from '../../src/model/flow-control/function-options.ts';

const read = (config: object) => flowOptionsOf({ config: { ...config } });
const NONE = { runConcurrency: [], stepConcurrency: [] };
const KEY = 'event.data.tenant';

describe('Flow control of a registered function', () => {
  it('is read from every field', () => {
    const config = {
      throttle: { limit: 3, period: '1m', burst: 2, key: KEY },
      rateLimit: { limit: 1, period: '24h', key: KEY },
      debounce: { period: '5m', timeout: '10m', key: KEY },
      singleton: { mode: 'cancel', key: KEY },
      priority: { run: 'event.data.urgent ? 120 : 0' },
      idempotency: 'event.data.order',
      timeouts: { start: '10s', finish: '1h30m' },
    };
    expect(read(config)).to.deep.equal({
      ...NONE,
      throttle: { limit: 3, periodMs: 60_000, burst: 2, key: KEY },
      rateLimit: { limit: 1, periodMs: 86_400_000, key: KEY },
      debounce: { periodMs: 300_000, timeoutMs: 600_000, key: KEY },
      singleton: { mode: 'cancel', key: KEY },
      priority: 'event.data.urgent ? 120 : 0',
      idempotency: 'event.data.order',
      timeouts: { startMs: 10_000, finishMs: 5_400_000 },
    });
    const batchEvents = { maxSize: 100, timeout: '60s', key: KEY, if: 'event.data.small' };
    const batch = { maxSize: 100, timeoutMs: 60_000, key: KEY, if: 'event.data.small' };
    expect(read({ batchEvents })).to.deep.equal({ ...NONE, batch });
  });

  it('accepts concurrency in any of its forms', () => {
    const step = (...stepConcurrency: object[]) => ({ ...NONE, stepConcurrency });
    expect(read({ concurrency: 5 })).to.deep.equal(step({ limit: 5, scope: 'fn' }));
    expect(read({ concurrency: { limit: 5, key: KEY } })).to.deep.equal(step({ limit: 5, scope: 'fn', key: KEY }));
    const list = [
      { limit: 1, key: KEY },
      { limit: 9, scope: 'account', key: '"crm"' },
    ];
    const limits = [
      { limit: 1, scope: 'fn', key: KEY },
      { limit: 9, scope: 'account', key: '"crm"' },
    ];
    expect(read({ concurrency: list })).to.deep.equal(step(...limits));
    expect(read({ concurrency: { fn: [{ limit: 2 }], step: list } })).to.deep.equal({
      runConcurrency: [{ limit: 2, scope: 'fn' }],
      stepConcurrency: limits,
    });
  });

  it('ignores fields that are null, empty or zero, as SDKs send them', () => {
    const absent = {
      concurrency: [{ limit: 0, key: KEY, scope: 'env' }],
      throttle: null,
      rateLimit: { limit: 0, period: '0s', key: '' },
      debounce: false,
      batchEvents: { maxSize: 0, timeout: null },
      singleton: {},
      Singleton: null,
      priority: { run: null },
      idempotency: '',
      timeouts: { start: '0s', finish: '' },
    };
    for (const [field, value] of Object.entries(absent))
      expect(read({ [field]: value }) ?? NONE, field).to.deep.equal(NONE);
    expect(read(absent) ?? NONE).to.deep.equal(NONE);
    expect(read({ concurrency: 0 })).to.equal(undefined);
    expect(read({})).to.equal(undefined);
  });

  it('is read in the spelling of the official Go SDK', () => {
    const config = {
      concurrency: { step: [{ limit: 1, scope: 'Account', key: KEY, hash: '' }], fn: [{ limit: 3, hash: '' }] },
      Singleton: { mode: 'skip' },
      throttle: { limit: 1, period: '1w', burst: 0 },
    };
    expect(read(config)).to.deep.equal({
      runConcurrency: [{ limit: 3, scope: 'fn' }],
      stepConcurrency: [{ limit: 1, scope: 'account', key: KEY }],
      singleton: { mode: 'skip' },
      throttle: { limit: 1, periodMs: 604_800_000, burst: 0 },
    });
  });

  it('of an earlier registration applies as far as it is valid, and the rest is a problem', () => {
    const config = {
      throttle: { limit: -1, period: '1m' },
      rateLimit: { limit: 2, period: '1m' },
      batchEvents: { maxSize: 2, timeout: '1s' },
    };
    const fn = { config };
    expect(flowOptionsOf(fn)).to.deep.equal({ ...NONE, rateLimit: { limit: 2, periodMs: 60_000 } });
    const until = 'does not act until the app registers the function again';
    expect(flowProblemsOf(fn)).to.deep.equal([
      `throttle ${until}: field "throttle.limit": got the number -1: an integer from 1 to 2^53 - 1`,
      `batchEvents ${until}: field "batchEvents": got it together with "rateLimit": it cannot be combined with "rateLimit", "idempotency", "debounce", "singleton", "order", "priority" or "cancel"`,
    ]);
    expect(flowProblemsOf({ config: { rateLimit: config.rateLimit } })).to.deep.equal([]);
  });
});
