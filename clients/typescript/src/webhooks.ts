/** Verifies that a webhook is from its provider (docs/webhooks.md#verify-signatures): its transform passes the raw body and the signature as `raw` and
 *  `sig` in the event's data, and the function verifies them first. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { WebhookVerificationError } from './errors.ts';

export interface SignedWebhook {
  /** The raw body. */
  raw: string;
  /** The value of the provider's signature header. */
  sig: string;
}

export interface HmacOptions {
  /** Default: hex. */
  encoding?: 'hex' | 'base64';
  /** Prefix of the signature in its header, such as `sha256=`. */
  prefix?: string;
  /** Default: sha256. */
  algorithm?: 'sha256' | 'sha1' | 'sha512';
}

export interface ToleranceOptions {
  /** Time of receipt, milliseconds since 1970. Default: now. Pass `event.ts` if the function can start late or verify again in a
   *  retry, unless the transform sets `ts`. */
  receivedAtMs?: number;
  /** Maximum seconds between signing and receipt, in either direction. Default: 300. */
  toleranceSeconds?: number;
}

export interface StandardWebhook extends SignedWebhook {
  /** The header `webhook-id`, or `svix-id`. */
  id: string;
  /** The header `webhook-timestamp`, or `svix-timestamp`. */
  timestamp: string;
}

/** Each function returns if the webhook is genuine (constant-time comparison), and otherwise throws a
 *  WebhookVerificationError, which fails the run permanently. */
export const verifyWebhook = {
  /** HMAC of the body: `verifyWebhook.hmac(event.data, secret, { encoding: 'base64', prefix: 'sha256=' })`. */
  hmac({ raw, sig }: SignedWebhook, secret: string, options: HmacOptions = {}): void {
    const { encoding = 'hex', prefix = '', algorithm = 'sha256' } = options;
    checkText({ raw, sig, secret });
    if (!sig.startsWith(prefix)) throw flaw(`the signature does not begin with ${prefix}`);
    const expected = createHmac(algorithm, secret).update(raw).digest();
    if (!equal(Buffer.from(sig.slice(prefix.length), encoding), expected)) throw flaw('the signature is wrong');
  },

  /** `x-hub-signature-256`: `sha256=<hex>`. */
  github(webhook: SignedWebhook, secret: string): void {
    verifyWebhook.hmac(webhook, secret, { prefix: 'sha256=' });
  },

  /** `stripe-signature`: `t=<seconds>,v1=<hex>`, possibly several v1. */
  stripe({ raw, sig }: SignedWebhook, secret: string, options: ToleranceOptions = {}): void {
    checkText({ raw, sig, secret });
    const fields = sig.split(',').map((field) => field.trim().split('=', 2));
    const at = fields.find(([name]) => name === 't')?.[1] ?? '';
    const given = fields.filter(([name]) => name === 'v1').map(([, hex = '']) => Buffer.from(hex, 'hex'));
    const expected = createHmac('sha256', secret).update(`${at}.${raw}`).digest();
    if (!given.some((signature) => equal(signature, expected))) throw flaw('the signature is wrong');
    checkAge(at, options);
  },

  /** Standard Webhooks (standardwebhooks.com), used by Svix and others: `v1,<base64>`, possibly several.
   *  @param secret `whsec_<base64>` */
  standard({ raw, sig, id, timestamp }: StandardWebhook, secret: string, options: ToleranceOptions = {}): void {
    checkText({ raw, sig, id, timestamp, secret });
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
    if (key.length === 0) throw flaw('the secret is not whsec_<base64>');
    const expected = createHmac('sha256', key).update(`${id}.${timestamp}.${raw}`).digest();
    const given = sig.split(' ').filter((signature) => signature.startsWith('v1,'));
    const genuine = given.some((signature) => equal(Buffer.from(signature.slice(3), 'base64'), expected));
    if (!genuine) throw flaw('the signature is wrong');
    checkAge(timestamp, options);
  },
};

/** Rejects an empty secret, with which anyone can sign, and missing fields. */
function checkText(texts: Record<string, unknown>): void {
  for (const [name, text] of Object.entries(texts)) {
    if (typeof text !== 'string' || (text === '' && name !== 'raw')) throw flaw(`there is no ${name}`);
  }
}

function checkAge(atSeconds: string, { receivedAtMs = Date.now(), toleranceSeconds = 300 }: ToleranceOptions): void {
  if (!/^\d+$/.test(atSeconds)) throw flaw('its time cannot be read');
  const ageSeconds = receivedAtMs / 1_000 - Number(atSeconds);
  if (Math.abs(ageSeconds) <= toleranceSeconds) return;
  throw flaw(
    `it was signed ${Math.round(Math.abs(ageSeconds))} seconds ${ageSeconds > 0 ? 'before' : 'after'} it arrived`,
  );
}

/** Constant-time comparison. */
function equal(given: Buffer, expected: Buffer): boolean {
  return given.length === expected.length && timingSafeEqual(given, expected);
}

function flaw(what: string): WebhookVerificationError {
  return new WebhookVerificationError(`The webhook is not genuine: ${what}`);
}
