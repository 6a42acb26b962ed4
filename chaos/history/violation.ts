/** What a history proves the service to have done wrong. */
import type { Entry } from './entry.ts';

export interface Violation {
  what: string;
  /** The few entries that prove it, in order. */
  proof: readonly Entry[];
}

const SHOWN_ENTRIES = 6;

export function describe({ what, proof }: Violation): string {
  const shown = proof.slice(0, SHOWN_ENTRIES).map((entry) => `    ${JSON.stringify(entry)}`);
  if (proof.length > shown.length) shown.push(`    … and ${proof.length - shown.length} more entries`);
  return [what, ...shown].join('\n');
}

export function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(2)} s`;
}
