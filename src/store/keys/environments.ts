/** Keys of the environments room. */
import { hash, string } from './key-declaration.ts';

export const ENVIRONMENT_KEYS = {
  environments: hash('environments', 'Name → environment, as JSON; production once its limits are set.', {
    owner: 'environments/environments.ts',
    ttl: 'none',
    size: '1 field per environment (branches: quota)',
  }),
  installationLimits: string('installation-limits', 'Limits of the installation, as JSON.', {
    owner: 'environments/installation-limits.ts',
    ttl: 'none',
    size: '1 JSON object',
  }),
};
