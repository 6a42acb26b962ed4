import { expect } from 'chai';
import type { JWTPayload } from 'jose';
import { freePort } from '../../scripts/lib/ports.ts';
import { domainOf, rolesOf } from '../../src/model/auth/sign-in-rules.ts';
import { roleRulesSchema } from '../../src/settings/oidc.ts';
import { postForm } from '../support/auth.ts';
import { CookieClient } from '../support/cookie-client.ts';
import {
  CLIENT,
  type HostileProvider,
  type Lie,
  startHostileProvider,
  startRealProvider,
} from '../support/identity-providers.ts';
import { openStore } from '../support/own-store.ts';
import { keysOf } from '../support/redis.ts';
import { type Service, startService } from '../support/service.ts';

const EMERGENCY = { email: 'emergency@example.com', password: 'only in an emergency' };

describe('Single sign-on', () => {
  let service: Service;
  let hostile: HostileProvider;
  let real: Awaited<ReturnType<typeof startRealProvider>>;
  before(async () => {
    const port = await freePort();
    const publicUrl = `http://127.0.0.1:${port}`;
    hostile = await startHostileProvider();
    real = await startRealProvider(publicUrl, {
      ada: { email: 'ada@example.com', email_verified: true, groups: ['admins'] },
      dan: { email: 'dan@example.com', email_verified: true, groups: ['devs'] },
    });
    const common = { client_id: CLIENT.id, client_secret: CLIENT.secret };
    const further = [
      {
        ...common,
        id: 'hostile',
        name: 'Hostile',
        issuer: hostile.issuer,
        role_rules: 'admins=admin,staff=read,partners=member@staging',
        allowed_domains: 'example.com',
        sign_up: 'first-sign-in',
      },
      { ...common, id: 'invited', issuer: hostile.issuer },
      { ...common, id: 'common', name: 'Common', issuer: `${hostile.issuer}/common` },
      { ...common, id: 'gone', name: 'Gone', issuer: `http://127.0.0.1:${await freePort()}` },
    ];
    service = await startService({
      dev: false,
      workers: 0,
      env: {
        PORT: String(port),
        PUBLIC_URL: publicUrl,
        OIDC_ISSUER: real.issuer,
        OIDC_CLIENT_ID: CLIENT.id,
        OIDC_CLIENT_SECRET: CLIENT.secret,
        OIDC_NAME: 'Real',
        OIDC_SCOPES: 'openid email groups',
        OIDC_ROLE_RULES: 'admins=admin,devs=member',
        OIDC_SIGN_UP: 'first-sign-in',
        OIDC_PROVIDERS: JSON.stringify(further),
        PASSWORD_SIGN_IN: 'false',
        ADMIN_EMAIL: EMERGENCY.email,
        ADMIN_PASSWORD: EMERGENCY.password,
      },
    });
  });
  after(async () => {
    await service?.stop();
    await Promise.all([real?.close(), hostile?.close()]);
  });

  const at = (path: string) => service.url + path;
  const me = (client: CookieClient) => client.get(at('/auth/me'));
  const invite = (email: string, role = 'member') => service.post('/v1/users', { email, role }, service.apiHeaders);
  const userOf = async (email: string) =>
    (await service.get('/v1/users')).body.data.find((user: { email: string }) => user.email === email);

  /** Begins at the provider. */
  async function begin(client: CookieClient, provider = 'hostile', next = '/') {
    const started = await client.get(at(`/auth/oidc/start?${new URLSearchParams({ provider, next })}`));
    expect(started.status, started.text).to.equal(303);
    return new URL(started.location as string).searchParams;
  }

  /** Comes back from the hostile provider. */
  async function comeBack(
    client: CookieClient,
    query: URLSearchParams,
    lie: Lie & { query?: Record<string, string | undefined>; provider?: string },
  ) {
    const person = { sub: 'eve', sid: 'session-1', email: 'eve@example.com', email_verified: true, groups: ['staff'] };
    const code = await hostile.codeFor({
      ...lie,
      claims: { nonce: query.get('nonce'), ...person, ...lie.claims } as JWTPayload,
    });
    const back = { code, state: query.get('state') as string, iss: hostile.issuer, ...lie.query };
    const given = Object.entries(back).filter((pair): pair is [string, string] => pair[1] !== undefined);
    return client.get(at(`/auth/oidc/callback/${lie.provider ?? 'hostile'}?${new URLSearchParams(given)}`));
  }

  async function signIn(claims: JWTPayload, client = new CookieClient(), provider = 'hostile') {
    const response = await comeBack(client, await begin(client, provider), { claims, provider });
    return { client, ...response };
  }

  /** Signs in at the real provider. */
  async function signInAt(client: CookieClient, user: string, next = '/') {
    const started = await client.get(at(`/auth/oidc/start?${new URLSearchParams({ next })}`));
    let url = started.location as string;
    for (let steps = 0; steps < 8 && !url.startsWith(service.url); steps++) {
      const response = url.includes('/interaction/') ? await client.post(url, { user }) : await client.get(url);
      url = new URL(response.location as string, real.issuer).href;
    }
    return { url, response: await client.get(url) };
  }

  describe('at a real provider', () => {
    it('the first sign-in creates the user with the role of the groups, and leads to the requested page', async () => {
      const client = new CookieClient();
      const { response } = await signInAt(client, 'ada', '/runs?status=Failed');
      expect([response.status, response.location], response.text).to.deep.equal([303, '/runs?status=Failed']);
      expect(JSON.parse((await me(client)).text).data).to.include({ name: 'ada@example.com', access: 'admin' });
      expect(response.headers.getSetCookie().join()).to.match(/session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax/);
      const [entry] = (await service.get('/v1/audit?limit=1')).body.data;
      expect(entry).to.include({
        action: 'sign-in',
        summary: 'Signed in with Real; became a user with the role admin',
      });
    });

    it('signing out leads to the provider, which ends its session and comes back', async () => {
      const client = new CookieClient();
      await signInAt(client, 'dan');
      const out = await client.post(at('/auth/sign-out'), {});
      const target = /url=([^"]+)"/.exec(out.text)?.[1]?.replaceAll('&#38;', '&') ?? '';
      const { origin, searchParams } = new URL(target);
      expect([origin, searchParams.get('post_logout_redirect_uri')]).to.deep.equal([real.issuer, at('/sign-in')]);
      expect(searchParams.get('id_token_hint')).to.match(/^ey/);
      expect((await me(client)).status).to.equal(401);
    });

    it('the end of the session at the provider ends the sessions that it began', async () => {
      const [here, there] = [new CookieClient(), new CookieClient()];
      await signInAt(here, 'dan');
      await signInAt(there, 'dan');
      const page = await here.get(`${real.issuer}/session/end`);
      const xsrf = /name="xsrf" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
      await here.post(`${real.issuer}/session/end/confirm`, { xsrf, logout: 'yes' });
      expect((await me(here)).status).to.equal(401);
      expect((await me(there)).status).to.equal(200);
      const [entry] = (await service.get('/v1/audit?limit=1')).body.data;
      expect(entry).to.include({ action: 'sign-out', summary: 'Signed out by Real: 1 session' });
    });
  });

  describe('rejects', () => {
    const cases: [title: string, status: number, lie: Parameters<typeof comeBack>[2], said: RegExp][] = [
      ['a response with the issuer of another provider', 401, { query: { iss: 'https://other.example' } }, /"iss"/],
      ['a response without an issuer of a provider that sends it', 401, { query: { iss: undefined } }, /"iss"/],
      ['a forged state', 400, { query: { state: 'forged' } }, /begin again/],
      ['a missing state', 400, { query: { state: undefined } }, /begin again/],
      ['a response at the callback of another provider', 400, { provider: 'invited' }, /begin again/],
      ['an unknown code', 401, { query: { code: 'guessed' } }, /invalid_grant/],
      ['an unsigned ID token', 401, { signedBy: 'none' }, /not accepted/],
      ['an ID token signed with the client secret', 401, { signedBy: 'secret' }, /not accepted/],
      ['an ID token signed with an unknown key', 401, { signedBy: 'stranger' }, /signature/],
      ['the ID token of another audience', 401, { claims: { aud: 'another client' } }, /"aud"/],
      ['an ID token for several audiences', 401, { claims: { aud: [CLIENT.id, 'another'], azp: 'another' } }, /"azp"/],
      ['an ID token that another party asked for', 401, { claims: { azp: 'another client' } }, /"azp"/],
      ['the ID token of another issuer', 401, { claims: { iss: 'https://other.example' } }, /"iss"/],
      ['another nonce', 401, { claims: { nonce: 'of another sign-in' } }, /"nonce"/],
      ['an ID token without a nonce', 401, { claims: { nonce: undefined } }, /"nonce"/],
      ['an expired ID token', 401, { claims: { exp: Math.floor(Date.now() / 1_000) - 120 } }, /"exp"/],
      ['an unverified email address', 403, { claims: { email_verified: false } }, /verify the address/],
      ['an email address without a word on its verification', 403, { claims: { email_verified: undefined } }, /verify/],
      ['another domain', 403, { claims: { email: 'eve@example.com.evil.example' } }, /not an account of example\.com/],
      ['a user without a group that has a role', 403, { claims: { groups: ['strangers'] } }, /1 groups, none/],
      [
        'an error of the provider, shown as text',
        401,
        { query: { code: undefined, error: 'access_denied', error_description: '<b>no</b>' } },
        /&#60;b&#62;no/,
      ],
    ];
    for (const [title, status, lie, said] of cases) {
      it(title, async () => {
        const client = new CookieClient();
        const claims = { sub: 'mal', email: 'mal@example.com', ...lie.claims } as JWTPayload;
        const response = await comeBack(client, await begin(client), { ...lie, claims });
        expect([response.status, [...client.cookies]], response.text).to.deep.equal([status, []]);
        expect(/role="alert">([^<]+)/.exec(response.text)?.[1]?.replaceAll('&#34;', '"')).to.match(said);
        expect(await userOf('mal@example.com')).to.equal(undefined);
      });
    }

    it('a response in another browser', async () => {
      const [victim, attacker] = [new CookieClient(), new CookieClient()];
      const query = await begin(attacker);
      await begin(victim);
      for (const client of [victim, new CookieClient()]) {
        const response = await comeBack(client, query, {});
        expect([response.status, client.cookies.has('session')]).to.deep.equal([400, false]);
      }
    });

    it('a response that came before, without a word to the provider', async () => {
      await invite('once@example.com');
      const client = new CookieClient();
      const query = await begin(client);
      const cookies = [...client.cookies];
      const lie = { claims: { sub: 'once', email: 'once@example.com' } };
      expect((await comeBack(client, query, lie)).status).to.equal(303);
      const asked = hostile.asked.length;
      const thief = new CookieClient();
      for (const [name, value] of cookies) thief.cookies.set(name, value);
      const again = await comeBack(thief, query, lie);
      expect([again.status, hostile.asked.length - asked]).to.deep.equal([400, 0]);
    });

    it('rejected sign-ins are listed with their reason and email address', async () => {
      await signIn({ sub: 'x', email: 'x@example.com', groups: [] });
      const { data } = (await service.get('/v1/audit/refusals')).body;
      expect(data).to.deep.include.members([
        { ...data[0], action: 'sign-in', reason: 'role_missing', name: 'x@example.com' },
      ]);
    });
  });

  it('the provider gets the address of PUBLIC_URL, whatever the Host, and a challenge', async () => {
    const client = new CookieClient();
    const started = await client.get(at('/auth/oidc/start?provider=hostile'), { 'x-forwarded-host': 'evil.example' });
    const { searchParams: query } = new URL(started.location as string);
    expect(query.get('redirect_uri')).to.equal(at('/auth/oidc/callback/hostile'));
    expect([query.get('code_challenge_method'), query.get('response_type')]).to.deep.equal(['S256', 'code']);
    await comeBack(client, query, {});
    expect(hostile.asked.at(-1)?.get('code_verifier')).to.match(/^[\w-]{43}$/);
    expect(hostile.asked.at(-1)?.get('redirect_uri')).to.equal(at('/auth/oidc/callback/hostile'));
  });

  it('a provider whose discovery names another issuer signs nobody in', async () => {
    const response = await new CookieClient().get(at('/auth/oidc/start?provider=common'));
    expect([response.status, response.text.includes('issuer')], response.text).to.deep.equal([503, true]);
  });

  it('two first sign-ins of a person at once make one user', async () => {
    const person = { sub: 'ned', email: 'ned@example.com' };
    const both = await Promise.all([signIn(person), signIn(person), signIn(person)]);
    expect(both.map(({ status }) => status)).to.deep.equal([303, 303, 303]);
    expect(
      (await service.get('/v1/users')).body.data.filter(({ email }: { email: string }) => email === person.email),
    ).to.have.lengthOf(1);
  });

  it('leads only to pages of this service', async () => {
    for (const next of [
      'https://evil.example/',
      '//evil.example',
      '/\\evil.example',
      '/.//evil.example',
      `/${'x'.repeat(2_000)}`,
    ]) {
      const client = new CookieClient();
      expect((await comeBack(client, await begin(client, 'hostile', next), {})).location, next).to.equal('/');
    }
  });

  it('a second factor is for passwords: single sign-on does not ask for it', async () => {
    await signIn({ sub: 'quinn', email: 'quinn@example.com' });
    const { id } = await userOf('quinn@example.com');
    const user = JSON.parse((await service.redis.hget(service.keys.users, id)) as string);
    const secondFactors = { totp: { sealed: '', addedAt: 0, lastStep: 0 }, passkeys: [], recoveryCodes: [] };
    await service.redis.hset(service.keys.users, id, JSON.stringify({ ...user, secondFactors }));
    expect(await userOf('quinn@example.com')).to.deep.include({ providers: ['Hostile'], second_factors: ['totp'] });
    const { client, location } = await signIn({ sub: 'quinn', email: 'quinn@example.com' });
    expect([location, (await me(client)).status]).to.deep.equal(['/', 200]);
  });

  it('a session that the browser had before ends, and the new one has another cookie', async () => {
    const { client } = await signIn({});
    const fixed = client.cookies.get('session') as string;
    await signIn({}, client);
    expect(client.cookies.get('session')).not.to.equal(fixed);
    const old = new CookieClient();
    old.cookies.set('session', fixed);
    expect((await me(old)).status).to.equal(401);
  });

  describe('users', () => {
    it('the role follows the groups at each sign-in', async () => {
      const person = { sub: 'flo', email: 'flo@example.com' };
      await signIn({ ...person, groups: ['staff', 'admins'] });
      expect((await userOf('flo@example.com')).role).to.equal('admin');
      await signIn({ ...person, groups: 'staff' });
      expect((await userOf('flo@example.com')).role).to.equal('read-only');
    });

    it('groups give roles in single environments, and take them away', async () => {
      const person = { sub: 'ivy', email: 'ivy@example.com' };
      const rolesIn = async () => {
        const { role, environment_roles } = await userOf('ivy@example.com');
        return [role, environment_roles];
      };
      await signIn({ ...person, groups: ['partners'] });
      expect(await rolesIn()).to.deep.equal(['none', { staging: 'member' }]);
      await signIn({ ...person, groups: ['partners', 'staff'] });
      expect(await rolesIn()).to.deep.equal(['read-only', { staging: 'member' }]);
      await signIn({ ...person, groups: ['staff'] });
      expect(await rolesIn()).to.deep.equal(['read-only', {}]);
      const { summary } = (await service.get('/v1/audit')).body.data[0];
      expect(summary).to.include('role read-only instead of read-only, member in staging');
    });

    it('the highest rule of each environment counts', () => {
      const rules = (given: string) => roleRulesSchema.parse(given);
      const all = rules('{"a, b": ["read", "member@staging", "none@production"], "c": "admin@staging", "*": "none"}');
      expect(rolesOf(all, ['a, b', 'c'])).to.deep.equal({
        role: 'read-only',
        environmentRoles: { staging: 'admin', production: 'none' },
      });
      expect(rolesOf(all, ['d']), 'no access at all').to.equal(undefined);
      expect(rolesOf(rules('a=admin'), ['a']), 'the admin gives the roles in environments').to.deep.equal({
        role: 'admin',
      });
      for (const wrong of ['a=member@', 'a=owner@staging', 'a=member@x@y', 'a=constructor', '=member@staging']) {
        expect(roleRulesSchema.safeParse(wrong).success, wrong).to.equal(false);
      }
    });

    it('the subject is the person: another one with the email address does not become the user', async () => {
      const person = { sub: 'gil', email: 'gil@example.com' };
      const { client } = await signIn(person);
      const other = await signIn({ ...person, sub: 'mallory' });
      expect([other.status, other.client.cookies.has('session')]).to.deep.equal([409, false]);
      const emergency = await signIn({ sub: 'mallory', email: EMERGENCY.email });
      expect(emergency.status).to.equal(409);
      const renamed = await signIn({ sub: 'gil', email: 'gil.new@example.com' });
      expect(JSON.parse((await me(renamed.client)).text).data.name).to.equal('gil@example.com');
      const connected = await signIn({ ...person, sub: 'gil at work' }, client);
      expect([connected.status, (await signIn({ ...person, sub: 'gil at work' })).status]).to.deep.equal([303, 303]);
    });

    it('with sign-up by invitation, only invited users sign in, with the role of the invitation', async () => {
      const stranger = await signIn({ sub: 'hal', email: 'hal@example.com' }, new CookieClient(), 'invited');
      expect([stranger.status, stranger.text.includes('ask an admin to invite hal@example.com')]).to.deep.equal([
        403,
        true,
      ]);
      const invited = await invite('hal@example.com');
      expect(invited.body.data.set_password_url).to.equal(at('/sign-in'));
      const { client } = await signIn({ sub: 'hal', email: 'HAL@example.com' }, new CookieClient(), 'invited');
      expect(JSON.parse((await me(client)).text).data).to.include({ name: 'hal@example.com', access: 'write' });
      expect((await userOf('hal@example.com')).active).to.equal(true);
    });

    it('a removed user is another one at the next sign-in', async () => {
      const { client } = await signIn({ sub: 'ida', email: 'ida@example.com' });
      const { id } = await userOf('ida@example.com');
      await service.request('DELETE', `/v1/users/${id}`, undefined, service.apiHeaders);
      expect((await me(client)).status).to.equal(401);
      await signIn({ sub: 'ida', email: 'ida@example.com' });
      expect((await userOf('ida@example.com')).id).not.to.equal(id);
    });
  });

  it("an account with an address of a company is the company's at Google only if Google says so", () => {
    const google = { iss: 'https://accounts.google.com' };
    expect(domainOf({ ...google, hd: 'Example.com' }, 'ada@example.com')).to.equal('example.com');
    expect(domainOf(google, 'left-the-company@example.com')).to.equal('');
    expect(domainOf(google, 'ada@gmail.com')).to.equal('gmail.com');
    expect(domainOf({ iss: 'https://id.example' }, 'ada@example.com')).to.equal('example.com');
  });

  describe('without password sign-in', () => {
    it('the page offers the providers, and says that passwords are off', async () => {
      const { text } = await new CookieClient().get(at('/sign-in?next=/runs'));
      expect(text).to.include('Sign in with Real').and.to.include('provider=hostile&#38;next=%2Fruns');
      expect(text).to.include('Password sign-in is off');
    });

    it('the emergency admin signs in while a provider is away, and the page says that it is', async () => {
      const away = await new CookieClient().get(at('/auth/oidc/start?provider=gone'));
      expect([away.status, away.headers.get('retry-after')]).to.deep.equal([503, '10']);
      expect(away.text).to.include('Gone cannot sign you in now').and.to.include('name="password"');
      const signedIn = await postForm(service, '/auth/sign-in', { ...EMERGENCY });
      expect(signedIn.status).to.equal(303);
    });

    it('a password of anybody else does not sign in, and no link sets one', async () => {
      const { body } = await invite('jo@example.com');
      const admin = await invite('jan@example.com', 'admin');
      const token = new URL(admin.body.data.set_password_url).searchParams.get('token') ?? '';
      await service.request('PATCH', `/v1/users/${admin.body.data.id}`, { role: 'member' }, service.apiHeaders);
      const refused = await service.post('/auth/set-password', { token, password: EMERGENCY.password });
      expect([refused.status, refused.body.code]).to.deep.equal([403, 'password_sign_in_off']);
      const attempt = await service.post('/auth/sign-in', { email: body.data.email, password: EMERGENCY.password });
      expect([attempt.status, attempt.body.code]).to.deep.equal([401, 'sign_in_failed']);
    });
  });

  it('callbacks that the provider refuses are throttled by address, before the provider is asked', async () => {
    const store = await openStore(service.prefix);
    const address = '127.0.0.1';
    while (!(await store.signInThrottle.begin({ address })));
    const { status, text } = await signIn({ sub: 'pat', email: 'pat@example.com' });
    expect([status, /Too many attempts to sign in: try again in 1[45] minutes/.test(text)]).to.deep.equal([429, true]);
    await store.redis.del(await keysOf(store.redis, `${service.prefix}:sign-in-throttle:`));
    expect((await signIn({ sub: 'pat', email: 'pat@example.com' })).status).to.equal(303);
    await store.redis.quit();
  });

  describe('logout tokens', () => {
    const EVENTS = { 'http://schemas.openid.net/event/backchannel-logout': {} };
    let serial = 0;
    const logoutClaims = (claims: JWTPayload) => ({ jti: `logout-${serial++}`, events: EVENTS, ...claims });
    const send = (token: string) =>
      service.request('POST', '/auth/oidc/backchannel-logout/hostile', new URLSearchParams({ logout_token: token }));

    it('with a session end that session, with a subject alone all of the subject', async () => {
      const person = { sub: 'kim', email: 'kim@example.com' };
      const one = await signIn({ ...person, sid: 'kim-1' });
      const two = await signIn({ ...person, sid: 'kim-2' });
      const three = await signIn({ ...person, sid: undefined });
      const bySession = await send(
        await hostile.sign({ claims: logoutClaims({ sid: 'kim-1', sub: 'kim' }) }, 'logout+jwt'),
      );
      expect([bySession.status, bySession.headers.get('cache-control')]).to.deep.equal([200, 'no-store']);
      const statuses = async () => Promise.all([one, two, three].map(async ({ client }) => (await me(client)).status));
      expect(await statuses()).to.deep.equal([401, 200, 200]);
      await send(await hostile.sign({ claims: logoutClaims({ sub: 'kim' }) }, 'logout+jwt'));
      expect(await statuses()).to.deep.equal([401, 401, 401]);
    });

    it('count once', async () => {
      const token = await hostile.sign({ claims: logoutClaims({ sub: 'lea' }) }, 'logout+jwt');
      await send(token);
      const { client } = await signIn({ sub: 'lea', email: 'lea@example.com' });
      expect((await send(token)).status).to.equal(200);
      expect((await me(client)).status).to.equal(200);
    });

    it('are rejected if they are forged, old, of another audience, or ID tokens', async () => {
      const { client } = await signIn({ sub: 'max', email: 'max@example.com' });
      const old = Math.floor(Date.now() / 1_000) - 3_600;
      const lies: { signedBy?: Lie['signedBy']; claims?: Record<string, unknown> }[] = [
        { signedBy: 'none' },
        { signedBy: 'secret' },
        { signedBy: 'stranger' },
        { claims: { aud: 'another client' } },
        { claims: { iss: 'https://other.example' } },
        { claims: { iat: old } },
        { claims: { nonce: 'of an ID token' } },
        { claims: { events: undefined } },
        { claims: { jti: undefined } },
        { claims: { sub: undefined } },
      ];
      for (const { claims, signedBy } of lies) {
        const lie = { claims: logoutClaims({ sub: 'max', ...claims }), ...(signedBy && { signedBy }) };
        const { status, body } = await send(await hostile.sign(lie, 'logout+jwt'));
        expect([status, body.code], JSON.stringify({ claims, signedBy })).to.deep.equal([400, 'logout_token_invalid']);
      }
      expect((await send('')).status).to.equal(400);
      expect((await me(client)).status).to.equal(200);
    });
  });
});
