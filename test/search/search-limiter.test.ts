import { expect } from 'chai';
import { SearchLimiter } from '../../src/history/search-limiter.ts';

describe('Concurrent searches', () => {
  let limiter: SearchLimiter;
  let endAll: () => void;
  let ended: Promise<void>;
  beforeEach(() => {
    limiter = new SearchLimiter();
    ended = new Promise((resolve) => {
      endAll = resolve;
    });
  });
  afterEach(() => endAll());
  const begin = (env: string, principal?: string) => limiter.run(env, principal, () => ended);
  /** A refusal comes at once. */
  const isRefused = (search: Promise<void>) =>
    Promise.race([
      search.then(
        () => false,
        ({ code }) => code === 'searches_full',
      ),
      new Promise<boolean>((resolve) => setImmediate(() => resolve(false))),
    ]);

  it('leave room in an environment for principals other than the one with the most', async () => {
    for (let n = 0; n < 2; n++) expect(await isRefused(begin('production', 'user:eve'))).to.equal(false);
    expect(await isRefused(begin('production', 'user:eve'))).to.equal(true);
    expect(await isRefused(begin('production', 'user:ada'))).to.equal(false);
    expect(await isRefused(begin('production', 'user:bob'))).to.equal(true);
  });

  it('leave room for other environments', async () => {
    for (const env of ['a', 'b', 'c']) expect(await isRefused(begin(env, 'user:eve'))).to.equal(false);
    expect(await isRefused(begin('d', 'user:eve'))).to.equal(true);
    for (const env of ['a', 'b', 'c']) expect(await isRefused(begin(env))).to.equal(false);
    expect(await isRefused(begin('d'))).to.equal(true);
  });

  it('can start again when others have ended', async () => {
    const first = [begin('a', 'user:eve'), begin('a', 'user:eve')];
    endAll();
    await Promise.all(first);
    expect(await isRefused(begin('a', 'user:eve'))).to.equal(false);
  });
});
