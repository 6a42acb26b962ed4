/** Begins measuring, where it is asked for. Where it is not, nothing of it is even loaded. */
import type { ProcessMetrics } from './process-metrics.ts';

export async function startMetrics(wanted: boolean, role: 'web' | 'worker'): Promise<ProcessMetrics | undefined> {
  if (!wanted) return undefined;
  const { createProcessMetrics } = await import('./process-metrics.ts');
  return createProcessMetrics(role);
}
