/** Environments, the deletion of their data, and the limits of the installation. */
import type { StoreContext } from '../store-context.ts';
import { EnvironmentData } from './environment-data.ts';
import { EnvironmentKinds } from './environment-kinds.ts';
import { Environments } from './environments.ts';
import { EventLimits } from './event-limits.ts';
import { InstallationLimits } from './installation-limits.ts';

export function createEnvironmentStore({ redis, keys, config, cacheInvalidation }: StoreContext) {
  const environments = new Environments(redis, keys, { cacheInvalidation });
  const installationLimits = new InstallationLimits(redis, keys, { cacheInvalidation });
  return {
    environments,
    environmentKinds: new EnvironmentKinds({ environments }),
    environmentData: new EnvironmentData(redis, keys),
    installationLimits,
    eventLimits: new EventLimits({ environments, installationLimits, defaultBytes: config.eventMaxBytes }),
  };
}
