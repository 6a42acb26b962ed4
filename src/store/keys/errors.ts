/** Keys of the errors room. */
import { hash, string, zset } from './key-declaration.ts';

export const ERROR_KEYS = {
  errorGroup: hash(
    'error-group:<env>:<fingerprint>',
    'Failed runs with this fingerprint (`model/errors/fingerprint.ts`) in this partition; `h<hour>` → count.',
    {
      owner: 'errors/error-groups.ts',
      ttl: '30 days, renewed',
      size: '169 hourly counts, about 16 fields, 10 run IDs',
    },
  ),
  errorGroupUsers: string(
    'error-group-users:<env>:<fingerprint>',
    'The users of the events of these runs (`model/events/user-label.ts`), as a HyperLogLog.',
    { owner: 'errors/error-groups.ts', ttl: '30 days, renewed', size: '12 kB' },
  ),
  errorGroups: zset('error-groups:<env>:<state>', 'Open, resolved or ignored error groups by last failure (ms).', {
    owner: 'errors/error-groups.ts',
    ttl: '30 days, renewed and trimmed',
    size: '1,000 entries in all states',
  }),
  functionErrorGroups: zset(
    'function-error-groups:<env>:<function ID>',
    'Error groups of a function by last failure (ms).',
    { owner: 'errors/error-groups.ts', ttl: '30 days, renewed and trimmed', size: '100 entries' },
  ),
};
