/** Checks option names: a misspelled option would otherwise be ignored silently. */

/** @param what start of the message, such as `Function "a"`
 *  @throws TypeError that names the unknown option and the most similar known one */
export function refuseUnknown(what: string, given: object, known: readonly string[]): void {
  for (const name of Object.keys(given)) {
    if (known.includes(name)) continue;
    const near = nearest(name, known);
    const hint = near ? `did you mean "${near}"?` : `known are ${known.join(', ')}`;
    throw new TypeError(`${what} has no option "${name}"; ${hint}`);
  }
}

/** The most similar known name; undefined if none is similar. */
function nearest(name: string, known: readonly string[]): string | undefined {
  const [best] = known
    .map((one) => ({ one, distance: distance(name.toLowerCase(), one.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance);
  return best && best.distance <= Math.max(2, Math.floor(best.one.length / 3)) ? best.one : undefined;
}

/** Levenshtein distance. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min((row[j] as number) + 1, (next[j - 1] as number) + 1, change));
    }
    row = next;
  }
  return row[b.length] as number;
}
