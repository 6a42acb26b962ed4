/** Follows something that takes a while. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Json } from './api-client.ts';
import type { Context } from './context.ts';
import { printable } from './output.ts';

const FIRST_PAUSE_MS = 200;
const LAST_PAUSE_MS = 2_000;

/** Reads the operation repeatedly. @returns the operation when it has ended */
export async function follow(
  read: () => Promise<Json>,
  isOver: (now: Json) => boolean,
  { signal }: Context,
  show: (now: Json) => void,
): Promise<Json> {
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 1.5, LAST_PAUSE_MS)) {
    const now = await read();
    if (isOver(now)) return now;
    show(now);
    await sleep(pause, undefined, { signal });
  }
}

/** One line of a terminal, which the next line replaces; no output without a terminal. */
export function showProgress({ stderr }: Context, line: string): void {
  if (stderr.isTTY) stderr.write(`\r\x1b[2K${printable(line).slice(0, (stderr.columns ?? 80) - 1)}\r`);
}
