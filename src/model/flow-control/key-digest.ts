/** What stands for one value of a key of one function in Redis: short however long the value is, and without what the value says. */
import { hash } from 'node:crypto';

/** 128 bits: nobody finds two values with the same. */
const LENGTH = 22;

/** @param expression the key's; a value of another expression is another key
 *  @param text the value */
export function keyDigestOf(env: string, functionId: string, expression: string | undefined, text: string): string {
  return hash('sha256', JSON.stringify([env, functionId, expression ?? '', text]), 'base64url').slice(0, LENGTH);
}
