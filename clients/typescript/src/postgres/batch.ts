/** One batch of a relay: claims rows of the outbox, sends their events, and records the results.
 *
 *  The claim writes into each row, before anything is sent, under which internal ID the send may give its event to the service. So whatever
 *  dies when, the next relay can look it up. */
import type { OutgoingEvent } from '../events.ts';
import { newSeed, seededId, seedFrom } from '../seed.ts';
import type { Queries, Row } from './database.ts';
import { messageOf, type Sender, type SendFailure } from './sender.ts';
import { OUTBOX_ACKNOWLEDGE, OUTBOX_CLAIM, OUTBOX_DELETE, OUTBOX_END, OUTBOX_RELEASE } from './statements.ts';

export interface BatchOptions {
  /** Maximum number of rows that a batch claims. */
  limit: number;
  /** Rows of acknowledged events are kept for some days, rather than deleted. */
  keepsRows: boolean;
  /** How long the service has events, and so can tell whether it has one. */
  retentionDays: number;
  /** Whether the relay closes: the send under way ends, and no other begins. */
  closing(): boolean;
}

export interface BatchResult {
  claimed: number;
  refused: Ended[];
  uncertain: Ended[];
  /** Why rows still wait. */
  failure?: string;
}

export interface Ended {
  position: string;
  error: string;
}

const LEASE_SECONDS = 30;
/** No send begins later than this after the claim. Another relay may claim the rows when the lease is over. */
const SENDS_BEGIN_WITHIN_MS = 15_000;
/** The service deduplicates for 24 hours. */
const CERTAIN_FOR_SECONDS = 23 * 3_600;
const DAY_SECONDS = 86_400;
const LOOKUP_IDS = 1_000;

interface ClaimedRow {
  position: string;
  event: OutgoingEvent;
  key: string | null;
  /** Its number in the send of this batch, from 1. */
  number: number;
  /** Internal IDs that earlier sends may have given it. */
  earlierIds: string[];
  /** Since its first send. */
  sentSecondsAgo: number;
}

/** Findings of a batch about its rows. */
interface Findings {
  acknowledged: { position: string; eventId: string }[];
  refused: Ended[];
  uncertain: Ended[];
  failure?: SendFailure;
}

/** @throws the error of the database */
export async function sendBatch(db: Queries, sender: Sender, options: BatchOptions): Promise<BatchResult> {
  const seed = newSeed(Date.now());
  const beganMs = performance.now();
  const rows = await claim(db, seed, options.limit);
  const findings: Findings = { acknowledged: [], refused: [], uncertain: [] };
  const due = await settleUncertain(rows, sender, options.retentionDays, findings);
  const mayGoOn = () => !findings.failure && !options.closing() && performance.now() - beganMs < SENDS_BEGIN_WITHIN_MS;
  for (const group of consecutive(due.rows)) await sendRows(group, seed, sender, findings, mayGoOn);
  await record(db, due.rows, findings, options.keepsRows);
  const { refused, uncertain, failure } = findings;
  const message = failure?.message ?? due.failure;
  return { claimed: rows.length, refused, uncertain, ...(message !== undefined && { failure: message }) };
}

async function claim(db: Queries, seed: string, limit: number): Promise<ClaimedRow[]> {
  const rows = await db.query(OUTBOX_CLAIM, [limit, LEASE_SECONDS, seed]);
  return rows.map(claimedRow).sort((a, b) => a.number - b.number);
}

function claimedRow({ position, event, sends, order_key: key, sent_seconds_ago: sentSecondsAgo }: Row): ClaimedRow {
  const all = sends as string[];
  return {
    position: String(position),
    event: JSON.parse(String(event)),
    key: key as string | null,
    number: sendOf(all.at(-1) as string).number,
    earlierIds: all.slice(0, -1).map((send) => seededId(sendOf(send).seed, sendOf(send).number)),
    sentSecondsAgo: Number(sentSecondsAgo),
  };
}

/** `<seed>,<number of the event>` */
function sendOf(text: string): { seed: string; number: number } {
  const comma = text.lastIndexOf(',');
  return { seed: text.slice(0, comma), number: Number(text.slice(comma + 1)) };
}

/** The service may have forgotten that it has the event of a row: it is asked, and the row sent again only if it has not.
 *  @returns the rows to send; rows of which it did not tell keep their leases, and with them later rows of their keys */
async function settleUncertain(
  rows: readonly ClaimedRow[],
  sender: Sender,
  retentionDays: number,
  findings: Findings,
): Promise<{ rows: ClaimedRow[]; failure?: string }> {
  const old = rows.filter(({ sentSecondsAgo }) => sentSecondsAgo > CERTAIN_FOR_SECONDS);
  if (old.length === 0) return { rows: [...rows] };
  const ids = old.flatMap(({ earlierIds }) => earlierIds);
  const found = await findAll(ids, sender).catch(messageOf);
  if (typeof found === 'string') {
    const keys = new Set(old.map(({ key }) => key));
    return {
      rows: rows.filter((row) => !old.includes(row) && (row.key === null || !keys.has(row.key))),
      failure: found,
    };
  }
  const settled = new Set<ClaimedRow>();
  for (const row of old) {
    const { position, sentSecondsAgo } = row;
    const eventId = row.earlierIds.find((id) => found.has(id));
    if (eventId) findings.acknowledged.push({ position, eventId });
    else if (sentSecondsAgo < retentionDays * DAY_SECONDS) continue;
    else findings.uncertain.push({ position, error: uncertainty(sentSecondsAgo, retentionDays) });
    settled.add(row);
  }
  return { rows: rows.filter((row) => !settled.has(row)) };
}

async function findAll(ids: readonly string[], sender: Sender): Promise<Set<string>> {
  const found = new Set<string>();
  for (let from = 0; from < ids.length; from += LOOKUP_IDS) {
    for (const id of await sender.findEvents(ids.slice(from, from + LOOKUP_IDS))) found.add(id);
  }
  return found;
}

function uncertainty(sentSecondsAgo: number, retentionDays: number): string {
  const days = Math.floor(sentSecondsAgo / DAY_SECONDS);
  return `It was first sent ${days} days ago and never acknowledged. The service keeps events for ${retentionDays} days, so it cannot tell whether it had this one`;
}

/** Rows with consecutive numbers: one send gives their events consecutive IDs. */
function consecutive(rows: readonly ClaimedRow[]): ClaimedRow[][] {
  const groups: ClaimedRow[][] = [];
  for (const row of rows) {
    const last = groups.at(-1);
    if (last?.at(-1)?.number === row.number - 1) last.push(row);
    else groups.push([row]);
  }
  return groups;
}

/** The service refuses a request whole: halves find the event at fault. */
async function sendRows(
  rows: readonly ClaimedRow[],
  seed: string,
  sender: Sender,
  findings: Findings,
  mayGoOn: () => boolean,
): Promise<void> {
  const [first] = rows;
  if (!first || !mayGoOn()) return;
  const events = rows.map(({ event }) => event);
  const { ids, failure } = await sender.send(events, seedFrom(seed, first.number - 1));
  const accepted = failure ? rows.slice(0, ids.length) : rows;
  accepted.forEach(({ position }, index) => {
    findings.acknowledged.push({ position, eventId: ids[index] ?? '' });
  });
  const rest = rows.slice(accepted.length);
  if (!failure) return;
  if (!failure.isFinal) {
    findings.failure = failure;
    return;
  }
  const [only, ...others] = rest;
  if (only && others.length === 0) {
    findings.refused.push({ position: only.position, error: failure.message });
    return;
  }
  const half = Math.ceil(rest.length / 2);
  await sendRows(rest.slice(0, half), seed, sender, findings, mayGoOn);
  await sendRows(rest.slice(half), seed, sender, findings, mayGoOn);
}

async function record(db: Queries, due: readonly ClaimedRow[], findings: Findings, keepsRows: boolean): Promise<void> {
  const { acknowledged, refused, uncertain } = findings;
  const positions = acknowledged.map(({ position }) => position);
  if (positions.length > 0 && keepsRows)
    await db.query(OUTBOX_ACKNOWLEDGE, [positions, acknowledged.map(({ eventId }) => eventId)]);
  else if (positions.length > 0) await db.query(OUTBOX_DELETE, [positions]);
  for (const [state, rows] of [
    ['refused', refused],
    ['uncertain', uncertain],
  ] as const) {
    if (rows.length === 0) continue;
    await db.query(OUTBOX_END, [rows.map(({ position }) => position), state, rows.map(({ error }) => error)]);
  }
  const ended = new Set([...positions, ...refused.map(({ position }) => position)]);
  const waiting = due.map(({ position }) => position).filter((position) => !ended.has(position));
  if (waiting.length > 0) await db.query(OUTBOX_RELEASE, [waiting]);
}
