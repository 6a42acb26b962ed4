import { generateKeyPairSync, sign } from 'node:crypto';
import https from 'node:https';
import { PassThrough } from 'node:stream';
import { expect } from 'chai';
import { assert, asyncProperty, constantFrom, integer, nat } from 'fast-check';
import MessageValidator from 'sns-validator';
import { awsSnsVerifier } from '../../../src/providers/verification/schemes/aws-sns.ts';
import type { VerifyOptions } from '../../../src/providers/verification/verification.ts';
import { makeCertificate } from '../../support/certificates.ts';
import { documentsFrom, resultOf } from '../../support/provider-requests.ts';

const CERTIFICATE_URL = 'https://sns.eu-central-1.amazonaws.com/SimpleNotificationService-0123456789abcdef.pem';
const TOPIC = 'arn:aws:sns:eu-central-1:123456789012:orders';

type Message = Record<string, string>;

const NOTIFICATION: Message = {
  Type: 'Notification',
  MessageId: 'c5a1f2d4-0b6e-5e7f-9a3b-aa8c1d2e3f40',
  TopicArn: TOPIC,
  Subject: 'Order paid',
  Message: '{"order":1042,\n"name":"Zoë 🐦"}',
  Timestamp: new Date().toISOString(),
  SignatureVersion: '2',
  SigningCertURL: CERTIFICATE_URL,
};
const CONFIRMATION: Message = {
  ...NOTIFICATION,
  Type: 'SubscriptionConfirmation',
  Token: '2336412f37',
  SubscribeURL: 'https://sns.eu-central-1.amazonaws.com/?Action=ConfirmSubscription',
};
delete CONFIRMATION.Subject;

describe('The verification scheme aws-sns', () => {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const names = { subject: 'sns.amazonaws.com', issuer: 'Test authority', publicKey, issuerKey: privateKey };
  const certificate = makeCertificate(names).toString();

  function signed(message: Message): Message {
    const fields = ['Message', 'MessageId', 'Subject', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'];
    const content = fields.filter((name) => name in message).map((name) => `${name}\n${message[name]}\n`);
    const hash = message.SignatureVersion === '1' ? 'sha1' : 'sha256';
    return { ...message, Signature: sign(hash, Buffer.from(content.join('')), privateKey).toString('base64') };
  }
  const result = (message: object, options: Partial<VerifyOptions> = {}, settings: Record<string, string> = {}) =>
    resultOf(
      awsSnsVerifier(settings),
      { body: JSON.stringify(message) },
      { fetchDocument: documentsFrom({ [CERTIFICATE_URL]: certificate }).fetchDocument, ...options },
    );

  it("verifies messages that Amazon's own library accepts, with both signature versions", async () => {
    for (const message of [NOTIFICATION, CONFIRMATION, { ...NOTIFICATION, SignatureVersion: '1' }].map(signed)) {
      expect(await isValidForLibrary(message, certificate), "Amazon's own library").to.equal(true);
      expect(await result(message)).to.equal('verified');
    }
    expect(await result(signed({ ...CONFIRMATION, Type: 'UnsubscribeConfirmation' }))).to.equal('verified');
    const { Subject: _, ...withoutSubject } = NOTIFICATION;
    expect(await result(signed(withoutSubject))).to.equal('verified');
    expect(await result({ ...signed(withoutSubject), Subject: null })).to.equal('verified');
  });

  it('fetches only certificates of SNS, and only when everything else is valid', async () => {
    const { fetchDocument, asked } = documentsFrom({});
    const host = 'https://sns.eu-central-1.amazonaws.com';
    const refused = [
      'https://example.com/SimpleNotificationService-1.pem',
      'http://sns.eu-central-1.amazonaws.com/SimpleNotificationService-1.pem',
      'https://sns.eu-central-1.amazonaws.com.example.com/SimpleNotificationService-1.pem',
      'https://sns.eu-central-1.amazonaws.com@example.com/SimpleNotificationService-1.pem',
      'https://sns.s3-us-west-2.amazonaws.com/SimpleNotificationService-1.pem',
      'https://sns.s3.amazonaws.com/SimpleNotificationService-1.pem',
      `${host}:8443/SimpleNotificationService-1.pem`,
      `${host}/SimpleNotificationService-1.pem?x`,
      `${host}/SimpleNotificationService-1.pem\n`,
      `${host}/a/../SimpleNotificationService-1.pem`,
      `${host}/SimpleNotificationService-1.txt`,
      `${host}/?Action=GetTopic`,
      '',
    ];
    for (const SigningCertURL of refused) {
      expect(await result(signed({ ...NOTIFICATION, SigningCertURL }), { fetchDocument }), SigningCertURL).to.equal(
        'certificate_untrusted',
      );
    }
    const Timestamp = new Date(Date.now() - 2 * 86_400_000).toISOString();
    expect(await result(signed({ ...NOTIFICATION, Timestamp }), { fetchDocument })).to.equal('timestamp_too_old');
    expect(asked).to.deep.equal([]);
    expect(await result(signed(NOTIFICATION), { fetchDocument })).to.equal('certificate_unavailable');
    const SigningCertURL = 'https://sns.cn-north-1.amazonaws.com.cn/SimpleNotificationService-1.pem';
    await result(signed({ ...NOTIFICATION, SigningCertURL }), { fetchDocument });
    expect(asked).to.deep.equal([CERTIFICATE_URL, SigningCertURL]);
  });

  it('accepts only messages of the configured topic', async () => {
    expect(await result(signed(NOTIFICATION), {}, { topic_arn: TOPIC })).to.equal('verified');
    expect(await result(signed(NOTIFICATION), {}, { topic_arn: `${TOPIC}2` })).to.equal('signature_mismatch');
    const TopicArn = `${TOPIC}\nTopicArn\n${TOPIC}`;
    expect(await result(signed({ ...NOTIFICATION, TopicArn }), {}, { topic_arn: TOPIC })).to.equal('body_malformed');
  });

  it('says what is missing or malformed', async () => {
    const message = signed(NOTIFICATION);
    for (const body of ['', 'null', '[]', '"x"', '{', '7']) {
      expect(await resultOf(awsSnsVerifier({}), { body }), body).to.equal('body_malformed');
    }
    expect(await result({})).to.equal('signature_missing');
    expect(await result({ ...message, Signature: 7 })).to.equal('signature_missing');
    expect(await result({ ...message, Signature: 'x'.repeat(100_000) })).to.equal('signature_malformed');
    expect(await result({ ...message, Signature: '' })).to.equal('signature_malformed');
    expect(await result({ ...message, SignatureVersion: '3' })).to.equal('signature_malformed');
    expect(await result({ ...message, Type: 'toString' })).to.equal('body_malformed');
    for (const name of ['Message', 'MessageId', 'Timestamp', 'TopicArn', 'Type']) {
      expect(await result({ ...message, [name]: undefined }), name).to.equal('body_malformed');
      expect(await result({ ...message, [name]: { a: 1 } }), name).to.equal('body_malformed');
    }
    expect(await result(signed({ ...NOTIFICATION, Timestamp: 'soon' }))).to.equal('timestamp_malformed');
  });

  it('does not trust an expired certificate, unless it was valid when a logged message came', async () => {
    const until = new Date(Date.now() - 60_000);
    const documents = { [CERTIFICATE_URL]: makeCertificate({ ...names, until }).toString() };
    const Timestamp = new Date(Date.now() - 120_000).toISOString();
    const message = signed({ ...NOTIFICATION, Timestamp });
    expect(await result(message, documentsFrom(documents))).to.equal('certificate_untrusted');
    expect(await result(message, { ...documentsFrom(documents), receivedAtMs: Date.now() - 120_000 })).to.equal(
      'verified',
    );
    for (const text of ['', 'no certificate', '<Error/>']) {
      expect(await result(message, documentsFrom({ [CERTIFICATE_URL]: text }))).to.equal('certificate_untrusted');
    }
  });

  it('rejects every message with a changed character', async () => {
    const message = signed(NOTIFICATION);
    const { fetchDocument } = documentsFrom({ [CERTIFICATE_URL]: certificate });
    const names = constantFrom('Message', 'MessageId', 'Subject', 'TopicArn', 'Timestamp', 'Signature', 'Type');
    const changed = asyncProperty(names, nat(1_000), integer({ min: 1, max: 127 }), async (name, at, change) => {
      const text = [...(message[name] as string)];
      const index = at % text.length;
      text[index] = String.fromCodePoint(((text[index] as string).codePointAt(0) ?? 0) ^ change);
      return (await result({ ...message, [name]: text.join('') }, { fetchDocument })) !== 'verified';
    });
    await assert(changed, { numRuns: 300 });
  });
});

/** The library fetches the certificate itself. */
async function isValidForLibrary(message: Message, certificate: string): Promise<boolean> {
  const { get } = https;
  https.get = ((_: string, callback: (response: unknown) => void) => {
    const response = Object.assign(new PassThrough(), { statusCode: 200 });
    callback(response);
    response.end(certificate);
    return response;
  }) as never;
  try {
    return await new Promise((resolve) => {
      new MessageValidator().validate({ ...message }, (error: unknown) => resolve(!error));
    });
  } finally {
    https.get = get;
  }
}
