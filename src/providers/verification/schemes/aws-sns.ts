/** Amazon SNS signs messages with a certificate that it names (https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html).
 *  Every AWS account can make SNS sign, so the setting `topic_arn` decides whose messages are accepted. */
import { type KeyObject, verify, X509Certificate } from 'node:crypto';
import { isJsonObject } from '../../../model/values/json.ts';
import { DAY_MS } from '../../../model/values/time.ts';
import { Documents, isFailure, perFetcher } from '../documents.ts';
import { bytesOf } from '../encodings.ts';
import { FetchBudget } from '../fetch-budget.ts';
import { checkTimestamp } from '../timestamps.ts';
import { type Failure, failed, type VerificationResult, type Verifier, type VerifyOptions } from '../verification.ts';

/** Matches regions such as us-gov-west-1, but not buckets such as sns.s3-us-west-2.amazonaws.com. */
const CERTIFICATE_URL =
  /^https:\/\/sns\.[a-z]{2}(-[a-z]{1,10}){1,3}-\d{1,2}\.amazonaws\.com(\.cn)?\/[\w-]{1,100}\.pem$/;
const CERTIFICATE_MAX_AGE_MS = DAY_MS;
/** SNS sends again for an hour. */
const TIMESTAMP = { at: 'body:Timestamp', unit: 'iso', tolerance: 7_200 } as const;
const RSA_BYTES = { min: 256, max: 1_024 };

const SIGNED = {
  Notification: ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'],
  SubscriptionConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
  UnsubscribeConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
};

interface Certificate {
  key: KeyObject;
  /** Unix milliseconds. */
  from: number;
  until: number;
}

interface SignedMessage {
  content: string;
  hash: 'sha1' | 'sha256';
  signature: Buffer;
  certificateUrl: string;
}

const certificates = perFetcher(() => new Documents(certificateOf));

export function awsSnsVerifier({ topic_arn: topicArn }: Readonly<Record<string, string>>): Verifier {
  const budget = new FetchBudget();
  return (request, options) => {
    const message = messageOf(request.json, topicArn);
    if ('result' in message) return message;
    const age = checkTimestamp(request, TIMESTAMP, options);
    return 'result' in age ? age : verified(message, options, budget);
  };
}

async function verified(
  message: SignedMessage,
  options: VerifyOptions,
  budget: FetchBudget,
): Promise<VerificationResult> {
  const { certificateUrl, content, hash, signature } = message;
  const { nowMs, receivedAtMs = nowMs, fetchDocument } = options;
  const certificate = await certificates(fetchDocument).get(certificateUrl, CERTIFICATE_MAX_AGE_MS, options, budget);
  if (isFailure(certificate)) return certificate;
  if (receivedAtMs < certificate.from || receivedAtMs > certificate.until) {
    return failed('certificate_untrusted', `the certificate ${certificateUrl} is not valid at this time`);
  }
  if (verify(hash, Buffer.from(content), certificate.key, signature)) return { result: 'verified', secretIndex: 0 };
  return failed('signature_mismatch', 'the field Signature of the body does not fit the message');
}

/** Checks everything that is cheap before fetching. */
function messageOf(body: unknown, topicArn: string | undefined): SignedMessage | Failure {
  if (!isJsonObject(body)) return failed('body_malformed', 'the body is not a message of SNS in JSON');
  const { Type, SignatureVersion, Signature, SigningCertURL, TopicArn } = body;
  if (typeof Signature !== 'string') {
    return failed(
      'signature_missing',
      'the body has no Signature. Switch off "raw message delivery" of the subscription: it leaves out the signature',
    );
  }
  const content = contentOf(body, Type);
  if (content === undefined) return failed('body_malformed', 'the body is not a message of SNS: fields are missing');
  const signature = Signature.length <= 2_048 ? bytesOf(Signature, 'base64') : undefined;
  if (!signature || signature.length < RSA_BYTES.min || signature.length > RSA_BYTES.max) {
    return failed('signature_malformed', 'the field Signature of the body is not an RSA signature in base64');
  }
  if (SignatureVersion !== '1' && SignatureVersion !== '2') {
    return failed('signature_malformed', 'the field SignatureVersion of the body is neither "1" nor "2"');
  }
  if (topicArn && TopicArn !== topicArn) {
    return failed('signature_mismatch', 'the message is of another topic than the setting topic_arn of this webhook');
  }
  if (typeof SigningCertURL !== 'string' || !CERTIFICATE_URL.test(SigningCertURL)) {
    return failed(
      'certificate_untrusted',
      'the field SigningCertURL of the body is not the URL of a certificate of SNS',
    );
  }
  const hash = SignatureVersion === '1' ? 'sha1' : 'sha256';
  return { content, hash, signature, certificateUrl: SigningCertURL };
}

/** undefined if the message is incomplete. A line break in any field but the first would let its rest pass as other fields. */
function contentOf(body: Record<string, unknown>, type: unknown): string | undefined {
  if (typeof type !== 'string' || !Object.hasOwn(SIGNED, type)) return undefined;
  let content = '';
  for (const name of SIGNED[type as keyof typeof SIGNED]) {
    const value = Object.hasOwn(body, name) ? body[name] : undefined;
    if (name === 'Subject' && (value === undefined || value === null)) continue;
    if (typeof value !== 'string' || (name !== 'Message' && value.includes('\n'))) return undefined;
    content += `${name}\n${value}\n`;
  }
  return content;
}

function certificateOf(text: string): Certificate {
  const { publicKey: key, validFromDate, validToDate } = new X509Certificate(text);
  if (key.asymmetricKeyType !== 'rsa' || (key.asymmetricKeyDetails?.modulusLength ?? 0) < 8 * RSA_BYTES.min) {
    throw new Error('the certificate has no RSA key of 2,048 bits or more');
  }
  return { key, from: validFromDate.getTime(), until: validToDate.getTime() };
}
