/** Step IDs as the protocol has them: SHA-1 of the ID in the code; its nth repeat in a run hashes `id:n`. */
import { createHash } from 'node:crypto';

export function hashStepId(id: string): string {
  return createHash('sha1').update(id).digest('hex');
}

/** Numbers the repeats of each ID in one replay: `id`, `id:1`, `id:2`. Passes over what the code itself has taken. */
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
