/** Keys of the environments room. */
import type { KeyDeclaration } from './key-declaration.ts';

export const environmentKeys = (prefix: string) => ({
  environments: `${prefix}:environments`,
  installationLimits: `${prefix}:installation-limits`,
});

export const ENVIRONMENT_KEY_DECLARATIONS = {
  environments: {
    pattern: 'environments',
    type: 'hash',
    owner: 'environments/environments.ts',
    ttl: 'none',
    size: '1 field per environment (branches: quota)',
    description: 'Name → environment, as JSON; production once its limits are set.',
  },
  installationLimits: {
    pattern: 'installation-limits',
    type: 'string',
    owner: 'environments/installation-limits.ts',
    ttl: 'none',
    size: '1 JSON object',
    description: 'Limits of the installation, as JSON.',
  },
} as const satisfies Record<keyof ReturnType<typeof environmentKeys>, KeyDeclaration>;
