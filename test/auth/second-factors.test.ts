import { expect } from 'chai';
import { newUser } from '../../src/api/auth/accounts.ts';
import { base32Of, newTotpSecret, totpCode, totpStepOf } from '../../src/model/auth/totp.ts';
import { newId } from '../../src/model/ids.ts';
import { addUser, keyHeaders, PASSWORD, sessionHeaders, signIn, tokenIn } from '../support/auth.ts';
import { CookieClient } from '../support/cookie-client.ts';
import { openStore } from '../support/own-store.ts';
import { Members } from '../support/second-factors.ts';
import { SECRETS, type Service, startService } from '../support/service.ts';

const WRONG = '000000';
const now = (secret: string) => totpCode(secret, Date.now());

describe('second factors', () => {
  let service: Service;
  let members: Members;
  before(async () => {
    service = await startService({ dev: false, workers: 0, env: { TRUST_PROXY: '1' } });
    members = new Members(service);
    await addUser(service, 'admin@example.com', 'admin');
  });
  after(() => service.stop());

  const account = async (client: CookieClient) => JSON.parse((await client.get(members.at('/auth/account'))).text).data;
  const statuses = (responses: { status: number }[]) => responses.map(({ status }) => status).sort();
  const lastEntry = async () => (await service.get('/v1/audit?limit=1')).body.data[0];
  const from = (address: string) => ({ 'x-forwarded-for': address });

  it('codes are those of RFC 6238, and one step early or late is still right', () => {
    const secret = base32Of(Buffer.from('12345678901234567890'));
    const vectors = [
      [59, '287082'],
      [1_111_111_109, '081804'],
      [1_111_111_111, '050471'],
      [1_234_567_890, '005924'],
      [2_000_000_000, '279037'],
      [20_000_000_000, '353130'],
    ] as const;
    for (const [seconds, code] of vectors) expect(totpCode(secret, seconds * 1_000), String(seconds)).to.equal(code);
    const at = (by: number) => totpStepOf(totpCode(secret, 3_000_000 + by * 30_000), secret, 3_000_000);
    expect([-2, -1, 0, 1, 2].map(at)).to.deep.equal([undefined, 99, 100, 101, undefined]);
  });

  it('an authenticator app needs the password and a right code, and ends other sessions', async () => {
    const { id, email, client } = await members.add('set-up@example.com');
    const other = await members.begin(email);
    const path = members.at('/auth/account/totp');
    const wrong = await client.json(`${path}/set-up`, { current_password: 'not it' });
    expect([wrong.status, wrong.body.code]).to.deep.equal([401, 'sign_in_failed']);
    const { body } = await client.json(`${path}/set-up`, { current_password: PASSWORD });
    expect(body.data.uri).to.match(/^otpauth:\/\/totp\/Tidegate%3Aset-up%40example\.com\?secret=[A-Z2-7]{32}&/);
    expect(body.data.qr).to.match(/^data:image\/svg\+xml;base64,/);
    const { set_up, secret } = body.data;
    expect((await client.json(path, { set_up, code: WRONG })).body.code).to.equal('second_factor_invalid');
    const added = await client.json(path, { set_up, code: now(secret) });
    expect(added.body.data.recovery_codes).to.have.length(10);
    expect([await members.isSignedIn(client), await members.isSignedIn(other)]).to.deep.equal([true, false]);
    expect((await account(client)).second_factors).to.deep.include({ recovery_codes_left: 10 });
    expect(await lastEntry()).to.include({ action: 'second-factor', summary: 'Added an authenticator app' });
    const stored = JSON.stringify(await members.stored(id));
    for (const kept of [secret, added.body.data.recovery_codes[0]]) expect(stored).not.to.include(kept);
    expect((await client.json(path, { set_up, code: now(secret) })).body.code).to.equal('sign_in_interrupted');
  });

  it('sign-in asks for the code after the password, and gives no access before it', async () => {
    const { email, secret } = await members.addWithTotp('two-steps@example.com', 'admin');
    const client = new CookieClient();
    const first = await members.givePassword(email, client, '/runs?status=Failed');
    expect([first.status, first.location]).to.deep.equal([303, '/second-factor']);
    expect(first.headers.getSetCookie()).to.have.length(1);
    expect(first.headers.getSetCookie()[0]).to.match(
      /^pending-sign-in=[\w-]{43}; Max-Age=600; Path=\/; HttpOnly; SameSite=Strict$/,
    );
    for (const path of ['/auth/me', '/auth/account', '/v1/users', '/queues/api/queues']) {
      expect((await client.get(members.at(path))).status, path).to.equal(401);
    }
    const page = await client.get(members.at('/second-factor'));
    expect(page.text).to.include(`Signing in as ${email}.`);
    const wrong = await members.giveCode(client, WRONG);
    expect([wrong.status, wrong.text.includes('The code or passkey is not accepted')]).to.deep.equal([401, true]);
    const done = await members.giveCode(client, now(secret));
    expect([done.status, done.location]).to.deep.equal([303, '/runs?status=Failed']);
    expect(await members.isSignedIn(client)).to.equal(true);
    expect(await lastEntry()).to.include({ summary: 'Signed in with a password and a code of the authenticator app' });
    const [rejected] = (await service.get('/v1/audit/refusals')).body.data;
    expect(rejected).to.include({ action: 'second-factor', name: email });
  });

  it('programs are told what is missing', async () => {
    const { email, secret } = await members.addWithTotp('program@example.com');
    const client = new CookieClient();
    const first = await client.json(members.at('/auth/sign-in'), { email, password: PASSWORD });
    expect([first.status, first.body.code]).to.deep.equal([401, 'second_factor_required']);
    const done = await client.json(members.at('/auth/second-factor'), { code: now(secret) });
    expect(done.body.data).to.include({ kind: 'user', name: email });
  });

  it('a wrong password gets the same response with and without a second factor', async () => {
    await members.addWithTotp('with@example.com');
    await members.add('without@example.com');
    const [one, two] = await Promise.all(
      ['with@example.com', 'without@example.com'].map((email) => signIn(service, email, 'not it')),
    );
    expect(one?.body).to.deep.equal(two?.body);
    expect([one?.status, one?.headers.get('set-cookie')]).to.deep.equal([401, null]);
  });

  describe('attacks', () => {
    it('a code counts once, also in sign-ins at the same time', async () => {
      const { email, secret } = await members.addWithTotp('replay@example.com');
      const clients = await Promise.all(Array.from({ length: 4 }, () => members.begin(email)));
      const code = now(secret);
      const responses = await Promise.all(clients.map((client) => members.giveCode(client, code)));
      expect(statuses(responses)).to.deep.equal([303, 401, 401, 401]);
    });

    it('five wrong codes from an address stop all sign-ins of the user there, also parallel ones with a right code', async () => {
      const { email, secret } = await members.addWithTotp('guessed@example.com');
      const clients: CookieClient[] = [];
      while (clients.length < 8) clients.push(await members.begin(email));
      const responses = await Promise.all(clients.map((client) => members.giveCode(client, WRONG)));
      expect(statuses(responses)).to.deep.equal([401, 401, 401, 401, 401, 429, 429, 429]);
      const right = await members.giveCode(await members.begin(email), now(secret));
      expect([right.status, /Too many attempts to sign in/.test(right.text)]).to.deep.equal([429, true]);
      const elsewhere = await members.giveCode(await members.begin(email), now(secret), from('203.0.113.7'));
      expect(elsewhere.status).to.equal(303);
    });

    it('twenty wrong codes from many addresses stop sign-ins for an hour, except where the user signed in before', async () => {
      const { id, email, secret } = await members.addWithTotp('hunted@example.com');
      await members.giveCode(await members.begin(email), now(secret), from('203.0.113.8'));
      await members.forgetCode(id);
      const client = await members.begin(email);
      const guesses = Array.from({ length: 21 }, (_, n) => members.giveCode(client, WRONG, from(`198.18.1.${n}`)));
      expect(statuses(await Promise.all(guesses)).at(-1)).to.equal(429);
      expect((await members.giveCode(client, now(secret), from('198.18.2.1'))).status).to.equal(429);
      expect((await members.giveCode(client, now(secret), from('203.0.113.8'))).status).to.equal(303);
    });

    it('a pending sign-in counts in the browser that began it, once, for ten minutes', async () => {
      const { email, secret, recoveryCodes } = await members.addWithTotp('bound@example.com');
      const client = await members.begin(email);
      const [key] = await service.redis.keys(`${service.prefix}:pending-sign-in:*`);
      expect(await service.redis.pttl(key as string)).to.be.within(500_000, 600_000);
      expect(key).not.to.include(client.cookies.get('pending-sign-in'));
      const stranger = await members.giveCode(new CookieClient(), now(secret));
      expect([stranger.status, /The sign-in has ended/.test(stranger.text)]).to.deep.equal([400, true]);
      const cookies = new Map(client.cookies);
      await members.giveCode(client, now(secret));
      for (const [name, value] of cookies) client.cookies.set(name, value);
      expect((await members.giveCode(client, recoveryCodes[0] as string)).status).to.equal(400);
    });

    it('the session after the second step is a new one, and the one before ends', async () => {
      const { email, secret, client } = await members.addWithTotp('fixed@example.com');
      const before = client.cookies.get('session') as string;
      await members.givePassword(email, client);
      expect(client.cookies.get('session')).to.equal(before);
      await members.giveCode(client, now(secret));
      expect(client.cookies.get('session')).not.to.equal(before);
      client.cookies.set('session', before);
      expect(await members.isSignedIn(client)).to.equal(false);
    });

    it('a sign-in that began before a change of password or second factors does not go on', async () => {
      const { email, secret, client, recoveryCodes } = await members.addWithTotp('changed@example.com');
      const pending = await members.begin(email);
      await client.json(members.at('/auth/account/recovery-codes'), { current_password: PASSWORD });
      expect((await members.giveCode(pending, now(secret))).status).to.equal(400);
      const again = await members.begin(email);
      expect((await members.giveCode(again, recoveryCodes[0] as string)).status, 'a former code').to.equal(401);
    });

    it('a link to set a password does not go around the second factor', async () => {
      const { id, secret } = await members.addWithTotp('linked@example.com');
      const link = await service.post(`/v1/users/${id}/password-link`, undefined, service.apiHeaders);
      const client = new CookieClient();
      const fields = { token: tokenIn(link.body.data.set_password_url), password: 'another horse battery' };
      const set = await client.post(members.at('/auth/set-password'), fields);
      expect([set.location, await members.isSignedIn(client)]).to.deep.equal(['/second-factor', false]);
      expect((await members.giveCode(client, now(secret))).status).to.equal(303);
    });

    it('only the current password removes a second factor, and not a session alone', async () => {
      const { email, secret, client } = await members.addWithTotp('downgraded@example.com');
      const path = members.at('/auth/account/totp/remove');
      for (const current_password of ['', 'not it']) {
        expect((await client.json(path, { current_password })).body.code).to.equal('sign_in_failed');
      }
      const foreign = await fetch(path, {
        method: 'POST',
        headers: { origin: 'https://evil.example', 'content-type': 'application/json' },
        body: JSON.stringify({ current_password: PASSWORD }),
      });
      expect(foreign.status).to.equal(403);
      const other = await members.begin(email);
      await members.giveCode(other, now(secret));
      expect((await client.json(path, { current_password: PASSWORD })).body.data.recovery_codes).to.deep.equal([]);
      expect([await members.isSignedIn(client), await members.isSignedIn(other)]).to.deep.equal([true, false]);
      expect((await members.givePassword(email)).location).to.equal('/');
    });

    it('the response of one user sets up nothing for another', async () => {
      const [eve, ada] = [await members.add('eve@example.com'), await members.add('ada@example.com')];
      const path = members.at('/auth/account/totp');
      const { body } = await eve.client.json(`${path}/set-up`, { current_password: PASSWORD });
      const { set_up, secret } = body.data;
      const response = await ada.client.json(path, { set_up, code: now(secret) });
      expect([response.status, response.body.code]).to.deep.equal([400, 'sign_in_interrupted']);
    });
  });

  describe('recovery codes', () => {
    it('count once each, however they are typed', async () => {
      const { email, recoveryCodes, client } = await members.addWithTotp('lost@example.com');
      const [one, two] = recoveryCodes as [string, string];
      const clients = await Promise.all(Array.from({ length: 3 }, () => members.begin(email)));
      const responses = await Promise.all(clients.map((each) => members.giveCode(each, one)));
      expect(statuses(responses)).to.deep.equal([303, 401, 401]);
      const typed = ` ${two.toLowerCase().replaceAll('-', ' ')} `;
      expect((await members.giveCode(await members.begin(email), typed)).status).to.equal(303);
      expect((await account(client)).second_factors.recovery_codes_left).to.equal(8);
      expect(await lastEntry()).to.include({ summary: 'Signed in with a password and a recovery code; 8 are left' });
    });

    it('are there only with a second factor', async () => {
      const { client } = await members.add('none@example.com');
      const made = await client.json(members.at('/auth/account/recovery-codes'), { current_password: PASSWORD });
      expect([made.status, made.body.code]).to.deep.equal([404, 'not_found']);
    });
  });

  it('an admin resets the second factors of another user, and nobody their own', async () => {
    const { id, email, client } = await members.addWithTotp('reset@example.com');
    const listed = await service.get('/v1/users');
    const user = listed.body.data.find((item: { id: string }) => item.id === id);
    expect(user).to.deep.include({ has_password: true, providers: [], second_factors: ['totp'] });
    const path = `/v1/users/${id}/second-factors`;
    const writer = await keyHeaders(service, 'write');
    expect((await service.request('DELETE', path, undefined, writer)).status).to.equal(403);
    const boss = await sessionHeaders(service, 'admin@example.com');
    const { id: bossId } = (await service.get('/auth/me', boss)).body.data;
    const own = await service.request('DELETE', `/v1/users/${bossId}/second-factors`, undefined, boss);
    expect([own.status, own.body.code]).to.deep.equal([403, 'access_denied']);
    expect((await service.request('DELETE', path, undefined, boss)).status).to.equal(204);
    expect(await lastEntry()).to.include({ action: 'DELETE /v1/users/:id/second-factors', target: id });
    expect(await members.isSignedIn(client)).to.equal(false);
    expect((await members.givePassword(email)).location).to.equal('/');
    expect((await service.request('DELETE', `/v1/users/${newId()}/second-factors`, undefined, boss)).status).to.equal(
      404,
    );
  });

  it('users end their own sessions, and no others', async () => {
    const { email, client } = await members.add('sessions@example.com');
    const [phone, laptop] = [await members.begin(email), await members.begin(email)];
    const { client: stranger } = await members.add('stranger@example.com');
    const { sessions } = await account(phone);
    expect(sessions.map(({ current }: { current: boolean }) => current)).to.deep.equal([false, true, false, false]);
    expect(sessions[0]).to.include({ address: '127.0.0.1', user_agent: 'node' });
    const path = members.at('/auth/account/sessions/end');
    const session = sessions[0].id;
    expect((await stranger.json(path, { session })).status).to.equal(404);
    expect((await phone.json(path, { session })).status).to.equal(204);
    expect(await Promise.all([client, phone, laptop].map((each) => members.isSignedIn(each)))).to.deep.equal([
      true,
      true,
      false,
    ]);
    await phone.json(path, {});
    expect(await Promise.all([client, phone].map((each) => members.isSignedIn(each)))).to.deep.equal([false, true]);
    expect(await members.isSignedIn(stranger)).to.equal(true);
  });

  it('secrets of authenticator apps are sealed for their user, and re-encrypted with SECRET_KEY', async () => {
    const key = SECRETS.SECRET_KEY;
    const store = await openStore(undefined, { SECRET_KEY: key });
    const next = await openStore(store.prefix, { SECRET_KEY: key.toUpperCase(), SECRET_KEY_FALLBACK: key });
    const last = await openStore(store.prefix, { SECRET_KEY: key.toUpperCase() });
    const user = newUser('sealed@example.com', { role: 'member' });
    const secret = newTotpSecret();
    const totp = { sealed: store.totpSecrets.seal(secret, user.id), addedAt: 0, lastStep: 0 };
    await store.users.create({ ...user, secondFactors: { totp, passkeys: [], recoveryCodes: [] } });
    const read = async () => (await store.users.read(user.id)) ?? user;
    expect(store.totpSecrets.open({ ...(await read()), id: newId() }), 'of another user').to.equal(undefined);
    expect(last.totpSecrets.open(await read())).to.equal(undefined);
    expect([await next.secretKeyCheck.reencrypt(), await next.totpSecrets.reencrypt()]).to.deep.equal([1, 0]);
    expect(last.totpSecrets.open(await read())).to.equal(secret);
    for (const one of [next, last]) await one.redis.quit();
    await store.close();
  });
});

describe('with REQUIRE_SECOND_FACTOR', () => {
  let service: Service;
  let members: Members;
  before(async () => {
    service = await startService({ dev: false, workers: 0, env: { REQUIRE_SECOND_FACTOR: 'true' } });
    members = new Members(service);
  });
  after(() => service.stop());

  /** The page on which a user sets up an authenticator app. */
  async function setUpOf(client: CookieClient) {
    const { text } = await client.get(members.at('/second-factor'));
    const field = (name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(text)?.[1] ?? '';
    return { text, secret: /<code>([A-Z2-7]{32})<\/code>/.exec(text)?.[1] ?? '', set_up: field('set_up') };
  }
  const setUp = (client: CookieClient, fields: Record<string, string>) =>
    client.post(members.at('/auth/second-factor/set-up'), fields);

  it('who has none sets one up at sign-in, before anything else, and is asked for it from then on', async () => {
    const { id, email, client } = await members.add('new@example.com');
    expect(await members.isSignedIn(client)).to.equal(false);
    const { secret, set_up, text } = await setUpOf(client);
    expect(text).to.include('Set up a second factor');
    expect((await members.giveCode(client, now(secret))).status).to.equal(400);
    const wrong = await setUp(client, { set_up, code: WRONG });
    expect([wrong.status, wrong.text.includes(secret)], 'the secret that was scanned').to.deep.equal([401, true]);
    const done = await setUp(client, { set_up, code: now(secret) });
    expect(done.text.match(/(?:[A-Z2-7]{4}-){3}[A-Z2-7]{4}/g)).to.have.length(10);
    expect(await members.isSignedIn(client)).to.equal(true);
    await members.forgetCode(id);
    const again = await members.begin(email);
    expect((await again.get(members.at('/second-factor'))).text).to.include('Code of the authenticator app');
    expect((await members.giveCode(again, now(secret))).status).to.equal(303);
  });

  it('of two browsers that set one up, the second is asked for that of the first', async () => {
    const { email, client } = await members.add('raced@example.com');
    const thief = await members.begin(email);
    const [own, stolen] = [await setUpOf(client), await setUpOf(thief)];
    expect((await setUp(client, { set_up: own.set_up, code: now(own.secret) })).status).to.equal(200);
    expect((await setUp(thief, { set_up: stolen.set_up, code: now(stolen.secret) })).status).to.equal(400);
    const again = await members.begin(email);
    expect((await setUp(again, { set_up: stolen.set_up, code: now(stolen.secret) })).status, 'later').to.equal(400);
    expect(await members.isSignedIn(again)).to.equal(false);
  });

  it('an emergency admin sets one up too, while the provider is away and passwords are off', async () => {
    const PUBLIC_URL = 'http://127.0.0.1:1';
    const provider = { OIDC_ISSUER: PUBLIC_URL, OIDC_CLIENT_ID: 'id', OIDC_CLIENT_SECRET: 'secret', PUBLIC_URL };
    const admin = { ADMIN_EMAIL: 'emergency@example.com', ADMIN_PASSWORD: PASSWORD };
    const env = { ...provider, ...admin, PASSWORD_SIGN_IN: 'false', REQUIRE_SECOND_FACTOR: 'true' };
    const alone = await startService({ dev: false, workers: 0, env });
    try {
      await alone.waitFor('/v1/users', ({ body }) => body.data.length > 0);
      const client = new CookieClient();
      const own = { origin: PUBLIC_URL };
      const first = await client.post(
        `${alone.url}/auth/sign-in`,
        { email: admin.ADMIN_EMAIL, password: PASSWORD },
        own,
      );
      expect(first.location).to.equal('/second-factor');
      const { text } = await client.get(`${alone.url}/second-factor`);
      const [, secret = ''] = /<code>([A-Z2-7]{32})<\/code>/.exec(text) ?? [];
      const [, set_up = ''] = /name="set_up" value="([^"]*)"/.exec(text) ?? [];
      const done = await client.post(`${alone.url}/auth/second-factor/set-up`, { set_up, code: now(secret) }, own);
      expect([done.status, (await client.get(`${alone.url}/auth/me`)).status]).to.deep.equal([200, 200]);
    } finally {
      await alone.stop();
    }
  });

  it('the last second factor is not removed', async () => {
    const { client } = await members.add('last@example.com');
    const { secret, set_up } = await setUpOf(client);
    await setUp(client, { set_up, code: now(secret) });
    const removed = await client.json(members.at('/auth/account/totp/remove'), { current_password: PASSWORD });
    expect([removed.status, removed.body.code]).to.deep.equal([409, 'second_factor_last']);
  });
});
