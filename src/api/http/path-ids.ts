/** Checks path parameters of every route in one place: an ID becomes part of Redis keys, so `<run ID>:metadata` must not reach another
 *  key. */
import { ServiceError } from '../../errors.ts';
import { ID_PATTERN } from '../../model/ids.ts';
import { describe } from '../../model/values/json.ts';

/** Path segments that are followed by an ID. */
const COLLECTIONS: ReadonlySet<string> = new Set([
  'api-keys',
  'bulk',
  'cancellations',
  'checkpoint',
  'connections',
  'event-keys',
  'events',
  'holding',
  'replays',
  'requests',
  'runs',
  'secrets',
  'users',
  'views',
  'webhook-issues',
  'webhooks',
  'what-ifs',
]);

/** Longer than any name. */
const NAME_MAX = 1_024;

/** @param path a template: `/v1/runs/:id`
 *  @returns middleware that checks its parameters and throws ServiceError not_found; undefined: the path has no parameters */
export function paramsCheck<T>(
  path: string,
): ((ctx: { params: Readonly<Record<string, string | undefined>> }, next: () => T) => T) | undefined {
  const segments = path.split('/');
  const named = segments.flatMap((segment, i) =>
    segment.startsWith(':') ? [{ name: segment.slice(1), isId: COLLECTIONS.has(segments[i - 1] ?? '') }] : [],
  );
  if (named.length === 0) return undefined;
  return ({ params }, next) => {
    for (const { name, isId } of named) {
      const value = params[name] ?? '';
      if (isId && !ID_PATTERN.test(value)) {
        throw new ServiceError('not_found', {
          detail: `path parameter "${name}": got ${describe(value)}: expected an ID of 26 characters`,
        });
      }
      if (value.length > NAME_MAX || /\p{Cc}/u.test(value)) {
        throw new ServiceError('not_found', {
          detail: `path parameter "${name}": expected at most ${NAME_MAX} characters, and none that are not printed`,
        });
      }
    }
    return next();
  };
}
