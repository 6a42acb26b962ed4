/** Begins measuring, where it is asked for. Where it is not, nothing of it is even loaded. */
import type { Instruments } from './process-metrics.ts';

export async function startInstruments(wanted: boolean, role: 'web' | 'worker'): Promise<Instruments | undefined> {
  if (!wanted) return undefined;
  const { createInstruments } = await import('./process-metrics.ts');
  return createInstruments(role);
}
