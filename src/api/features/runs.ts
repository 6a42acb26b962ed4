/** Routes of runs, single and in bulk. */
import type { Feature } from '../parts.ts';
import { bulkActionRoutes } from '../routes/bulk-actions.ts';
import { cancellationRoutes } from '../routes/cancellations.ts';
import { runLookupRoutes } from '../routes/lookups.ts';
import { replayRoutes } from '../routes/replays.ts';
import { runCountRoutes } from '../routes/run-counts.ts';
import { runLogRoutes } from '../routes/run-logs.ts';
import { runMetadataRoutes } from '../routes/run-metadata.ts';
import { runRoutes } from '../routes/runs.ts';

export const RUNS: Feature = [
  bulkActionRoutes,
  runCountRoutes,
  runMetadataRoutes,
  runLogRoutes,
  runRoutes,
  runLookupRoutes,
  cancellationRoutes,
  replayRoutes,
];
