/** A function as an app may write it: an early SDK leaves out what can be inferred. */
import { isJsonObject } from '../values/json.ts';

/** The function with the ID, and the entry `step` of its steps, that it leaves out: an empty ID is the app's name and the function's; a single
 *  step may have any key. */
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
