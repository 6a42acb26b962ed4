/** What tests of several suites share until the last of them has run. */
const work: (() => Promise<void>)[] = [];

export function atEnd(close: () => Promise<void>): void {
  work.push(close);
}

export async function end(): Promise<void> {
  for (const close of work.splice(0)) await close();
}
