/** Why events did not start runs. A decision takes less than 60 bytes: decisions of several events share a hash (the key `decisions`),
 *  small enough that Redis stores it compactly; at high rates, hashes of shorter periods hold the rest. */
import type { Decision } from '../../model/flow-control/decision.ts';
import { decodeDecisions, encodeDecision, type StoredDecision } from '../../model/flow-control/decision-encoding.ts';
import { hexOf, timeOf } from '../../model/ids.ts';
import { chunksOf } from '../../model/values/chunks.ts';
import { DAY_MS } from '../../model/values/time.ts';
import { DECISION_PREFIX_LENGTHS } from '../keys/decisions.ts';
import { replies, type ScriptedRedis } from '../redis/connection/connection.ts';
import { Repository } from '../redis/repository.ts';

/** Maximum number of events and decisions per script, which blocks Redis for a millisecond or two. */
const EVENTS_AT_ONCE = 100;
const DECISIONS_AT_ONCE = 500;
/** Decisions about events of another day get a key of their own: they would keep old hashes alive. */
const OVERFLOW_MS = DAY_MS;

export class Decisions extends Repository<ScriptedRedis, { retentionMs: number }> {
  /** Idempotent. Of several decisions about one event and function, the last one counts. */
  async add(decisions: readonly Decision[], nowMs: number): Promise<void> {
    const byPartition = Map.groupBy(decisions, ({ eventId }) => this.keys.of(eventId));
    for (const [keys, ofPartition] of byPartition) {
      const pipeline = this.redis.pipeline();
      for (const [env, ofEnv] of Map.groupBy(ofPartition, (decision) => decision.env)) {
        for (const portion of portionsOf(ofEnv)) {
          const events = portion.flatMap(([id, decisions]) => [
            id,
            fieldOf(id),
            Math.abs(nowMs - timeOf(id)) > OVERFLOW_MS ? 1 : 0,
            Buffer.concat(decisions.map(encodeDecision)),
          ]);
          pipeline.addDecisions(
            keys.decisions(env, ''),
            keys.overflowDecisions(env, ''),
            this.deps.retentionMs,
            ...events,
          );
        }
      }
      replies(await pipeline.exec());
    }
  }

  /** The decisions about an event, one per function. */
  async of(env: string, eventId: string): Promise<StoredDecision[]> {
    const keys = this.keys.of(eventId);
    const pipeline = this.redis.pipeline();
    for (const length of DECISION_PREFIX_LENGTHS) {
      pipeline.hgetBuffer(keys.decisions(env, eventId.slice(0, length)), fieldOf(eventId));
    }
    pipeline.getBuffer(keys.overflowDecisions(env, eventId));
    const found = replies<Buffer | null>(await pipeline.exec());
    const all = found.flatMap((bytes) => (bytes ? decodeDecisions(bytes) : []));
    // `all` has the order in which add-decisions.lua fills the keys, so that later decisions win.
    return [...new Map(all.map((decision) => [decision.digest, decision])).values()];
  }
}

/** The ID without its first 16 bits, which are part of every key. */
export function fieldOf(eventId: string): Buffer {
  return Buffer.from(hexOf(eventId), 'hex').subarray(2);
}

/** Decisions by event, in groups for one script each. */
function* portionsOf(decisions: readonly Decision[]): Generator<[eventId: string, Decision[]][]> {
  let portion: [string, Decision[]][] = [];
  let count = 0;
  for (const [eventId, ofEvent] of Map.groupBy(decisions, ({ eventId }) => eventId)) {
    // The last decision for each function.
    const latest = [...new Map(ofEvent.map((decision) => [decision.functionId, decision])).values()];
    for (const some of chunksOf(latest, DECISIONS_AT_ONCE)) {
      if (portion.length === EVENTS_AT_ONCE || count + some.length > DECISIONS_AT_ONCE) {
        yield portion;
        portion = [];
        count = 0;
      }
      portion.push([eventId, some]);
      count += some.length;
    }
  }
  if (portion.length > 0) yield portion;
}
