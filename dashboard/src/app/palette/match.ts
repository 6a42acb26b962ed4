/** How well an entry of the palette matches: every word of the query must be in its label or another word of it, in any order. Letters that are merely
 *  somewhere in it match nothing: "cancel" would find "Pause function …". @returns 0: not at all */
export function matchOf(query: string, label: string, keywords: readonly string[]): number {
  const [title, all] = [label.toLowerCase(), [label, ...keywords].join(' ').toLowerCase()];
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.every((word) => all.includes(word))) return 0;
  const [first = ''] = words;
  if (title.startsWith(first)) return 1;
  return title.split(/[^\p{L}\p{N}]+/u).some((word) => word.startsWith(first)) ? 0.8 : 0.5;
}
