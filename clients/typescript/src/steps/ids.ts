/** Hashed step IDs: SHA-1 of the ID in the code; the nth repetition in a run hashes `id:n` (docs/protocol.md). */
import { createHash } from 'node:crypto';

export function hashStepId(id: string): string {
  return createHash('sha1').update(id).digest('hex');
}

/** Numbers repetitions of an ID in one replay: `id`, `id:1`, `id:2`. Skips IDs that the code itself uses. */
export function numberRepeats(): (id: string) => string {
  const taken = new Set<string>();
  const repeats = new Map<string, number>();
  return (id) => {
    let n = repeats.get(id) ?? 0;
    let name = n === 0 ? id : `${id}:${n}`;
    while (taken.has(name)) name = `${id}:${++n}`;
    repeats.set(id, n + 1);
    taken.add(name);
    return name;
  };
}
