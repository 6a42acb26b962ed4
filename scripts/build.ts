/** Builds the dashboard (`npm run build`). */
import { resolve } from 'node:path';
import { buildDashboard } from './lib/dashboard.ts';
import { runMain } from './lib/problem.ts';

await runMain(() => buildDashboard(resolve(import.meta.dirname, '..')));
