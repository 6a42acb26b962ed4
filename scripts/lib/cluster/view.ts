/** A Redis Cluster as one of its nodes sees it: the reply to CLUSTER NODES. */

/** First and last hash slot. */
export type Range = readonly [first: number, last: number];

export interface NodeView {
  id: string;
  port: number;
  isPrimary: boolean;
  /** It does not respond to the node that was asked, or the nodes agree that it has failed. */
  hasFailed: boolean;
  /** ID of a replica's primary. */
  primaryId: string | undefined;
  ranges: readonly Range[];
}

export const HASH_SLOTS = 16_384;

/** @param reply each line: ID, address, flags, primary's ID or "-", ping, pong, epoch, link, ranges ("7" or "0-5460"), moves in progress in brackets */
export function readView(reply: string): NodeView[] {
  return reply
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const [id = '', address = '', flags = '', primary = '-', , , , , ...ranges] = line.split(' ');
      const has = (flag: string) => flags.split(',').includes(flag);
      return {
        id,
        port: Number(/:(\d+)@/.exec(address)?.[1]),
        isPrimary: has('master'),
        hasFailed: has('fail') || has('fail?') || has('noaddr') || has('handshake'),
        primaryId: primary === '-' ? undefined : primary,
        ranges: ranges.flatMap(toRange),
      };
    });
}

function toRange(text: string): Range[] {
  if (text.startsWith('[')) return [];
  const [first, last = first] = text.split('-').map(Number);
  return [[first as number, last as number]];
}

export function sizeOf(ranges: readonly Range[]): number {
  return ranges.reduce((sum, [first, last]) => sum + last - first + 1, 0);
}

/** Whether nodes that have not failed have all hash slots. */
export function isComplete(view: readonly NodeView[]): boolean {
  return sizeOf(view.filter(({ hasFailed }) => !hasFailed).flatMap(({ ranges }) => ranges)) === HASH_SLOTS;
}

/** Which node has which hash slots, as a text that is equal for equal views. */
export function ownersOf(view: readonly NodeView[]): string {
  const owners = view.filter(({ ranges }) => ranges.length > 0).map(({ id, ranges }) => `${id} ${ranges.join(' ')}`);
  return owners.sort().join('\n');
}

/** Equal parts of all hash slots. */
export function equalRanges(parts: number): Range[] {
  const start = (part: number) => Math.round((part * HASH_SLOTS) / parts);
  return Array.from({ length: parts }, (_, part) => [start(part), start(part + 1) - 1] as const);
}

/** Who replicates whom, as a text: two views with the same roles have the same. */
export function rolesIn(view: readonly NodeView[]): string {
  return view
    .map(({ id, primaryId }) => `${id} ${primaryId ?? '-'}`)
    .sort()
    .join('\n');
}
