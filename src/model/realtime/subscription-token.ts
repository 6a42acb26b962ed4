/** Subscription tokens: signed statements of what a browser may subscribe to. JSON Web Tokens (RFC 7519) with HMAC-SHA256, under a key
 *  derived from the setting SECRET_KEY. Nothing is stored. */
import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { digestOf } from '../auth/secret.ts';
import type { Topics } from './topics.ts';

const HEADER = encode({ alg: 'HS256', typ: 'JWT' });
/** Longer than any token of the largest permitted request. */
const MAX_LENGTH = 16_384;

const TOKEN_ID_BYTES = 9;

const claimsSchema = z.object({
  env: z.string(),
  /** When the environment was created, Unix milliseconds: another one may have its name later. Absent: the token is for one run. */
  created: z.number().optional(),
  /** Unix seconds. */
  exp: z.number(),
  topics: z.record(z.string(), z.array(z.string())),
});

export interface Subscription {
  env: string;
  /** When the environment was created; undefined: not bound to it. */
  createdAt?: number | undefined;
  topics: Topics;
}

export interface VerifiedSubscription extends Subscription {
  /** Hash of the signed part: one signature has several spellings. */
  tokenId: string;
}

export class SubscriptionTokens {
  readonly #current: Buffer;
  readonly #all: readonly Buffer[];

  /** @param fallback the previous secret, whose tokens stay valid */
  constructor(secret: string, fallback: string | undefined) {
    this.#current = keyFrom(secret);
    this.#all = [this.#current, ...(fallback === undefined ? [] : [keyFrom(fallback)])];
  }

  sign({ env, createdAt, topics }: Subscription, expiresAtMs: number): string {
    const claims: z.input<typeof claimsSchema> & { jti: string } = {
      // Distinguishes tokens for the same topics in the same second.
      jti: randomBytes(TOKEN_ID_BYTES).toString('base64url'),
      env,
      ...(createdAt !== undefined && { created: createdAt }),
      exp: Math.ceil(expiresAtMs / 1_000),
      topics: Object.fromEntries([...topics].map(([channel, names]) => [channel, [...names]])),
    };
    const signed = `${HEADER}.${encode(claims)}`;
    return `${signed}.${macOf(signed, this.#current).toString('base64url')}`;
  }

  /** undefined if the token is forged, expired or malformed. */
  verify(token: string, nowMs: number): VerifiedSubscription | undefined {
    if (token.length > MAX_LENGTH) return undefined;
    const [header, body, mac, ...rest] = token.split('.');
    // Rejects other algorithms, "none" among them: they have another header.
    if (header !== HEADER || body === undefined || mac === undefined || rest.length > 0) return undefined;
    const given = Buffer.from(mac, 'base64url');
    if (!this.#all.some((key) => isMac(given, `${header}.${body}`, key))) return undefined;
    const claims = claimsSchema.safeParse(JSON.parse(Buffer.from(body, 'base64url').toString('utf8')));
    if (!claims.success || claims.data.exp * 1_000 <= nowMs) return undefined;
    const { env, created: createdAt, topics } = claims.data;
    const byChannel = Object.entries(topics).map(([channel, names]) => [channel, new Set(names)] as const);
    return { env, createdAt, topics: new Map(byChannel), tokenId: digestOf(`${header}.${body}`) };
  }
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function macOf(text: string, key: Buffer): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

function isMac(given: Buffer, text: string, key: Buffer): boolean {
  const expected = macOf(text, key);
  return given.length === expected.length && timingSafeEqual(given, expected);
}

function keyFrom(secret: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', 'tidegate subscription token v1', 32));
}
