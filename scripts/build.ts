/** `npm run build`: builds the dashboard for a deploy. */
import { resolve } from 'node:path';
import { buildDashboard } from './lib/dashboard.ts';
import { runMain } from './lib/problem.ts';

await runMain(() => buildDashboard(resolve(import.meta.dirname, '..')));
