/** Requests made of the samples of provider presets, to be signed in tests. */
import { createHmac } from 'node:crypto';
import { presetOf } from '../../src/providers/catalog.ts';
import type { SignedRequest } from './provider-tests.ts';

/** The sample's body as the provider sends it. */
export function bodyOf(id: string): string {
  const body = presetOf(id)?.sample.body;
  return typeof body === 'string' ? body : JSON.stringify(body);
}

/** The sample with other headers, such as a genuine signature. */
export function sampleRequest(id: string, headers: Record<string, string>, body: string = bodyOf(id)): SignedRequest {
  const sample = presetOf(id)?.sample.headers ?? {};
  const lowerCased = Object.fromEntries(Object.entries(sample).map(([name, value]) => [name.toLowerCase(), value]));
  return { headers: { 'content-type': 'application/json', ...lowerCased, ...headers }, body };
}

export function hmac(
  algorithm: 'sha1' | 'sha256',
  key: string | Buffer,
  content: string,
  encoding: 'hex' | 'base64' = 'hex',
): string {
  return createHmac(algorithm, key).update(content).digest(encoding);
}

export function unixSeconds(ms: number): string {
  return String(Math.floor(ms / 1_000));
}
