/** Starts tracing if the settings ask for it. Otherwise OpenTelemetry is not even loaded. */
import type { Logger } from '../log.ts';
import type { Tracing } from './tracing.ts';

export async function startTracing(
  enabled: boolean,
  role: 'web' | 'worker',
  log: Logger,
): Promise<Tracing | undefined> {
  if (!enabled) return undefined;
  const { startSdk } = await import('./sdk.ts');
  return startSdk(`tidegate-${role}`, log);
}
