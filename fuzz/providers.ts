/** The webhooks of providers that are attacked, and how their providers sign. A request is signed when it is sent: signatures have the time. */
import { createHmac } from 'node:crypto';

/** Part of every secret of theirs. It must be in no response and no log. Hexadecimal: some providers' secrets are. */
export const SECRET_MARK = 'c4fe5ec2e7d00d';
const HEX_SECRET = `${SECRET_MARK}${'0'.repeat(18)}`;
const OTHER_SECRET = 'ab'.repeat(16);

/** Tells its events apart: `fuzz/forged` must not exist. */
export const EXPECTS_HEADER = 'x-fuzz-expects';
const TRANSFORM =
  'function transform(evt, headers) { return { name: "fuzz/" + (headers["X-Fuzz-Expects"] || "signed"), data: {} }; }';

type Header = [name: string, value: string];

export interface Signed {
  secret: string;
  /** Scheme, host and path of the webhook. */
  url: string;
  query: string;
  body: Buffer;
  /** Unix milliseconds. */
  at: number;
}

interface AttackedWebhook {
  provider: string;
  secrets: string[];
  settings?: Record<string, string>;
  verification?: object;
  filter?: string;
  sign?(signed: Signed): Header[];
}

const hmacOf = (secret: string, algorithm: string, encoding: 'hex' | 'base64', ...parts: (string | Buffer)[]) =>
  parts.reduce((hmac, part) => hmac.update(part), createHmac(algorithm, secret)).digest(encoding);
const seconds = (ms: number) => String(Math.floor(ms / 1_000));
const hub = ({ secret, body }: Signed): Header[] => [
  ['x-hub-signature-256', `sha256=${hmacOf(secret, 'sha256', 'hex', body)}`],
];
const v0 =
  (time: string, signature: string) =>
  ({ secret, body, at }: Signed): Header[] => [
    [time, seconds(at)],
    [signature, `v0=${hmacOf(secret, 'sha256', 'hex', `v0:${seconds(at)}:`, body)}`],
  ];

/** By the name of their placeholder. Their filters are met by nearly every request. */
const SIGNING = {
  stripe: {
    provider: 'stripe',
    secrets: [`whsec_${SECRET_MARK}`, `whsec_old_${SECRET_MARK}`],
    sign: ({ secret, body, at }) => [
      [
        'stripe-signature',
        `t=${seconds(at)},v0=00,v1=${'0'.repeat(64)},v1=${hmacOf(secret, 'sha256', 'hex', `${seconds(at)}.`, body)}`,
      ],
    ],
  },
  github: {
    provider: 'github',
    secrets: [`github-${SECRET_MARK}`],
    filter: 'headers["x-a"] != body.a.b && !has(body.a.never)',
    sign: hub,
  },
  slack: {
    provider: 'slack',
    secrets: [HEX_SECRET],
    sign: v0('x-slack-request-timestamp', 'x-slack-signature'),
  },
  zoom: {
    provider: 'zoom',
    secrets: [`zoom-${SECRET_MARK}`],
    sign: v0('x-zm-request-timestamp', 'x-zm-signature'),
  },
  // The token proves a URL and nothing else; readers of the webhook see it.
  meta: { provider: 'meta', secrets: [HEX_SECRET], settings: { verify_token: 'verify-fuzz-token' }, sign: hub },
  twilio: {
    provider: 'twilio',
    secrets: [HEX_SECRET],
    sign: ({ secret, url, query, body }) => {
      const form = new URLSearchParams(body.toString());
      const names = [...new Set(form.keys())].sort();
      // By name: of G and GAgE, G comes first whatever its value.
      const fields = names.flatMap((name) => [...new Set(form.getAll(name))].sort().map((value) => name + value));
      const text = `${url}${query === '' ? '' : `?${query}`}${fields.join('')}`;
      return [['x-twilio-signature', hmacOf(secret, 'sha1', 'base64', text)]];
    },
  },
  hmac: {
    provider: 'hmac',
    secrets: [`hmac-${SECRET_MARK}`],
    verification: {
      scheme: 'hmac',
      algorithm: 'sha512',
      encoding: 'base64',
      signature: { at: 'header:x-fuzz-signature', separator: ' ', prefix: 'v1,' },
      signed: '{method}\n{header:x-fuzz-topic}\n{timestamp}\n{body}',
      timestamp: { at: 'header:x-fuzz-time', unit: 'ms', tolerance: 60 },
    },
    sign: ({ secret, body, at }) => [
      ['x-fuzz-topic', 'orders'],
      ['x-fuzz-time', String(at)],
      ['x-fuzz-signature', `v1,${hmacOf(secret, 'sha512', 'base64', `POST\norders\n${at}\n`, body)}`],
    ],
  },
  token: {
    provider: 'api-key',
    secrets: [`token-${SECRET_MARK}`],
    verification: { scheme: 'token', token: { at: 'header:authorization', prefix: 'Bearer ' } },
    sign: ({ secret }) => [['authorization', `Bearer ${secret}`]],
  },
  basic: {
    provider: 'basic-auth',
    secrets: [`fuzz:${SECRET_MARK}`],
    sign: ({ secret }) => [['authorization', `Basic ${Buffer.from(secret).toString('base64')}`]],
  },
} satisfies Record<string, AttackedWebhook>;

/** Nobody signs for these: every request is forged. Their verification is as costly as users may make it. */
const UNSIGNED = {
  sns: {
    provider: 'aws-sns',
    secrets: [],
    settings: { topic_arn: 'arn:aws:sns:eu-central-1:123456789012:fuzz' },
  },
  adyen: { provider: 'adyen', secrets: [SECRET_MARK.padEnd(64, '0')] },
  'jwt-keys': {
    provider: 'jwt',
    secrets: ['https://127.0.0.1:1/keys'],
    verification: {
      scheme: 'jwt',
      token: { at: 'header:authorization', prefix: 'Bearer ' },
      algorithms: ['RS256', 'ES256'],
    },
  },
  jwt: {
    provider: 'jwt',
    secrets: [`jwt-${SECRET_MARK}`.padEnd(64, '-')],
    verification: { scheme: 'jwt', token: { at: 'header:authorization', prefix: 'Bearer ' }, algorithms: ['HS256'] },
  },
  'hmac-large': {
    provider: 'hmac',
    secrets: [`one-${SECRET_MARK}`, `two-${SECRET_MARK}`],
    verification: {
      scheme: 'hmac',
      algorithm: 'sha512',
      encoding: 'hex',
      signature: { at: 'header:x-fuzz-signature', separator: ',' },
      signed: `{url}{body}${'{method}'.repeat(60)}`,
    },
  },
  'hmac-fields': {
    provider: 'hmac',
    secrets: [`fields-${SECRET_MARK}`],
    verification: {
      scheme: 'hmac',
      algorithm: 'sha1',
      encoding: 'hex',
      signature: { at: 'body:__proto__.a', separator: 'a', prefix: 'a' },
      signed: '{body:constructor.name}{query:a}{form:a}{header:constructor}{path}',
    },
  },
  'token-items': {
    provider: 'api-key',
    secrets: [`items-${SECRET_MARK}`],
    verification: { scheme: 'token', token: { at: `body:*${'.a'.repeat(9)}` } },
  },
  'token-lists': {
    provider: 'api-key',
    secrets: [`lists-${SECRET_MARK}`],
    verification: { scheme: 'token', token: { at: `body:*${'.*'.repeat(9)}` } },
  },
} satisfies Record<string, AttackedWebhook>;

export type Signer = keyof typeof SIGNING;
export const SIGNERS = Object.keys(SIGNING) as Signer[];
export const UNSIGNED_WEBHOOKS = Object.keys(UNSIGNED);
export const META_TOKEN = SIGNING.meta.settings.verify_token;

/** Inputs of POST /v1/webhooks, by the name of their placeholder. */
export function attackedWebhooks(): [name: string, input: object][] {
  const all: Record<string, AttackedWebhook> = { ...SIGNING, ...UNSIGNED };
  return Object.entries(all).map(([name, { sign: _, ...input }]) => [
    name,
    { name: `provider ${name}`, transform: TRANSFORM, ...input },
  ]);
}

/** What is wrong with a signature. */
export const LIES = ['other-secret', 'changed', 'cut', 'none', 'empty', 'twice', 'old', 'future', 'zeros'] as const;
export type Lie = (typeof LIES)[number];

/** How to sign a case. */
export interface Signing {
  by: Signer;
  lie?: Lie;
}

const DAY_MS = 86_400_000;
const AGED: readonly Signer[] = ['stripe', 'slack', 'zoom', 'hmac'];

/** Whether the signature is wrong then. */
export function isForged({ by, lie }: Signing): boolean {
  if (lie === undefined) return false;
  if (lie === 'old' || lie === 'future') return AGED.includes(by);
  // Nothing protects the body of these.
  return lie !== 'changed' || (by !== 'token' && by !== 'basic');
}

/** @param host of the service
 *  @returns headers of the signature */
export function signatureOf({ by, lie }: Signing, target: string, body: Buffer, host: string, nowMs: number): Header[] {
  const { secrets, sign } = SIGNING[by] as AttackedWebhook & { sign(signed: Signed): Header[] };
  const [path = '', query = ''] = target.split(/\?(.*)/s);
  const age = lie === 'old' ? -2 * DAY_MS : lie === 'future' ? 2 * DAY_MS : 0;
  const headers = sign({
    secret: lie === 'other-secret' ? OTHER_SECRET : (secrets.at(-1) as string),
    url: `http://${host}${path}`,
    query,
    body: lie === 'changed' ? Buffer.concat([body, Buffer.from('&x=1')]) : body,
    at: nowMs + age,
  });
  const [name, value] = headers.pop() as Header;
  return [...headers, ...spoiled(name, value, lie)];
}

function spoiled(name: string, value: string, lie: Lie | undefined): Header[] {
  switch (lie) {
    case 'none':
      return [];
    case 'empty':
      return [[name, '']];
    case 'cut':
      return [[name, value.slice(0, -4)]];
    case 'zeros':
      return [[name, value.slice(0, 10) + '0'.repeat(Math.max(0, value.length - 10))]];
    // Node joins them with a comma, or takes the first.
    case 'twice':
      return Array.from({ length: 20 }, (): Header => [name, `x${value.slice(1, -4)}`]);
    default:
      return [[name, value]];
  }
}
