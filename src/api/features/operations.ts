/** Routes about the state of the installation, and alerts. */
import type { Feature } from '../parts.ts';
import { alertRoutes } from '../routes/alerts.ts';
import { devClockRoutes } from '../routes/dev-clock.ts';
import { healthCheckRoutes } from '../routes/health-checks.ts';
import { overviewRoutes } from '../routes/overview.ts';
import { settingRoutes } from '../routes/settings.ts';
import { statusRoutes } from '../routes/status.ts';

export const OPERATIONS: Feature = [
  overviewRoutes,
  alertRoutes,
  statusRoutes,
  healthCheckRoutes,
  settingRoutes,
  devClockRoutes,
];
