/** Runs by their outcome, as charts show them. */
export const OUTCOMES = [
  ['completed', 'fill-good'],
  ['failed', 'fill-bad'],
  ['cancelled', 'fill-muted'],
] as const;
