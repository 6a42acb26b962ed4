/** Completes functions as early SDKs send them, without the parts that can be inferred. */
import { isJsonObject } from '../values/json.ts';

/** Fills in a missing ID (from the names of the app and the function) and a missing `step` entry (a single step may be stored under any
 *  key). */
export function withInferred(given: unknown, app: string): unknown {
  if (!isJsonObject(given)) return given;
  const { id, name, steps } = given;
  const inferredId = id === '' && typeof name === 'string' ? slugOf(name) : '';
  const [only, ...others] = isJsonObject(steps) && !('step' in steps) ? Object.values(steps) : [];
  return {
    ...given,
    ...(inferredId !== '' && { id: `${app}-${inferredId}` }),
    ...(only !== undefined && others.length === 0 && { steps: { step: only } }),
  };
}

/** Lower case with hyphens: `Send receipt` is `send-receipt`. */
function slugOf(name: string): string {
  return name
    .slice(0, 256)
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
    .replaceAll(/^-|-$/g, '');
}
