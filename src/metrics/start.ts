/** Starts metrics if a setting asks for them. Otherwise prom-client is not even loaded. */
import type { ProcessMetrics } from './process-metrics.ts';

export async function startMetrics(enabled: boolean, role: 'web' | 'worker'): Promise<ProcessMetrics | undefined> {
  if (!enabled) return undefined;
  const { createProcessMetrics } = await import('./process-metrics.ts');
  return createProcessMetrics(role);
}
