import { expect } from 'chai';
import type { SignInAttempt } from '../../src/store/auth/sign-in-throttle.ts';
import { addUser, PASSWORD } from '../support/auth.ts';
import { openStore } from '../support/own-store.ts';
import { keysOf } from '../support/redis.ts';
import { type Service, startService } from '../support/service.ts';

describe('sign-in throttle', () => {
  let service: Service;
  before(async () => {
    service = await startService({ dev: false, workers: 0, env: { TRUST_PROXY: '1' } });
  });
  after(() => service.stop());
  afterEach(async () => {
    const keys = await keysOf(service.redis, `${service.prefix}:sign-in-throttle:`);
    if (keys.length > 0) await service.redis.del(...keys);
  });

  const signIn = (email: string, address: string, password = PASSWORD) =>
    service.post('/auth/sign-in', { email, password }, { 'x-forwarded-for': address });

  /** Records failures without hashing passwords. */
  async function fail(times: number, attempt: (n: number) => SignInAttempt): Promise<void> {
    const store = await openStore(service.prefix);
    for (let n = 0; n < times; n++) expect(await store.signInThrottle.begin(attempt(n))).to.equal(undefined);
    await store.redis.quit();
  }

  it('sign-in is throttled after five failures for an account and address, even for an unknown user', async () => {
    await addUser(service, 'bob@example.com', 'member');
    for (const email of ['bob@example.com', 'no-bob@example.com']) {
      const startedAt = Date.now();
      const failures = await Promise.all(Array.from({ length: 8 }, () => signIn(email, '192.0.2.1', 'guess')));
      expect(failures.map(({ status }) => status).sort()).to.deep.equal([401, 401, 401, 401, 401, 429, 429, 429]);
      const rejected = await signIn(email, '192.0.2.1');
      expect([rejected.status, rejected.body.code]).to.deep.equal([429, 'too_many_attempts']);
      const seconds = Math.ceil((Date.now() - startedAt) / 1_000);
      expect(Number(rejected.headers.get('retry-after'))).to.be.within(900 - seconds, 900);
    }
  });

  it('failed sign-ins from one address do not lock a user out elsewhere', async () => {
    await addUser(service, 'ann@example.com', 'admin');
    for (let n = 0; n < 20; n++) await signIn('ann@example.com', '192.0.2.2', 'guess');
    expect((await signIn('ann@example.com', '203.0.113.9')).status).to.equal(200);
  });

  it('failed sign-ins for an account are limited over all addresses, except where the user has signed in before', async () => {
    await addUser(service, 'cat@example.com', 'admin');
    expect((await signIn('cat@example.com', '203.0.113.9')).status).to.equal(200);
    await fail(100, (n) => ({ account: 'cat@example.com', address: `198.18.0.${n}` }));
    const rejected = await signIn('cat@example.com', '203.0.113.10');
    expect([rejected.status, rejected.body.code]).to.deep.equal([429, 'too_many_attempts']);
    expect(Number(rejected.headers.get('retry-after'))).to.be.within(3_500, 3_600);
    expect((await signIn('cat@example.com', '203.0.113.9')).status).to.equal(200);
    const unknown = await signIn('no-cat@example.com', '203.0.113.10');
    expect(unknown.status, 'another account').to.equal(401);
  });

  it('sign-in from an address is throttled after fifty failures for any accounts, with one entry in the rejection log', async () => {
    await fail(50, (n) => ({ account: `guess-${n}@example.com`, address: '192.0.2.3' }));
    const guesses = Array.from({ length: 10 }, (_, n) => signIn(`more-${n}@example.com`, '192.0.2.3', 'guess'));
    for (const { status } of await Promise.all(guesses)) expect(status).to.equal(429);
    const { data } = (await service.get('/v1/audit/refusals?limit=100')).body;
    const throttled = data.filter(({ reason, address }: Record<string, string>) =>
      [reason, address].every((fact) => ['too_many_attempts', '192.0.2.3'].includes(fact as string)),
    );
    expect(throttled.map(({ name, count }: Record<string, unknown>) => [name, count])).to.deep.equal([[null, 10]]);
  });

  it('throttled attempts for one account do not use up the limit of a shared address', async () => {
    await addUser(service, 'dora@example.com', 'member');
    for (let n = 0; n < 60; n++) await signIn('forgetful@example.com', '192.0.2.4', 'guess');
    expect((await signIn('dora@example.com', '192.0.2.4')).status).to.equal(200);
  });

  it('an IPv6 /64 network counts as one address', async () => {
    const from = (host: number) => signIn('eve@example.com', `2001:db8:1:2::${host}`, 'guess');
    for (let host = 1; host <= 5; host++) expect((await from(host)).status).to.equal(401);
    expect((await from(6)).status).to.equal(429);
    expect((await signIn('eve@example.com', '2001:db8:1:3::6', 'guess')).status).to.equal(401);
  });

  it('a port in X-Forwarded-For is ignored, even in the rejection log', async () => {
    for (const [email, write] of [
      ['ivy@example.com', (port: number) => `192.0.2.8:${port}`],
      ['jon@example.com', (port: number) => `[2001:db8:1:4::1]:${port}`],
    ] as const) {
      for (let n = 1; n <= 5; n++) expect((await signIn(email, write(40_000 + n), 'guess')).status).to.equal(401);
      expect((await signIn(email, write(50_000), 'guess')).status, email).to.equal(429);
    }
    const { body } = await service.get('/v1/audit/refusals', service.apiHeaders);
    const addresses = (name: string) =>
      body.data
        .filter((item: { name: string }) => item.name === name)
        .map(({ address }: { address: string }) => address);
    expect(addresses('ivy@example.com')).to.deep.equal(['192.0.2.8', '192.0.2.8']);
    expect(addresses('jon@example.com')).to.deep.equal(['2001:db8:1:4::/64', '2001:db8:1:4::/64']);
  });

  it('a successful sign-in resets the failures', async () => {
    await addUser(service, 'fay@example.com', 'member');
    for (let round = 0; round < 3; round++) {
      for (let n = 0; n < 4; n++) expect((await signIn('fay@example.com', '192.0.2.5', 'guess')).status).to.equal(401);
      expect((await signIn('fay@example.com', '192.0.2.5')).status).to.equal(200);
    }
  });

  it('every key of the sign-in throttle in Redis expires', async () => {
    await signIn('gil@example.com', '192.0.2.6', 'guess');
    await addUser(service, 'gil@example.com', 'member');
    await signIn('gil@example.com', '192.0.2.6');
    for (const part of ['sign-in-throttle', 'known-address']) {
      const keys = await keysOf(service.redis, `${service.prefix}:${part}:`);
      expect(keys, part).not.to.deep.equal([]);
      for (const key of keys) expect(await service.redis.pttl(key), key).to.be.greaterThan(0);
    }
  });
});
