/** `npm run build`: builds the dashboard and bundles the service for a deploy. */
import { resolve } from 'node:path';
import { BUNDLES, bundleService } from './lib/bundle.ts';
import { buildDashboard } from './lib/dashboard.ts';
import { runMain } from './lib/problem.ts';

const ROOT = resolve(import.meta.dirname, '..');

await runMain(async () => {
  await buildDashboard(ROOT);
  await bundleService(ROOT, resolve(ROOT, BUNDLES));
});
