import { generateKeyPairSync, sign } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { crc32 } from 'node:zlib';
import { expect } from 'chai';
import { exportJWK, SignJWT } from 'jose';
import { presetOf } from '../../src/providers/catalog.ts';
import { makeCertificate } from '../support/certificates.ts';
import { itVerifies, lastLogged, type SignedRequest, send, storedEvent } from '../support/provider-tests.ts';
import { type Service, startService } from '../support/service.ts';

const PRELOAD = pathToFileURL(join(import.meta.dirname, '../support/own-internet.ts')).href;
const PAYPAL = 'https://api.paypal.com/v1/notifications/certs/CERT-360caa42-fca2a594-1d93a270';
const SNS = 'https://sns.eu-central-1.amazonaws.com/SimpleNotificationService-0123456789abcdef.pem';
const KEY_SET = 'https://accounts.example.com/jwks.json';
const TOPIC = 'arn:aws:sns:eu-central-1:123456789012:orders';

type Message = Record<string, string>;

/** JSON that begins with a text and has the checksum, as an attacker makes it: 32 bits of text are chosen by linear algebra, since a CRC is linear. */
function withCrc32(beginning: string, wanted: number): string {
  const bits = Array.from({ length: 40 }, (_, i) => i);
  const bodyOf = (set: ReadonlySet<number>) => `${beginning}${bits.map((i) => (set.has(i) ? 'A' : '@')).join('')}"}`;
  const base = crc32(bodyOf(new Set()));
  let rows = bits.map((i) => ({ sum: (crc32(bodyOf(new Set([i]))) ^ base) >>> 0, set: new Set([i]) }));
  let rest = { sum: (wanted ^ base) >>> 0, set: new Set<number>() };
  const plus = (a: typeof rest, b: typeof rest) => ({
    sum: (a.sum ^ b.sum) >>> 0,
    set: new Set(bits.filter((i) => a.set.has(i) !== b.set.has(i))),
  });
  for (let bit = 2 ** 31; bit >= 1; bit /= 2) {
    const has = ({ sum }: typeof rest) => Math.floor(sum / bit) % 2 === 1;
    const pivot = rows.find(has);
    if (!pivot) continue;
    rows = rows.filter((row) => row !== pivot).map((row) => (has(row) ? plus(row, pivot) : row));
    if (has(rest)) rest = plus(rest, pivot);
  }
  return bodyOf(rest.set);
}

describe('Webhooks that are verified by certificates and key sets', () => {
  const directory = mkdtempSync(join(tmpdir(), 'tidegate-internet-'));
  const publish = (url: string, text: string) => writeFileSync(join(directory, encodeURIComponent(url)), text);
  const asked = () => readFileSync(join(directory, 'asked'), 'utf8').trim().split('\n');
  const root = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const issued = (subject: string) => {
    const hosts = [subject];
    return makeCertificate({ subject, hosts, publicKey, issuer: 'Test root', issuerKey: root.privateKey }).toString();
  };

  let service: Service;
  before(async () => {
    const names = { subject: 'Test root', issuer: 'Test root' };
    const own = { ...names, publicKey: root.publicKey, issuerKey: root.privateKey, isAuthority: true };
    writeFileSync(join(directory, 'root.pem'), makeCertificate(own).toString());
    publish(PAYPAL, issued('messageverificationcerts.paypal.com'));
    publish(SNS, issued('sns.amazonaws.com'));
    publish(KEY_SET, JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: 'key-1' }] }));
    service = await startService({ env: { OWN_INTERNET: directory }, execArgv: { web: ['--import', PRELOAD] } });
  });
  after(async () => {
    await service.stop();
    rmSync(directory, { recursive: true });
  });

  async function create(input: object): Promise<{ id: string; url: string }> {
    const { status, body } = await service.post('/v1/webhooks', { name: 'Certificates', ...input });
    expect(status, JSON.stringify(body)).to.equal(201);
    return body.data;
  }
  const results = async (url: string, ...requests: SignedRequest[]) => {
    const responses = [];
    for (const request of requests) {
      const { status, body } = await send(url, request);
      responses.push(status === 200 ? 200 : `${status} ${body.reason}`);
    }
    return responses;
  };

  describe('provider paypal', () => {
    const sample = JSON.stringify(presetOf('paypal')?.sample.body);
    const signed = (webhookId: string, nowMs: number, url = PAYPAL, body = sample): SignedRequest => {
      const [id, time] = ['3a8e1f20-f12b-11f0-9c4d-8b2a6d1e7f53', new Date(nowMs).toISOString()];
      const content = Buffer.from(`${id}|${time}|${webhookId}|${crc32(body)}`);
      const headers = {
        'content-type': 'application/json',
        'paypal-auth-algo': 'SHA256withRSA',
        'paypal-cert-url': url,
        'paypal-transmission-id': id,
        'paypal-transmission-sig': sign('sha256', content, privateKey).toString('base64'),
        'paypal-transmission-time': time,
      };
      return { headers, body };
    };
    const settings = { webhook_id: '8PT597110X687430L' };

    it('paypal: a genuine request makes a verified event, and counts once', async () => {
      const { url } = await create({ provider: 'paypal', settings });
      const request = signed(settings.webhook_id, Date.now());
      const [first, second] = [await send(url, request), await send(url, request)];
      expect([first.status, second.status]).to.deep.equal([200, 200]);
      expect(second.body.ids).to.deep.equal(first.body.ids);
      const event = await storedEvent(service, first.body.ids[0]);
      expect([event.name, event.verified]).to.deep.equal(['paypal/PAYMENT.CAPTURE.COMPLETED', true]);
      expect(asked().filter((item) => item === PAYPAL)).to.have.length(1);
    });

    it('paypal: tampered, stale and foreign requests get 401, those without a certificate 503', async () => {
      const { url } = await create({ provider: 'paypal', settings });
      const genuine = signed(settings.webhook_id, Date.now());
      const responses = await results(
        url,
        { ...genuine, body: `${genuine.body} ` },
        signed(settings.webhook_id, Date.now() - 5 * 86_400_000),
        signed('1AB23456CD789012E', Date.now()),
        signed(settings.webhook_id, Date.now(), 'https://example.com/v1/notifications/certs/CERT-1'),
        signed(settings.webhook_id, Date.now(), `${PAYPAL}0`),
      );
      expect(responses).to.deep.equal([
        '401 signature_mismatch',
        '401 timestamp_too_old',
        '401 signature_mismatch',
        '401 certificate_untrusted',
        '503 certificate_unavailable',
      ]);
    });

    it('paypal: another body with the same CRC-32 does not pass under an earlier transmission', async () => {
      const { url } = await create({ provider: 'paypal', settings });
      const genuine = signed(settings.webhook_id, Date.now());
      const forged = withCrc32('{"id":"WH-forged","event_type":"PAYMENT.CAPTURE.COMPLETED","x":"', crc32(genuine.body));
      expect(crc32(forged)).to.equal(crc32(genuine.body));
      const responses = await results(url, genuine, { ...genuine, body: forged }, genuine);
      expect(responses).to.deep.equal([200, '401 transmission_repeated', 200]);
    });

    it('paypal: a webhook without its ID is rejected', async () => {
      const { status, body } = await service.post('/v1/webhooks', { name: 'PayPal', provider: 'paypal' });
      expect(status).to.equal(400);
      expect(JSON.stringify(body)).to.include('settings.webhook_id');
    });
  });

  describe('provider aws-sns', () => {
    const sample = presetOf('aws-sns')?.sample.body as Message;
    const signed = (changes: Message): SignedRequest => {
      const { Signature: _, ...message }: Message = { ...sample, SigningCertURL: SNS, Timestamp: now(), ...changes };
      const fields =
        message.Type === 'Notification'
          ? ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type']
          : ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'];
      const content = fields.map((name) => `${name}\n${message[name]}\n`).join('');
      const Signature = sign('sha256', Buffer.from(content), privateKey).toString('base64');
      const headers = { 'content-type': 'text/plain; charset=UTF-8' };
      return { headers, body: JSON.stringify({ ...message, Signature }) };
    };
    const now = () => new Date().toISOString();

    it('aws-sns: a genuine notification makes a verified event, and counts once', async () => {
      const { url } = await create({ provider: 'aws-sns', settings: { topic_arn: TOPIC } });
      const request = signed({});
      const [first, second] = [await send(url, request), await send(url, request)];
      expect([first.status, second.status]).to.deep.equal([200, 200]);
      expect(second.body.ids).to.deep.equal(first.body.ids);
      const event = await storedEvent(service, first.body.ids[0]);
      expect([event.name, event.verified]).to.deep.equal(['aws-sns/notification', true]);
      expect(event.data.message).to.deep.equal({ order: 1042, status: 'paid' });
    });

    it('aws-sns: a webhook without its topic is rejected, since any AWS account can send signed messages', async () => {
      const { status, body } = await service.post('/v1/webhooks', { name: 'SNS', provider: 'aws-sns' });
      expect(status).to.equal(400);
      expect(JSON.stringify(body)).to.include('settings.topic_arn');
    });

    it('aws-sns: tampered and stale messages, and those of other topics, get 401', async () => {
      const { url } = await create({ provider: 'aws-sns', settings: { topic_arn: TOPIC } });
      const genuine = signed({});
      const responses = await results(
        url,
        { ...genuine, body: genuine.body.replace('1042', '1043') },
        signed({ Timestamp: new Date(Date.now() - 2 * 86_400_000).toISOString() }),
        signed({ TopicArn: `${TOPIC}-of-a-stranger` }),
        signed({ SigningCertURL: 'https://sns.s3-us-west-2.amazonaws.com/stranger.pem' }),
      );
      expect(responses).to.deep.equal([
        '401 signature_mismatch',
        '401 timestamp_too_old',
        '401 signature_mismatch',
        '401 certificate_untrusted',
      ]);
    });

    it('aws-sns: a genuine subscription is confirmed at amazonaws.com only, and makes no event', async () => {
      const { id, url } = await create({ provider: 'aws-sns', settings: { topic_arn: TOPIC } });
      const SubscribeURL = 'https://sns.eu-central-1.amazonaws.com/?Action=ConfirmSubscription&Token=2336412f37';
      publish(SubscribeURL, '<ConfirmSubscriptionResponse/>');
      const confirmation = { Type: 'SubscriptionConfirmation', Token: '2336412f37' };
      expect((await send(url, signed({ ...confirmation, SubscribeURL }))).status).to.equal(200);
      expect(asked()).to.include(SubscribeURL);
      const logged = await lastLogged(service, id);
      expect([logged.outcome, logged.ids]).to.deep.equal(['handshake', []]);
      const elsewhere = 'https://amazonaws.com.example.com/?Action=ConfirmSubscription';
      expect((await send(url, signed({ ...confirmation, SubscribeURL: elsewhere }))).status).to.equal(401);
      const forged = signed({ ...confirmation, SubscribeURL: `${SubscribeURL}&forged` });
      expect((await send(url, { ...forged, body: forged.body.replace('forged', 'forger') })).status).to.equal(401);
      expect(asked().join()).not.to.match(/\.com\.example\.com|forge/);
    });
  });

  const jwt = (key: Parameters<SignJWT['sign']>[0], alg: string, nowMs: number) =>
    new SignJWT({ iss: 'https://accounts.example.com' })
      .setProtectedHeader({ alg, kid: 'key-1' })
      .setExpirationTime(Math.floor(nowMs / 1_000) + 300)
      .sign(key);
  const verification = {
    scheme: 'jwt',
    token: { at: 'header:authorization', prefix: 'Bearer ' },
    algorithms: ['HS256', 'RS256'],
    issuer: 'https://accounts.example.com',
  };
  const bearer = (token: string): SignedRequest => ({
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: '{"order":1042}',
  });

  itVerifies(
    {
      id: 'jwt',
      secrets: ['a secret of more than 32 characters', 'the next secret of more than 32 characters'],
      verification,
      hasAge: true,
      // A token may come with many requests.
      hasId: false,
      sign: async (secret, _, nowMs) => bearer(await jwt(Buffer.from(secret), 'HS256', nowMs)),
      tamper: ({ headers, body }) => ({
        headers: { ...headers, authorization: String(headers.authorization).replace(/\.[\w-]{5}/, '.eyJhY') },
        body,
      }),
    },
    () => service,
  );

  it('jwt: a key set is fetched once, and a token of another key gets 401', async () => {
    const { url } = await create({ provider: 'jwt', verification, secrets: [KEY_SET] });
    const genuine = bearer(await jwt(privateKey, 'RS256', Date.now()));
    const forged = bearer(await jwt(root.privateKey, 'RS256', Date.now()));
    expect(await results(url, genuine, genuine, forged)).to.deep.equal([200, 200, '401 signature_mismatch']);
    expect(asked().filter((item) => item === KEY_SET)).to.have.length(1);
  });
});
