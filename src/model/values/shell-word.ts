/** Quotes a word of a shell command that people copy. A request's `Host` may contain `$(…)`, which URLs permit in hosts. */
export function shellWord(text: string): string {
  return /^[\w.:/@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
