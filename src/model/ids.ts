/** Internal IDs are ULIDs: 48 bits of milliseconds and 80 bits that are random, seeded by the sender, or derived. In installations with
 *  several partitions, 10 of the bits name the partition (partitions/partitioned-ids.ts). */
import { hash, randomFillSync } from 'node:crypto';
import { monotonicFactory } from 'ulid';

/** Random bytes are requested in bulk: one request per ID would cost more than the rest of its creation. */
const pool = new Uint8Array(4_096);
let left = 0;

function random(): number {
  if (left === 0) left = randomFillSync(pool).length;
  return (pool[--left] as number) / 256;
}

/** If the clock is set back by more than this, IDs follow it. An event counts as received at the time of its ID: with the former time, it
 *  would wait for a time in the future. */
const MAX_AHEAD_MS = 1_000;

let nextId = monotonicFactory(random);
let lastMs = 0;

/** A new ID. IDs of one process sort in the order of their creation, unless its clock is set back by more than a second. */
export function newId(nowMs: number = Date.now()): string {
  if (nowMs < lastMs - MAX_AHEAD_MS) {
    nextId = monotonicFactory(random);
    lastMs = nowMs;
  } else if (nowMs > lastMs) {
    lastMs = nowMs;
  }
  return nextId(nowMs);
}

/** Replaces two random digits of the ID with the partition. IDs of the same millisecond or of one seed do not differ in these digits. */
export function withPartition(id: string, partition: number): string {
  return id.slice(0, PARTITION_AT) + digits(partition, PARTITION_DIGITS) + id.slice(PARTITION_AT + PARTITION_DIGITS);
}

/** The number that the two partition digits encode. */
export function partitionDigits(id: string): number {
  return numberIn(id, PARTITION_AT, PARTITION_AT + PARTITION_DIGITS);
}

export const ID_PATTERN = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

export interface Seed {
  timeMs: number;
  entropy: Buffer;
}

const TIME_DIGITS = 10;
/** The position is after the digits that mark the service's own events, and before the digits to which a seeded event's number is added. */
const PARTITION_AT = 16;
const PARTITION_DIGITS = 2;
const SEED = /^(\d{1,15}),([A-Za-z0-9+/_-]{14}(?:==)?)$/;
const MAX_TIME_MS = 2 ** 48 - 1;

/** The first 6 of the 16 random digits in IDs of events that the service itself sends. Seeds cannot produce such an ID, so senders cannot
 *  claim the ID of a future `function.failed` event, for example. One in a billion random IDs starts like this. */
const OWN_EVENT = 'SYSTEM';
/** Replaces OWN_EVENT in seeded IDs. Clients create seeds at random: rejecting the seed would fail one send in a billion permanently. */
const NOT_OWN_EVENT = 'SYSTEN';

/** Reads `<unix ms>,<base64 of 10 bytes>` (docs/events.md#seeds); undefined for any other text. */
export function parseSeed(header: string): Seed | undefined {
  const match = SEED.exec(header);
  if (!match) return undefined;
  const timeMs = Number(match[1]);
  const entropy = Buffer.from(match[2] as string, 'base64');
  if (timeMs > MAX_TIME_MS || entropy.length !== 10) return undefined;
  return { timeMs, entropy };
}

/** The ID of the nth event of a seeded request, counted from 1: n is added to the last 4 of the 10 bytes. Never an ID of the service's
 *  own events. */
export function seededId(seed: Seed, n: number): string {
  const entropy = Buffer.from(seed.entropy);
  entropy.writeUInt32BE((entropy.readUInt32BE(6) + n) >>> 0, 6);
  const id = fromBytes(seed.timeMs, entropy);
  return id.startsWith(OWN_EVENT, TIME_DIGITS) ? withPrefix(id, NOT_OWN_EVENT) : id;
}

/** An ID at this time whose other bits are a hash of `parts`. */
export function hashedId(timeMs: number, parts: readonly string[]): string {
  return fromBytes(timeMs, hash('sha256', JSON.stringify(parts), 'buffer').subarray(0, 10));
}

/** The ID as that of an event that the service itself sends. */
export function ownEventIdOf(id: string): string {
  return withPrefix(id, OWN_EVENT);
}

/** Replaces the first random digits of the ID by the prefix. */
function withPrefix(id: string, prefix: string): string {
  return id.slice(0, TIME_DIGITS) + prefix + id.slice(TIME_DIGITS + prefix.length);
}

/** The time of an ID, Unix milliseconds. */
export function timeOf(id: string): number {
  return numberIn(id, 0, TIME_DIGITS);
}

/** The 128 bits of an ID as 32 hexadecimal digits. */
export function hexOf(id: string): string {
  return hex(numberIn(id, 0, 10), 12) + hex(numberIn(id, 10, 18), 10) + hex(numberIn(id, 18, 26), 10);
}

/** Inverse of hexOf. */
export function idOfHex(text: string): string {
  const bytes = Buffer.from(text, 'hex');
  return fromBytes(bytes.readUIntBE(0, 6), bytes.subarray(6));
}

/** Writes the 128 bits of an ID. */
export function writeId(id: string, into: Buffer, offset: number): void {
  into.writeUIntBE(numberIn(id, 0, 10), offset, 6);
  into.writeUIntBE(numberIn(id, 10, 18), offset + 6, 5);
  into.writeUIntBE(numberIn(id, 18, 26), offset + 11, 5);
}

function fromBytes(timeMs: number, entropy: Buffer): string {
  return digits(timeMs, 10) + digits(entropy.readUIntBE(0, 5), 8) + digits(entropy.readUIntBE(5, 5), 8);
}

const DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const BASE = DIGITS.length;
/** The value of each digit, by its character code: several IDs are read for each event, run and call. */
const VALUES = Int8Array.from({ length: 128 }, (_, code) => DIGITS.indexOf(String.fromCharCode(code)));

/** The value of a range of digits: at most 50 bits, which a number holds exactly. */
function numberIn(id: string, from: number, to: number): number {
  let number = 0;
  for (let i = from; i < to; i++) number = number * BASE + (VALUES[id.charCodeAt(i)] ?? -1);
  return number;
}

function digits(number: number, length: number): string {
  let text = '';
  for (let rest = number; text.length < length; rest = Math.floor(rest / BASE)) text = DIGITS[rest % BASE] + text;
  return text;
}

function hex(number: number, length: number): string {
  return number.toString(16).padStart(length, '0');
}
