/** A word of a command that people copy. Whoever writes a `Host` may write `$(…)` into it: URLs permit that in hosts. */
export function shellWord(text: string): string {
  return /^[\w.:/@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
