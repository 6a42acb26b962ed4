/** Routes of apps, their connections and origins. */
import type { Feature } from '../parts.ts';
import { allowedOriginRoutes } from '../routes/allowed-origins.ts';
import { appCheckRoutes } from '../routes/app-check.ts';
import { appConnectionRoutes } from '../routes/app-connections.ts';
import { appVersionRoutes } from '../routes/app-versions.ts';
import { appRoutes } from '../routes/apps.ts';
import { deployRoutes } from '../routes/deploys.ts';
import { heldRegistrationRoutes } from '../routes/held-registrations.ts';
import { whatIfRoutes } from '../routes/what-ifs.ts';

export const APPS: Feature = [
  appRoutes,
  heldRegistrationRoutes,
  allowedOriginRoutes,
  deployRoutes,
  appConnectionRoutes,
  appVersionRoutes,
  appCheckRoutes,
  whatIfRoutes,
];
