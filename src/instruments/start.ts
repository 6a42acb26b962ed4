/** Begins measuring, where it is asked for. Where it is not, nothing of it is even loaded. */
import type { Instruments } from './instruments.ts';

export async function startInstruments(wanted: boolean, role: 'web' | 'worker'): Promise<Instruments | undefined> {
  if (!wanted) return undefined;
  const { createInstruments } = await import('./instruments.ts');
  return createInstruments(role);
}
