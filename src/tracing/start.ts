/** Begins tracing, where it is asked for. Where it is not, nothing of OpenTelemetry is even loaded, and everybody is handed undefined. */
import type { Logger } from '../log.ts';
import type { Tracing } from './tracing.ts';

export async function startTracing(wanted: boolean, role: 'web' | 'worker', log: Logger): Promise<Tracing | undefined> {
  if (!wanted) return undefined;
  const { startSdk } = await import('./sdk.ts');
  return startSdk(`tidegate-${role}`, log);
}
