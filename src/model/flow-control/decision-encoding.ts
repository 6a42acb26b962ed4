/** Encodes the decisions about one event as bytes, one entry after another: digest of the function ID (6 bytes), reason and kind of the
 *  entry (1 byte), and depending on the kind an expiry time (6 bytes) and a run ID (16 bytes). */
import { hash } from 'node:crypto';
import { hexOf, idOfHex } from '../ids.ts';
import { DECISION_REASONS, type Decision, type DecisionReason } from './decision.ts';

/** 48 bits: among 10,000 functions, two share a digest with a probability of 2 in 10 million. */
export const DIGEST_BYTES = 6;
const TIME_BYTES = 6;
const RUN_BYTES = 16;
const HEAD_BYTES = DIGEST_BYTES + 1;
const REASONS_MAX = 16;
/** Bit flags of a kind. */
const WITH_TIME = 1;
const WITH_RUN = 2;

/** Bytes of an entry by its kind. */
export const ENTRY_BYTES = [
  HEAD_BYTES,
  HEAD_BYTES + TIME_BYTES,
  HEAD_BYTES + RUN_BYTES,
  HEAD_BYTES + TIME_BYTES + RUN_BYTES,
] as const;

export interface StoredDecision {
  /** Digest of the function's ID. */
  digest: string;
  reason: DecisionReason;
  runId?: string;
  until?: number;
}

export function functionDigest(functionId: string): string {
  return hash('sha256', functionId).slice(0, 2 * DIGEST_BYTES);
}

export function encodeDecision({ functionId, reason, runId, until }: Omit<Decision, 'env' | 'eventId'>): Buffer {
  const kind = (until === undefined ? 0 : WITH_TIME) + (runId === undefined ? 0 : WITH_RUN);
  const time = Buffer.alloc(until === undefined ? 0 : TIME_BYTES);
  if (until !== undefined) time.writeUIntBE(Math.max(0, Math.round(until)), 0, TIME_BYTES);
  return Buffer.concat([
    Buffer.from(functionDigest(functionId), 'hex'),
    Buffer.of(DECISION_REASONS.indexOf(reason) + REASONS_MAX * kind),
    time,
    Buffer.from(runId === undefined ? '' : hexOf(runId), 'hex'),
  ]);
}

/** Skips reasons that a later version added. */
export function decodeDecisions(bytes: Buffer): StoredDecision[] {
  const decisions: StoredDecision[] = [];
  for (let at = 0; at + HEAD_BYTES <= bytes.length; ) {
    const head = bytes[at + DIGEST_BYTES] as number;
    const kind = Math.floor(head / REASONS_MAX);
    const length = ENTRY_BYTES[kind];
    if (length === undefined || at + length > bytes.length) break;
    const reason = DECISION_REASONS[head % REASONS_MAX];
    const end = at + length;
    if (reason !== undefined) {
      decisions.push({
        digest: bytes.toString('hex', at, at + DIGEST_BYTES),
        reason,
        ...(kind & WITH_TIME && { until: bytes.readUIntBE(at + HEAD_BYTES, TIME_BYTES) }),
        ...(kind & WITH_RUN && { runId: idOfHex(bytes.toString('hex', end - RUN_BYTES, end)) }),
      });
    }
    at = end;
  }
  return decisions;
}
