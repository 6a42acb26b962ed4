/** Counts the distinct elements of several HyperLogLogs of Redis together. PFCOUNT cannot: in a cluster they are on different nodes. The format and the
 *  estimate are those of Redis (src/hyperloglog.c). Standard error: 0.8%. */

const REGISTERS = 16_384;
const HEADER_BYTES = 16;
const ENCODING_AT = 4;
const DENSE = 0;
const REGISTER_BITS = 6;
/** Registers have 0 to 51: the hash has 50 bits besides those that choose the register. */
const MAX = 51;
const ALPHA = 0.5 / Math.LN2;

/** @param values of keys that PFADD has written */
export function countDistinct(values: readonly Buffer[]): number {
  const registers = new Uint8Array(REGISTERS);
  for (const value of values) {
    if (value[ENCODING_AT] === DENSE) mergeDense(registers, value);
    else mergeSparse(registers, value);
  }
  return estimate(registers);
}

function mergeDense(registers: Uint8Array, value: Buffer): void {
  for (let at = 0; at < REGISTERS; at++) {
    const bit = at * REGISTER_BITS;
    const byte = HEADER_BYTES + (bit >> 3);
    raise(registers, at, ((((value[byte + 1] ?? 0) << 8) | (value[byte] as number)) >> (bit & 7)) & 63);
  }
}

/** Runs of equal registers: `00` and `01` are zeros, of a length of 6 or 14 bits; `1` is a rank of 5 bits and a length of 2 bits. */
function mergeSparse(registers: Uint8Array, value: Buffer): void {
  for (let i = HEADER_BYTES, at = 0; i < value.length; i++) {
    const code = value[i] as number;
    if (code < 0x40) at += code + 1;
    else if (code < 0x80) at += (((code & 0x3f) << 8) | (value[++i] as number)) + 1;
    else for (let left = (code & 3) + 1; left > 0; left--) raise(registers, at++, ((code >> 2) & 31) + 1);
  }
}

function raise(registers: Uint8Array, at: number, rank: number): void {
  if (rank > (registers[at] as number)) registers[at] = rank;
}

/** Otmar Ertl, "New cardinality estimation algorithms for HyperLogLog sketches" (2017), algorithm 6. */
function estimate(registers: Uint8Array): number {
  const having = new Array<number>(MAX + 1).fill(0);
  for (const rank of registers) having[rank] = (having[rank] as number) + 1;
  let z = REGISTERS * tau(1 - (having[MAX] as number) / REGISTERS);
  for (let rank = MAX - 1; rank >= 1; rank--) z = 0.5 * (z + (having[rank] as number));
  z += REGISTERS * sigma((having[0] as number) / REGISTERS);
  return Math.round((ALPHA * REGISTERS * REGISTERS) / z);
}

function sigma(share: number): number {
  if (share === 1) return Number.POSITIVE_INFINITY;
  let [x, y, z, before] = [share, 1, share, 0];
  do {
    x *= x;
    before = z;
    z += x * y;
    y += y;
  } while (z !== before);
  return z;
}

function tau(share: number): number {
  if (share === 0 || share === 1) return 0;
  let [x, y, z, before] = [share, 1, 1 - share, 0];
  do {
    x = Math.sqrt(x);
    before = z;
    y *= 0.5;
    z -= (1 - x) ** 2 * y;
  } while (z !== before);
  return z / 3;
}
