/** Keys of the errors room. */
import type { ErrorGroupState } from '../../model/errors/error-group.ts';
import type { KeyDeclaration } from './key-declaration.ts';

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
    size: '169 hourly counts, about 15 fields, 10 run IDs',
    description:
      'Failed runs with this fingerprint (`model/errors/fingerprint.ts`) in this partition; `h<hour>` → count.',
  },
  errorGroups: {
    pattern: 'error-groups:<env>:<state>',
    type: 'zset',
    owner: 'errors/error-groups.ts',
    ttl: '30 days, renewed and trimmed',
    size: '1,000 entries in both states',
    description: 'Open or resolved error groups by last failure (ms).',
  },
  functionErrorGroups: {
    pattern: 'function-error-groups:<env>:<function ID>',
    type: 'zset',
    owner: 'errors/error-groups.ts',
    ttl: '30 days, renewed and trimmed',
    size: '100 entries',
    description: 'Error groups of a function by last failure (ms).',
  },
} as const satisfies Record<keyof ReturnType<typeof errorKeys>, KeyDeclaration>;
