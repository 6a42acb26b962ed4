import { expect } from 'chai';
import {
  decideOutcome,
  logFieldsOf,
  rejected,
  responseOf,
  type WebhookDecisionInput,
} from '../../src/api/receive/webhook-outcome.ts';
import { ServiceError } from '../../src/errors.ts';
import { matcherOf } from '../../src/model/auth/allow-lists.ts';

const NOW = 1_700_000_000_000;

/** A transform returned an event for production, unless the test says otherwise. */
function input(changes: Partial<WebhookDecisionInput> = {}): WebhookDecisionInput {
  const returned = changes.returned === undefined ? { name: 'shop/paid', data: { n: 1 } } : changes.returned;
  return {
    text: JSON.stringify(returned),
    allowList: matcherOf({}),
    selection: undefined,
    resolution: { env: 'production' },
    receivedAt: NOW,
    eventMaxFutureMs: 60_000,
    defaultId: () => undefined,
    verified: undefined,
    ...changes,
    returned,
  };
}

describe('The outcome of a webhook request', () => {
  it('decideOutcome accepts an event for a resolved environment', () => {
    const decided = decideOutcome(input());
    expect(decided).to.deep.include({ outcome: 'accepted', env: 'production' });
    const result = { decided, ids: ['1'], console: [] };
    expect(responseOf(result)).to.deep.equal({ ids: ['1'], env: 'production' });
    expect(logFieldsOf(result)).to.deep.equal({
      outcome: 'accepted',
      status: 200,
      eventName: 'shop/paid',
      ids: ['1'],
      console: [],
    });
  });

  it('decideOutcome holds an event without an environment, with the reason and the selection', () => {
    const decided = decideOutcome(input({ resolution: { held: 'environment_unknown' }, selection: 'nope' }));
    expect(decided).to.deep.include({ outcome: 'held', reason: 'environment_unknown', selection: 'nope' });
    const result = { decided, ids: ['1'], console: [] };
    expect(responseOf(result)).to.deep.equal({ ids: ['1'], env: undefined });
    expect(logFieldsOf(result)).to.include({ outcome: 'held', status: 200, reason: 'environment_unknown' });
  });

  it('decideOutcome filters an event by its name, before it looks at the environment', () => {
    const allowList = matcherOf({ eventNames: { mode: 'deny', items: ['shop/*'] } });
    const decided = decideOutcome(input({ allowList, resolution: { held: 'selection_missing' } }));
    expect(decided.outcome).to.equal('filtered');
    const result = { decided, ids: [], console: [] };
    expect(responseOf(result)).to.deep.equal({ ids: [], env: undefined });
    expect(logFieldsOf(result)).to.include({ outcome: 'filtered', reason: 'event_refused', eventName: 'shop/paid' });
  });

  it('decideOutcome ignores null', () => {
    const decided = decideOutcome(input({ returned: null }));
    expect(decided).to.deep.equal({ outcome: 'ignored' });
    expect(logFieldsOf({ decided, ids: [], console: [] })).to.deep.equal({
      outcome: 'ignored',
      status: 200,
      ids: [],
      console: [],
    });
  });

  it('decideOutcome rejects an invalid event and one too far in the future', () => {
    for (const returned of [{ data: {} }, { name: 'a', data: {}, ts: NOW + 60_001 }]) {
      expect(() => decideOutcome(input({ returned })))
        .to.throw(ServiceError)
        .with.property('code', 'transform_failed');
    }
  });

  it('a rejected request is logged with its error and the console of the transform, and throws the error', () => {
    const logs = [{ level: 'log', text: 'hi' }];
    const error = new ServiceError('transform_failed', { detail: 'line 1', facts: { logs } });
    const result = rejected(error);
    expect(logFieldsOf(result)).to.deep.equal({
      outcome: 'rejected',
      status: 400,
      reason: 'transform_failed',
      message: error.message,
      ids: [],
      console: logs,
    });
    expect(() => responseOf(result)).to.throw(error.message);
  });

  it('an unexpected error is logged as internal, without its message', () => {
    expect(logFieldsOf(rejected(new TypeError('x is not a function')))).to.deep.equal({
      outcome: 'rejected',
      status: 500,
      reason: 'internal',
      ids: [],
      console: [],
    });
  });
});
