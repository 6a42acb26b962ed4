/** Routes of environments, their limits, keys and storage. */
import type { Feature } from '../parts.ts';
import { environmentLimitRoutes } from '../routes/environment-limits.ts';
import { environmentRoutes } from '../routes/environments.ts';
import { eventKeyRoutes } from '../routes/event-keys.ts';
import { installationLimitRoutes } from '../routes/installation-limits.ts';
import { storageRoutes } from '../routes/storage.ts';

export const ENVIRONMENTS: Feature = [
  environmentRoutes,
  environmentLimitRoutes,
  storageRoutes,
  eventKeyRoutes,
  installationLimitRoutes,
];
