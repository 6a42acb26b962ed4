/** Digest of a key's value for use in Redis keys: short for any value, and it does not reveal the value. */
import { hash } from 'node:crypto';

/** 128 bits: collisions cannot be constructed. */
const LENGTH = 22;

/** @param expression the key's expression; the same value of another expression is another key
 *  @param text the value */
export function keyDigestOf(env: string, functionId: string, expression: string | undefined, text: string): string {
  return hash('sha256', JSON.stringify([env, functionId, expression ?? '', text]), 'base64url').slice(0, LENGTH);
}
