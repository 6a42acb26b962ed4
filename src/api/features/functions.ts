/** Routes of functions, their errors and metrics, and of starting or waking them by hand. */
import type { Feature } from '../parts.ts';
import { destinationRoutes } from '../routes/destinations.ts';
import { errorRoutes } from '../routes/errors.ts';
import { functionMetricsRoutes } from '../routes/function-metrics.ts';
import { functionRoutes } from '../routes/functions.ts';
import { invokeRoutes } from '../routes/invoke.ts';
import { laneRoutes } from '../routes/lanes.ts';
import { metricsRoutes } from '../routes/metrics.ts';
import { signalRoutes } from '../routes/signals.ts';

export const FUNCTIONS: Feature = [
  metricsRoutes,
  errorRoutes,
  functionMetricsRoutes,
  functionRoutes,
  laneRoutes,
  invokeRoutes,
  destinationRoutes,
  signalRoutes,
];
