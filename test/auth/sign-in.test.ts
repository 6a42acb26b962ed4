import { expect } from 'chai';
import { digestOf } from '../../src/model/auth/secret.ts';
import { addUser, cookieOf, PASSWORD, postForm, sessionHeaders, signIn, tokenIn } from '../support/auth.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const DAY_MS = 86_400_000;

describe('sign-in', () => {
  let service: Service;
  before(async () => {
    service = await startService({ dev: false, workers: 0 });
    await addUser(service, 'ada@example.com', 'admin');
  });
  after(() => service.stop());

  const member = () => ({ email: 'ada@example.com', password: PASSWORD });
  const sessions = () => service.redis.keys(`${service.prefix}:session:*`);

  it('POST /auth/sign-in sets a cookie that scripts cannot read and other sites do not send', async () => {
    const response = await signIn(service, ' Ada@Example.com ');
    expect(response.status).to.equal(200);
    expect(response.body.data).to.include({ name: 'ada@example.com', role: 'admin', access: 'admin' });
    expect(response.headers.get('set-cookie')).to.match(/^session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/);
    const me = await service.get('/auth/me', cookieOf(response));
    expect(me.body.data).to.include({ kind: 'user', name: 'ada@example.com' });
    expect((await service.get('/v1/users', cookieOf(response))).status).to.equal(200);
  });

  it('sessions are stored as hashes and expire after half a day idle or a week', async () => {
    await service.redis.del(await sessions());
    const headers = await sessionHeaders(service, 'ada@example.com');
    const keys = await sessions();
    expect(JSON.stringify(keys)).not.to.include((headers.cookie as string).slice('session='.length));
    expect(await service.redis.pttl(keys[0] as string)).to.be.within(DAY_MS / 2 - 60_000, DAY_MS / 2);
    for (const key of keys) {
      const session = JSON.parse((await service.redis.get(key)) as string);
      await service.redis.set(key, JSON.stringify({ ...session, startedAt: Date.now() - 7 * DAY_MS }), 'KEEPTTL');
    }
    expect((await service.get('/auth/me', headers)).status).to.equal(401);
    expect(await sessions()).to.deep.equal([]);
  });

  it('the index of a user has no sessions that have ended', async () => {
    const id = await addUser(service, 'ivy@example.com', 'member');
    const index = service.keys.sessionIndex(digestOf(JSON.stringify(['user', id])));
    await service.redis.zadd(index, Date.now() - 8 * DAY_MS, 'of last week');
    const headers = await sessionHeaders(service, 'ivy@example.com');
    expect(await service.redis.zrange(index, '0', '-1'))
      .to.have.length(2)
      .and.not.to.include('of last week');
    expect(await service.redis.pttl(index)).to.be.within(7 * DAY_MS - 60_000, 7 * DAY_MS);
    await service.post('/auth/sign-out', undefined, headers);
    expect(await service.redis.zcard(index)).to.equal(1);
  });

  it('POST /auth/sign-out ends the session', async () => {
    const headers = await sessionHeaders(service, 'ada@example.com');
    const out = await service.post('/auth/sign-out', undefined, headers);
    expect([out.status, out.headers.get('set-cookie')]).to.deep.equal([
      204,
      'session=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax',
    ]);
    expect((await service.get('/auth/me', headers)).status).to.equal(401);
  });

  it('POST /auth/sign-in responds the same to an unknown user and a wrong password', async () => {
    const wrong = await signIn(service, 'ada@example.com', 'not her password');
    const unknown = await signIn(service, 'nobody@example.com', 'not her password');
    expect([wrong.status, wrong.body.code]).to.deep.equal([401, 'sign_in_failed']);
    expect(unknown.body).to.deep.equal(wrong.body);
    expect(wrong.headers.get('set-cookie')).to.equal(null);
  });

  it('changing the password ends all other sessions', async () => {
    await addUser(service, 'eve@example.com', 'member');
    const [here, there] = [
      await sessionHeaders(service, 'eve@example.com'),
      await sessionHeaders(service, 'eve@example.com'),
    ];
    const change = { current_password: PASSWORD, password: 'another horse battery' };
    const wrong = await service.post('/auth/change-password', { ...change, current_password: 'nope' }, here);
    expect([wrong.status, wrong.body.code]).to.deep.equal([401, 'sign_in_failed']);
    const changed = await service.post('/auth/change-password', change, here);
    expect(changed.status).to.equal(200);
    for (const old of [here, there]) expect((await service.get('/auth/me', old)).status).to.equal(401);
    expect((await service.get('/auth/me', cookieOf(changed))).status).to.equal(200);
    expect((await signIn(service, 'eve@example.com')).status).to.equal(401);
  });

  it('removing a user ends the sessions, and a new role takes effect at once', async () => {
    const id = await addUser(service, 'dan@example.com', 'member');
    const headers = await sessionHeaders(service, 'dan@example.com');
    await service.request('PATCH', `/v1/users/${id}`, { role: 'read-only' }, service.apiHeaders);
    expect((await service.get('/auth/me', headers)).body.data.access).to.equal('read');
    expect((await service.request('DELETE', `/v1/users/${id}`, undefined, service.apiHeaders)).status).to.equal(204);
    expect((await service.get('/auth/me', headers)).status).to.equal(401);
  });

  describe('sign-in page', () => {
    it('a browser without a session is redirected to the sign-in page, and a program gets 401', async () => {
      const page = await service.get('/queues?status=failed', { accept: 'text/html' });
      expect([page.status, page.headers.get('location')]).to.deep.equal([
        302,
        '/sign-in?next=%2Fqueues%3Fstatus%3Dfailed',
      ]);
      expect((await service.get('/queues', {})).status).to.equal(401);
      const form = await service.get('/sign-in?next=%2Fqueues%3Fstatus%3Dfailed', {});
      expect(form.body).to.include('name="password"').and.to.include('value="/queues?status=failed"');
      expect(form.body).not.to.include('<script');
    });

    it('POST /auth/sign-in redirects to the requested page, but only within this service', async () => {
      for (const [next, location] of [
        ['/queues?status=failed', '/queues?status=failed'],
        ['https://evil.example/', '/'],
        ['//evil.example', '/'],
        ['/\\evil.example', '/'],
        ['/\t/evil.example', '/'],
        ['/.//evil.example', '/'],
        ['javascript:alert(1)', '/'],
      ] as const) {
        const response = await postForm(service, '/auth/sign-in', { ...member(), next });
        expect([response.status, response.headers.get('location')], next).to.deep.equal([303, location]);
        expect((await service.get('/auth/me', cookieOf(response))).status).to.equal(200);
      }
    });

    it('POST /auth/sign-in shows the form again with the error', async () => {
      const response = await postForm(service, '/auth/sign-in', { ...member(), password: '<wrong>', next: '/docs' });
      expect(response.status).to.equal(401);
      expect(response.body).to.include('role="alert"').and.to.include('value="/docs"').and.not.to.include('<wrong>');
    });
  });

  it('pages say what is wrong with a form in words for people', async () => {
    for (const [path, fields, words] of [
      ['/auth/sign-in', { email: 'ada', password: PASSWORD }, 'Enter a whole email address'],
      ['/auth/sign-in', {}, 'Enter a whole email address'],
      ['/auth/set-password', { token: 'x', password: 'short' }, 'Choose a password of 12 to 256 characters.'],
    ] as const) {
      const response = await postForm(service, path, fields);
      expect([response.status, response.body.includes(words)], words).to.deep.equal([400, true]);
    }
  });

  describe('cross-site requests (CSRF)', () => {
    const foreign = { origin: 'https://evil.example' };

    it('a form or script of another site can neither sign in nor sign out', async () => {
      const headers = await sessionHeaders(service, 'ada@example.com');
      for (const path of ['/auth/sign-in', '/auth/sign-out', '/auth/set-password', '/auth/set-up']) {
        const response = await postForm(service, path, member(), { ...headers, ...foreign });
        expect([response.status, response.body.code], path).to.deep.equal([403, 'origin_untrusted']);
      }
      const json = await service.post('/auth/sign-in', member(), foreign);
      expect(json.status).to.equal(403);
      expect((await service.get('/auth/me', headers)).status).to.equal(200);
    });

    it('a session can change something only from a page of this service and with JSON', async () => {
      const { cookie } = (await sessionHeaders(service, 'ada@example.com')) as { cookie: string };
      const key = { name: 'csrf', access: 'read' };
      for (const headers of [
        {},
        foreign,
        { origin: 'null' },
        { 'sec-fetch-site': 'cross-site' },
        { 'sec-fetch-site': 'same-site' },
        { origin: service.url, 'content-type': 'text/plain' },
      ]) {
        const { status, body } = await service.post('/v1/api-keys', key, { cookie, ...headers } as never);
        expect([status, body.code], JSON.stringify(headers)).to.deep.equal([403, 'origin_untrusted']);
      }
      const queues = await service.request('PUT', '/queues/api/queues/pause', undefined, { cookie, ...foreign });
      expect(queues.status).to.equal(403);
      const own = { cookie, origin: service.url };
      expect((await service.post('/v1/api-keys', key, own)).status).to.equal(201);
    });
  });

  describe('users', () => {
    it('POST /v1/users invites a user with a link that works once', async () => {
      const invited = await service.post(
        '/v1/users',
        { email: 'flo@example.com', role: 'read-only' },
        service.apiHeaders,
      );
      expect(invited.status).to.equal(201);
      expect(invited.body.data).to.include({ email: 'flo@example.com', role: 'read-only', active: false });
      const { set_password_url: url } = invited.body.data;
      const token = tokenIn(url);
      const page = await fetch(url);
      expect([page.status, (await page.text()).includes('minlength="12"')]).to.deep.equal([200, true]);
      const weak = await postForm(service, '/auth/set-password', { token, password: 'short' });
      expect([weak.status, weak.body.includes('of 12 to 256')]).to.deep.equal([400, true]);
      const set = await postForm(service, '/auth/set-password', { token, password: PASSWORD });
      expect(set.status).to.equal(303);
      expect((await service.get('/auth/me', cookieOf(set))).body.data.access).to.equal('read');
      const again = await service.post('/auth/set-password', { token, password: PASSWORD });
      expect([again.status, again.body.code]).to.deep.equal([400, 'link_invalid']);
      expect((await fetch(url)).status).to.equal(400);
    });

    it('POST /v1/users rejects an email address that is taken', async () => {
      const again = await service.post('/v1/users', { email: 'ADA@example.com', role: 'member' }, service.apiHeaders);
      expect([again.status, again.body.code]).to.deep.equal([409, 'email_taken']);
    });

    it('the last admin who can sign in can neither be removed nor demoted', async () => {
      await service.post('/v1/users', { email: 'no-password@example.com', role: 'admin' }, service.apiHeaders);
      const { data } = (await service.get('/v1/users')).body;
      const { id } = data.find(({ email }: { email: string }) => email === 'ada@example.com');
      const demoted = await service.request('PATCH', `/v1/users/${id}`, { role: 'member' }, service.apiHeaders);
      const removed = await service.request('DELETE', `/v1/users/${id}`, undefined, service.apiHeaders);
      for (const { status, body } of [demoted, removed]) expect([status, body.code]).to.deep.equal([409, 'last_admin']);
    });

    it('passwords are stored as hashes and never returned', async () => {
      const kept = JSON.stringify(await service.redis.hgetall(`${service.prefix}:users`));
      expect(kept).to.include('scrypt$32768$8$3$').and.not.to.include(PASSWORD);
      expect((await service.get('/v1/users')).body).to.satisfy(
        (body: object) => !JSON.stringify(body).includes('scrypt'),
      );
    });
  });
});

describe('first admin', () => {
  const ADMIN = { ADMIN_EMAIL: 'first@example.com', ADMIN_PASSWORD: 'first of all admins' };

  it('ADMIN_EMAIL and ADMIN_PASSWORD create the first admin when there is no user', async () => {
    const service = await startService({ dev: false, webs: 2, workers: 0, env: ADMIN });
    try {
      // A web process is ready before it has made the user. A sign-in before that counts as failed.
      await service.waitFor('/v1/users', ({ body }) => body.data.length > 0);
      const response = await signIn(service, ADMIN.ADMIN_EMAIL, ADMIN.ADMIN_PASSWORD);
      expect(response.body.data.role).to.equal('admin');
      expect((await service.get('/v1/users')).body.data.length).to.equal(1);
      expect(service.output()).not.to.include('set-up').and.not.to.include(ADMIN.ADMIN_PASSWORD);
    } finally {
      await service.stop();
    }
  });

  it('all web processes log the same link, which creates the first admin once', async () => {
    const service = await startService({ dev: false, webs: 2, workers: 0 });
    try {
      const written = () => service.output().match(/http:\/\/127\.0\.0\.1:\d+\/set-up\?token=[\w-]+/g) ?? [];
      await until(() => written().length === 2, { describe: 'both web processes wrote a link' });
      const [one, two] = written() as [string, string];
      expect(tokenIn(two)).to.equal(tokenIn(one));
      const page = await service.get('/sign-in', {});
      expect(page.body).to.include('in the line “nobody can sign in yet”').and.not.to.include('name="password"');
      expect(page.body).not.to.include(tokenIn(one));
      expect(await (await fetch(one)).text()).to.include('first admin');
      const fields = { token: tokenIn(one), email: 'first@example.com', password: PASSWORD };
      const made = await postForm(service, '/auth/set-up', fields);
      expect([made.status, made.headers.get('location')]).to.deep.equal([303, '/']);
      expect((await service.get('/v1/users', cookieOf(made))).status).to.equal(200);
      expect((await service.get('/sign-in', {})).body)
        .to.include('name="password"')
        .and.not.to.include('set-up link');
      const second = await service.post('/auth/set-up', { ...fields, token: tokenIn(two), email: 'b@example.com' });
      expect([second.status, second.body.code]).to.deep.equal([400, 'link_invalid']);
    } finally {
      await service.stop();
    }
  });
});

describe('sign-in over https', () => {
  it('with https the session cookie is host-only and secure, and responses have HSTS', async () => {
    const PUBLIC_URL = 'https://events.example.com';
    const service = await startService({ dev: false, workers: 0, env: { PUBLIC_URL } });
    try {
      await addUser(service, 'ada@example.com', 'admin');
      const response = await signIn(service, 'ada@example.com');
      expect(response.headers.get('set-cookie')).to.match(
        /^__Host-session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
      );
      expect(response.headers.get('strict-transport-security')).to.include('max-age=31536000');
      const own = { ...cookieOf(response), origin: PUBLIC_URL };
      expect((await service.post('/v1/api-keys', { name: 'x', access: 'read' }, own)).status).to.equal(201);
    } finally {
      await service.stop();
    }
  });
});
