/** Step IDs as parts of keys and job IDs, in which separators and short IDs have a meaning. */
import { hash } from 'node:crypto';

const HASHED = /^[0-9a-f]{40}$/;

/** The ID itself if it is a hash, as SDKs send it; for any other text, `x` and a hash. */
export function stepKey(stepId: string): string {
  return HASHED.test(stepId) ? stepId : `x${hash('sha1', stepId)}`;
}
