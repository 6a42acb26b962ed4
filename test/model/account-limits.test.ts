import { expect } from 'chai';
import type { AppFunction } from '../../src/model/apps/app.ts';
import { limitsOf } from '../../src/model/flow-control/limits.ts';

describe('Limits of the scope "account"', () => {
  const concurrency = [
    { limit: 1, key: '"crm"', scope: 'account' },
    { limit: 9, key: '"crm"', scope: 'env' },
  ];
  const fn = { id: 'shop-f', app: 'shop', name: 'f', url: '', triggers: [], cancel: [], config: { concurrency } };
  const of = (env: string, isBranch: boolean) => {
    const call = { env, isBranch, fn: fn as unknown as AppFunction, keys: { values: { '"crm"': 'crm' } } };
    const found = limitsOf({ ...call, isStart: true, capacity: 10 });
    const idOf = (scope: string) => found?.limits.find((limit) => limit.scope === scope)?.id as string;
    return { account: idOf('account'), env: idOf('env') };
  };

  it('apply once to production and the named environments together, and once to all branches together', () => {
    const [production, staging] = [of('production', false), of('staging', false)];
    const [one, two] = [of('feature/1', true), of('feature/2', true)];
    expect(production.account).to.be.a('string').and.equal(staging.account);
    expect(one.account).to.be.a('string').and.equal(two.account);
    expect(one.account).not.to.equal(production.account);
    expect(new Set([production, staging, one, two].map(({ env }) => env)).size).to.equal(4);
  });
});
