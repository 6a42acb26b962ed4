/** Why expressions of a function were not evaluated: the last reason, and the number of skipped events. Kept for a day. */
import { DAY_MS } from '../../model/values/time.ts';
import { replies } from '../redis/connection/connection.ts';
import { Repository } from '../redis/repository.ts';

const TTL_MS = DAY_MS;

/** `too_costly`: stopped at the cost limit; `quarantined`: stopped in quarantine; `refused`: an earlier version accepted the expression,
 *  this one does not. */
export const PROBLEM_REASONS = ['too_costly', 'quarantined', 'refused'] as const;
export type ProblemReason = (typeof PROBLEM_REASONS)[number];

export interface ExpressionProblem {
  reason: ProblemReason;
  /** Shown to users. */
  message: string;
  expression: string;
  /** Unix milliseconds. */
  at: number;
}

export interface SkippedEvents extends ExpressionProblem {
  functionId: string;
  /** Number of events skipped since the last report. */
  events: number;
}

export type KnownProblem = ExpressionProblem & { events: number };

export class ExpressionProblems extends Repository {
  async add(env: string, all: readonly SkippedEvents[]): Promise<void> {
    const { expressionProblems, expressionSkips } = this.keys;
    const pipeline = this.redis.pipeline();
    for (const { functionId, events, reason, message, expression, at } of all) {
      const problem: ExpressionProblem = { reason, message, expression, at };
      pipeline.hset(expressionProblems(env), functionId, JSON.stringify(problem));
      pipeline.hincrby(expressionSkips(env), functionId, events);
    }
    for (const key of [expressionProblems(env), expressionSkips(env)]) pipeline.pexpire(key, TTL_MS);
    replies(await pipeline.exec());
  }

  async remove(env: string, functionIds: readonly string[]): Promise<void> {
    if (functionIds.length === 0) return;
    const { expressionProblems, expressionSkips } = this.keys;
    const deleting = this.redis.pipeline();
    for (const key of [expressionProblems(env), expressionSkips(env)]) deleting.hdel(key, ...functionIds);
    replies(await deleting.exec());
  }

  async read(env: string, functionId: string, nowMs: number): Promise<KnownProblem | undefined> {
    return (await this.of(env, nowMs)).get(functionId);
  }

  /** Problems of the last day, by function ID. */
  async of(env: string, nowMs: number): Promise<Map<string, KnownProblem>> {
    const { expressionProblems, expressionSkips } = this.keys;
    const reading = this.redis.pipeline().hgetall(expressionProblems(env)).hgetall(expressionSkips(env));
    const [problems, skips] = replies<Record<string, string>>(await reading.exec()) as [
      Record<string, string>,
      Record<string, string>,
    ];
    const skipped = new Map(Object.entries(skips));
    const known = Object.entries(problems).map(([id, text]): [string, KnownProblem] => [
      id,
      { ...(JSON.parse(text) as ExpressionProblem), events: Number(skipped.get(id) ?? 0) },
    ]);
    return new Map(known.filter(([, { at }]) => nowMs - at < TTL_MS));
  }
}
