import { generateKeyPairSync } from 'node:crypto';
import { expect } from 'chai';
import { freePort } from '../../scripts/lib/ports.ts';
import { PASSWORD } from '../support/auth.ts';
import { Authenticator, type PasskeyLie } from '../support/authenticator.ts';
import type { CookieClient } from '../support/cookie-client.ts';
import { Members } from '../support/second-factors.ts';
import { type Service, startService } from '../support/service.ts';

describe('passkeys', () => {
  let service: Service;
  let members: Members;
  let origin: string;
  before(async () => {
    const port = await freePort();
    // Browsers have no passkeys at IP addresses.
    origin = `http://localhost:${port}`;
    service = await startService({ dev: false, workers: 0, env: { PORT: String(port), PUBLIC_URL: origin } });
    members = new Members(service, origin);
  });
  after(() => service.stop());

  const path = () => members.at('/auth/account/passkeys');

  async function optionsFor(client: CookieClient) {
    const { body } = await client.json(`${path()}/set-up`, { current_password: PASSWORD });
    return body.data;
  }

  async function add(client: CookieClient, authenticator: Authenticator, lie: PasskeyLie = {}, name = 'Laptop') {
    const credential = authenticator.create(await optionsFor(client), lie);
    return client.json(path(), { name, credential });
  }

  async function addWithPasskey(email: string) {
    const member = await members.add(email);
    const authenticator = new Authenticator(origin);
    const added = await add(member.client, authenticator);
    expect(added.status, added.text).to.equal(200);
    return { ...member, authenticator };
  }

  /** The options that the page of the second step gives the browser. */
  async function challengeOf(client: CookieClient) {
    const { text } = await client.get(members.at('/second-factor'));
    const options = /data-options="([^"]*)"/.exec(text)?.[1] ?? '';
    return JSON.parse(options.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code))));
  }

  const give = (client: CookieClient, credential: string) =>
    client.post(members.at('/auth/second-factor'), { credential });

  it('a passkey signs in after the password, without a PIN or fingerprint', async () => {
    const { email, id, authenticator } = await addWithPasskey('key@example.com');
    const client = await members.begin(email);
    const options = await challengeOf(client);
    expect(options).to.deep.include({ rpId: 'localhost', userVerification: 'preferred' });
    expect(options.allowCredentials).to.deep.equal([
      { id: authenticator.id, transports: ['internal'], type: 'public-key' },
    ]);
    expect(await members.isSignedIn(client)).to.equal(false);
    const done = await give(client, authenticator.get(options));
    expect([done.status, done.location]).to.deep.equal([303, '/']);
    expect(await members.isSignedIn(client)).to.equal(true);
    expect((await members.stored(id)).secondFactors?.passkeys[0]).to.deep.include({ name: 'Laptop', counter: 1 });
    const [entry] = (await service.get('/v1/audit?limit=1')).body.data;
    expect(entry.summary).to.equal('Signed in with a password and the passkey Laptop');
  });

  it('the page of the second step runs its own script only', async () => {
    const { email } = await addWithPasskey('policy@example.com');
    const client = await members.begin(email);
    const { headers } = await client.get(members.at('/second-factor'));
    expect(headers.get('content-security-policy')).to.match(
      /^default-src 'none'; style-src 'sha256-[\w+/=]+'; script-src 'sha256-[\w+/=]+'; img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'$/,
    );
  });

  describe('are refused with', () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const lies: [string, PasskeyLie, RegExp][] = [
      ['the origin of another page', { origin: 'https://evil.example' }, /origin/],
      ['the port of another page', { origin: 'http://localhost:1' }, /origin/],
      ['another host', { rpId: 'evil.example' }, /RP ID/],
      ['another challenge', { challenge: 'AAAA' }, /challenge/],
      ['the signature of another key', { key: privateKey }, /signature/],
      ['nobody there', { absent: true }, /present/i],
      ['a response that makes a passkey', { type: 'webauthn.create' }, /type/],
      ['an unknown passkey', { id: 'AAAA' }, /not one of yours/],
    ];
    for (const [what, lie, reason] of lies) {
      it(what, async () => {
        const { email, authenticator } = await addWithPasskey(`${what.replaceAll(' ', '-')}@example.com`);
        const client = await members.begin(email);
        const response = await give(client, authenticator.get(await challengeOf(client), lie));
        expect(response.status).to.equal(401);
        expect(response.text).to.match(reason);
        expect(await members.isSignedIn(client)).to.equal(false);
      });
    }

    it('a counter that does not count, as of a copy', async () => {
      const { email, authenticator } = await addWithPasskey('cloned@example.com');
      for (const [counter, status] of [
        [5, 303],
        [5, 401],
        [4, 401],
        [6, 303],
      ] as const) {
        const client = await members.begin(email);
        const response = await give(client, authenticator.get(await challengeOf(client), { counter }));
        expect(response.status, String(counter)).to.equal(status);
      }
    });

    it('a challenge that was used, or is of another sign-in', async () => {
      const { email, authenticator } = await addWithPasskey('challenged@example.com');
      const [one, two] = [await members.begin(email), await members.begin(email)];
      const [first, second] = [await challengeOf(one), await challengeOf(two)];
      expect((await give(one, authenticator.get(second))).status, 'of another').to.equal(401);
      expect((await give(one, authenticator.get(first))).status, 'used up by the failure').to.equal(401);
      const response = authenticator.get(second, { counter: 0 });
      expect((await give(two, response)).status).to.equal(303);
      const three = await members.begin(email);
      expect((await give(three, response)).status, 'replayed').to.equal(401);
    });

    it('the passkey of another user', async () => {
      const { authenticator } = await addWithPasskey('owner@example.com');
      const { email } = await addWithPasskey('other@example.com');
      const client = await members.begin(email);
      expect((await give(client, authenticator.get(await challengeOf(client)))).status).to.equal(401);
    });

    it('text that is no response', async () => {
      const { email } = await addWithPasskey('garbled@example.com');
      const client = await members.begin(email);
      for (const text of ['', 'x', 'null', '[]', '{"id":1,"response":null}', '{"id":"AAAA","response":{}}']) {
        expect((await give(client, text)).status, text).to.be.oneOf([400, 401]);
      }
    });
  });

  it('making one needs the password, its own challenge, and the address of this service', async () => {
    const { client } = await members.add('maker@example.com');
    const wrong = await client.json(`${path()}/set-up`, { current_password: 'not it' });
    expect(wrong.body.code).to.equal('sign_in_failed');
    const authenticator = new Authenticator(origin);
    for (const lie of [
      { origin: 'https://evil.example' },
      { rpId: 'evil.example' },
      { challenge: 'AAAA' },
      { absent: true },
      { type: 'webauthn.get' },
    ]) {
      const { body } = await add(client, authenticator, lie);
      expect(body.code, JSON.stringify(lie)).to.equal('second_factor_invalid');
    }
    const options = await optionsFor(client);
    const credential = authenticator.create(options);
    expect((await client.json(path(), { name: 'A\ud800', credential })).status).to.equal(200);
    expect((await client.json(path(), { name: 'A', credential })).body.code, 'again').to.equal('second_factor_invalid');
    // Names need not be well-formed Unicode.
    expect((await add(client, new Authenticator(origin))).status, 'another').to.equal(200);
  });

  it('a user has ten at most, and removes them with the password', async () => {
    const { client, id } = await addWithPasskey('many@example.com');
    for (let n = 2; n <= 10; n++) expect((await add(client, new Authenticator(origin))).status).to.equal(200);
    const more = await add(client, new Authenticator(origin));
    expect([more.status, more.body.code]).to.deep.equal([403, 'quota_exceeded']);
    const [first] = (await members.stored(id)).secondFactors?.passkeys ?? [];
    const remove = (fields: object) => client.json(`${path()}/remove`, { passkey: first?.id, ...fields });
    expect((await remove({ current_password: 'not it' })).body.code).to.equal('sign_in_failed');
    expect((await remove({ current_password: PASSWORD })).status).to.equal(200);
    expect((await remove({ current_password: PASSWORD })).body.code).to.equal('not_found');
    expect((await members.stored(id)).secondFactors?.passkeys).to.have.length(9);
  });

  it('are not offered at an IP address, where browsers have none', async () => {
    const plain = await startService({ dev: false, workers: 0 });
    try {
      const others = new Members(plain);
      const { client } = await others.add('address@example.com');
      const response = await client.json(others.at('/auth/account/passkeys/set-up'), { current_password: PASSWORD });
      expect([response.status, response.body.code]).to.deep.equal([400, 'passkey_unavailable']);
    } finally {
      await plain.stop();
    }
  });
});
