/** Keys of the errors room. */
import type { ErrorGroupState } from '../../model/errors/error-group.ts';
import type { KeyDeclaration } from '../redis/key-declaration.ts';

export const errorKeys = (prefix: string) => ({
  errorGroup: (env: string, fingerprint: string) => `${prefix}:error-group:${env}:${fingerprint}`,
  errorGroups: (env: string, state: ErrorGroupState) => `${prefix}:error-groups:${env}:${state}`,
  functionErrorGroups: (env: string, functionId: string) => `${prefix}:function-error-groups:${env}:${functionId}`,
});

export const ERROR_KEY_DECLARATIONS = {
  errorGroup: {
    pattern: 'error-group:<env>:<fingerprint>',
    type: 'hash',
    owner: 'errors/error-groups.ts',
    ttl: '30 days, renewed',
    size: '169 counts of hours besides about 15 fields; 10 run IDs, 1,000 characters of a message',
    description:
      'Failed runs with the same fingerprint (`model/errors/fingerprint.ts`), those in this partition; `h<hour>` → their number.',
  },
  errorGroups: {
    pattern: 'error-groups:<env>:<state>',
    type: 'zset',
    owner: 'errors/error-groups.ts',
    ttl: '30 days, renewed and trimmed',
    size: '1,000 entries in both states together',
    description: 'Fingerprints of the error groups that are open or resolved, by their last failure (ms).',
  },
  functionErrorGroups: {
    pattern: 'function-error-groups:<env>:<function ID>',
    type: 'zset',
    owner: 'errors/error-groups.ts',
    ttl: '30 days, renewed and trimmed',
    size: '100 entries',
    description: 'Fingerprints of the error groups of a function, by their last failure (ms).',
  },
} as const satisfies Record<keyof ReturnType<typeof errorKeys>, KeyDeclaration>;
