/** Patterns of event names: `*` stands for any text. Takes time in proportion to pattern and name, whatever they are. */
export type NameMatcher = (name: string) => boolean;

export function nameMatcherOf(pattern: string): NameMatcher {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return (name) => name === pattern;
  return (name) => {
    if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length) return false;
    let from = first.length;
    const end = name.length - last.length;
    for (const part of rest) {
      const at = name.indexOf(part, from);
      if (at === -1 || at + part.length > end) return false;
      from = at + part.length;
    }
    return true;
  };
}

export function isPattern(name: string): boolean {
  return name.includes('*');
}
