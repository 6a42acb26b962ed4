/** Requests to webhooks of providers: signed as the providers sign, and forged in every way. */
import fc from 'fast-check';
import type { HttpCase, Piece } from '../case.ts';
import { EXPECTS_HEADER, isForged, LIES, META_TOKEN, SIGNERS, UNSIGNED_WEBHOOKS } from '../providers.ts';
import { anyBody, type Body, contentType, jsonBody } from './bodies.ts';
import { objectOf, value, word } from './hostile.ts';
import { type Header, oddHeaders, urlText, withBody } from './requests.ts';

const METHODS = ['GET', 'PUT', 'PATCH', 'DELETE', 'HEAD'] as const;

/** What presets look at. */
const known = fc.oneof(
  fc
    .record(
      {
        id: word,
        type: fc.oneof(fc.constantFrom('url_verification', 'event_callback', 'invoice.paid'), word),
        challenge: fc.oneof(
          word,
          fc.constantFrom('<script>', 2_047, 2_048, 2_049).map((n) => (typeof n === 'number' ? 'c'.repeat(n) : n)),
        ),
        event: fc.oneof(fc.constant('endpoint.url_validation'), value),
        payload: fc.oneof(
          word.map((plainToken) => ({ plainToken })),
          value,
        ),
        event_id: fc.oneof(word, fc.integer()),
        a: value,
        items: value,
      },
      { requiredKeys: [] },
    )
    .map((one) => one as object),
  value,
);
const jsonBodies: fc.Arbitrary<Body> = jsonBody(known).map((pieces) => ({ pieces, contentType: 'application/json' }));
const bodies = fc.oneof({ weight: 2, arbitrary: jsonBodies }, { weight: 1, arbitrary: anyBody });

/** Twilio signs fields: of these there is no doubt. */
const plainForm: fc.Arbitrary<Body> = fc
  .dictionary(fc.stringMatching(/^[A-Za-z]{1,12}$/), fc.stringMatching(/^[\w ,.]{0,30}$/), { maxKeys: 5 })
  .map((fields) => ({
    pieces: [new URLSearchParams(fields).toString()],
    contentType: 'application/x-www-form-urlencoded',
  }));

const genuine: fc.Arbitrary<HttpCase> = fc
  .constantFrom(...SIGNERS)
  .chain((by) => fc.record({ by: fc.constant(by), body: by === 'twilio' ? plainForm : bodies }))
  .map(({ by, body }) => ({ ...request(`{{hook:p:${by}}}`, 'genuine', [], body), signed: { by }, expects: 'genuine' }));

const forged: fc.Arbitrary<HttpCase> = fc
  .record({
    by: fc.constantFrom(...SIGNERS),
    lie: fc.constantFrom(...LIES),
    body: fc.oneof(bodies, plainForm),
    headers: fc.oneof({ weight: 4, arbitrary: fc.constant<Header[]>([]) }, { weight: 1, arbitrary: oddHeaders }),
  })
  .map(({ by, lie, body, headers }) => {
    const isWrong = isForged({ by, lie });
    const made = request(`{{hook:p:${by}}}`, isWrong ? 'forged' : undefined, headers, body);
    return { ...made, signed: { by, lie }, ...(isWrong && { expects: 'forged' as const }) };
  });

const SIGNATURES = [
  'stripe-signature',
  'x-hub-signature-256',
  'x-slack-signature',
  'x-slack-request-timestamp',
  'x-zm-signature',
  'x-twilio-signature',
  'authorization',
  'x-fuzz-signature',
  'x-fuzz-time',
] as const;

const signatureText = fc.oneof(
  word,
  fc
    .tuple(
      fc.constantFrom('t=1,v1=', 'sha256=', 'v0=', 'v1,', 'Bearer ', 'Basic ', ''),
      fc.constantFrom('0', 'a', 'é', '=', ',v1=', ' v1,', '.', 'eyJhbGciOiJub25lIn0.', 'A'),
      fc.constantFrom(1, 40, 64, 128, 2_000, 12_000),
    )
    .map(([prefix, text, times]) => prefix + text.repeat(Math.min(times, Math.floor(12_000 / text.length)))),
  fc.constantFrom(
    'Bearer eyJhbGciOiJub25lIn0.e30.',
    'Bearer eyJhbGciOiJIUzI1NiIsImtpZCI6Ii4uLy4uIn0.e30.AAAA',
    'Bearer eyJhbGciOiJIUzI1NiIsImp3ayI6e319.eyJleHAiOiJ4In0.AAAA',
    'Bearer eyJhbGciOiJSUzI1NiIsImtpZCI6IjEiLCJqa3UiOiJodHRwOi8vMTI3LjAuMC4xOjEvIn0.e30.AAAA',
    'Basic Og==',
    'Basic =',
  ),
);

/** Headers that look signed, by someone who knows no secret. */
const guessed: fc.Arbitrary<HttpCase> = fc
  .record({
    hook: fc.constantFrom(...SIGNERS, ...UNSIGNED_WEBHOOKS),
    signatures: fc.array(fc.tuple(fc.constantFrom(...SIGNATURES), signatureText) as fc.Arbitrary<Header>, {
      maxLength: 3,
    }),
    query: fc.oneof(
      { weight: 3, arbitrary: fc.constant('') },
      { weight: 1, arbitrary: urlText.map((text) => `?bodySHA256=${text}&a=${text}`) },
      { weight: 1, arbitrary: fc.constantFrom('a=1&', 'bodySHA256=a&', '%41&').map((text) => `?${text.repeat(900)}`) },
    ),
    method: fc.oneof(
      { weight: 8, arbitrary: fc.constant('POST') },
      { weight: 1, arbitrary: fc.constantFrom(...METHODS) },
    ),
    body: fc.oneof({ weight: 3, arbitrary: bodies }, { weight: 1, arbitrary: wideBodies() }),
    type: fc.option(contentType, { freq: 4, nil: undefined }),
  })
  .map(({ hook, signatures, query, method, body, type }) => ({
    ...request(`{{hook:p:${hook}}}${query}`, 'forged', signatures, { ...body, contentType: type ?? body.contentType }),
    method,
    expects: 'forged',
  }));

/** Many items for locations that look at each. */
function wideBodies(): fc.Arbitrary<Body> {
  return fc
    .tuple(
      fc.constantFrom('{"a":1}', '[]', '[[]]', '"a"', `${'{"a":'.repeat(50)}1${'}'.repeat(50)}`),
      fc.constantFrom(10, 1_000, 60_000),
    )
    .map(([item, times]) => {
      const most = Math.floor(480_000 / (item.length + 1));
      const pieces: Piece[] = ['[', { repeat: `${item},`, times: Math.min(times, most) }, item, ']'];
      return { pieces, contentType: 'application/json' };
    });
}

/** URLs of certificates that SNS does not have. The service must fetch none of them. */
const certificateUrl = fc.constantFrom(
  '{{app-url}}/fetched',
  '{{app-url}}/fetched?sns.eu-central-1.amazonaws.com/a.pem',
  'https://127.0.0.1:1/SimpleNotificationService-1.pem',
  'https://sns.eu-central-1.amazonaws.com.evil.invalid/a.pem',
  'https://sns.eu-central-1.amazonaws.com@127.0.0.1/a.pem',
  'https://sns.eu-central-1.amazonaws.com:443@127.0.0.1/a.pem',
  'https://bucket.s3.amazonaws.com/a.pem',
  'https://sns.s3-us-west-2.amazonaws.com/a.pem',
  'http://sns.eu-central-1.amazonaws.com/a.pem',
  'https://sns.eu-central-1.amazonaws.com/../a.pem',
  'https://sns.eu-central-1.amazonaws.com/a.pem#\n',
  'https://SNS.EU-CENTRAL-1.AMAZONAWS.COM/a.pem',
  'file:///etc/passwd',
  `https://sns.${'eu-'.repeat(3_000)}1.amazonaws.com/a.pem`,
);

const snsMessages: fc.Arbitrary<HttpCase> = fc
  .record({
    message: fc.record({
      Type: fc.oneof(
        { weight: 4, arbitrary: fc.constantFrom('Notification', 'SubscriptionConfirmation') },
        { weight: 1, arbitrary: word },
      ),
      MessageId: word,
      TopicArn: fc.oneof(fc.constant('arn:aws:sns:eu-central-1:123456789012:fuzz'), word),
      Message: fc.oneof(word, value),
      Token: word,
      SubscribeURL: fc.oneof(certificateUrl, word),
      Timestamp: fc.constant('{{now}}'),
      SignatureVersion: fc.constantFrom('1', '2', '3', 1),
      Signature: fc.oneof(fc.constant('A'.repeat(342).concat('==')), word),
      SigningCertURL: certificateUrl,
    }),
    odd: fc.option(fc.tuple(word, value), { freq: 4, nil: undefined }),
  })
  .map(({ message, odd }) => {
    const text = JSON.stringify(odd ? objectOf([...Object.entries(message), odd]) : message);
    const body = { pieces: [text], contentType: 'text/plain; charset=UTF-8' };
    return { ...request('{{hook:p:sns}}', 'forged', [], body), expects: 'forged' };
  });

/** Meta's first request. The token is the only proof. */
const metaHandshakes: fc.Arbitrary<HttpCase> = fc
  .record({
    mode: fc.oneof({ weight: 4, arbitrary: fc.constant('subscribe') }, { weight: 1, arbitrary: urlText }),
    token: fc.oneof(urlText, fc.constantFrom(META_TOKEN.slice(0, -1), META_TOKEN.slice(1), META_TOKEN.toUpperCase())),
    isRight: fc.boolean(),
    challenge: fc.oneof(
      urlText,
      fc.constantFrom(2_048, 2_049, 9_000).map((n) => 'c'.repeat(n)),
    ),
    repeated: fc.constantFrom('', '&hub.mode=subscribe&hub.verify_token=x'),
  })
  .map(({ mode, token, isRight, challenge, repeated }) => {
    const query = `hub.mode=${mode}&hub.verify_token=${isRight ? META_TOKEN : token}&hub.challenge=${challenge}${repeated}`;
    const made = request(`{{hook:p:meta}}?${query}`, isRight ? undefined : 'forged', [], undefined);
    return { ...made, method: 'GET', ...(!isRight && { expects: 'forged' as const }) };
  });

function request(
  key: string,
  expects: 'genuine' | 'forged' | undefined,
  headers: Header[],
  body: Body | undefined,
): HttpCase {
  const marked: Header[] = expects ? [[EXPECTS_HEADER, expects]] : [];
  const made = { area: '/e/ provider', method: 'POST', target: `/e/${key}`, headers: [...marked, ...headers] };
  return withBody(made, body?.pieces, body?.contentType);
}

export const providerRequests: fc.Arbitrary<HttpCase> = fc.oneof(
  { weight: 4, arbitrary: genuine },
  { weight: 4, arbitrary: forged },
  { weight: 4, arbitrary: guessed },
  { weight: 1, arbitrary: snsMessages },
  { weight: 1, arbitrary: metaHandshakes },
);
