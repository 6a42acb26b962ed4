import { expect } from 'chai';
import type { AppFunction, Trigger } from '../../src/model/apps/app.ts';
import { nextHistory, type PastTriggers, triggersSince } from '../../src/model/apps/trigger-history.ts';

const fn = (triggers: Trigger[], more: Partial<AppFunction> = {}): AppFunction => ({
  id: 'shop-f',
  name: 'f',
  app: 'shop',
  url: 'http://127.0.0.1/',
  dialect: 'service',
  retries: 4,
  triggers,
  cancel: [],
  archived: false,
  config: {},
  ...more,
});

const event = (n: number): Trigger[] => [{ event: `shop/${n}` }];

describe('The history of triggers', () => {
  it('has what a function listened to before each change, and nothing for unchanged triggers', () => {
    let history: PastTriggers[] = [];
    const versions = [
      undefined,
      fn(event(1)),
      fn(event(1), { retries: 1 }),
      fn(event(2)),
      fn(event(2), { archived: true }),
    ];
    for (const [i, given] of versions.entries()) {
      if (given) history = nextHistory(history, { known: versions[i - 1], given }, 100 * i) ?? history;
    }
    expect(history.map(({ until }) => until)).to.deep.equal([400, 300, 100]);
    const since = (ms: number) => triggersSince(history, versions.at(-1), ms);
    expect(since(50)).to.deep.equal([null, event(1), event(2), null]);
    expect(since(150)).to.deep.equal([event(1), event(2), null]);
    expect(since(350)).to.deep.equal([event(2), null]);
    expect(since(400)).to.deep.equal([null]);
  });

  it('ends after ten changes: before them, the triggers are unknown', () => {
    let history: PastTriggers[] = [];
    for (let n = 1; n <= 20; n++) {
      const change = { known: fn(event(n)), given: fn(event(n + 1)) };
      history = nextHistory(history, change, n) as PastTriggers[];
    }
    expect(history.length).to.equal(10);
    expect(triggersSince(history, fn(event(21)), 5)[0]).to.equal(undefined);
    expect(triggersSince(history, fn(event(21)), 12)[0]).to.deep.equal(event(13));
  });

  it('leaves out triggers that are long', () => {
    const long = [{ event: 'shop/x', expression: `event.data.text == "${'a'.repeat(3_000)}"` }];
    const [last] = nextHistory([], { known: fn(long), given: fn(event(1)) }, 1) ?? [];
    expect(last).to.deep.equal({ until: 1 });
  });
});
