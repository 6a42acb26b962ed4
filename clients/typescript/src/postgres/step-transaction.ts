/** A step whose result is stored in the transaction of the app's own writes: both are there, or neither. */
import { setTimeout as wait } from 'node:timers/promises';
import { NonRetriableError } from '../errors.ts';
import { transact } from './adapters.ts';
import { explained, type Isolation, sqlStateOf } from './database.ts';
import { STEP_BEGIN, STEP_END, STEP_RESULT } from './statements.ts';

export interface TransactionOptions {
  /** Default: that of the connection. */
  isolation?: Isolation;
}

/** The service's limit for the result of a step as it stores it. */
const MAX_RESULT_BYTES = 4 * 1_024 * 1_024;
const MEMO_BYTES = '{"data":}'.length;
const MAX_TRIES = 10;
const FIRST_BACKOFF_MS = 10;
const MAX_BACKOFF_MS = 1_000;
/** Serialization failure, deadlock: the same transaction can succeed when it is tried again. */
const CONFLICTS = ['40001', '40P01'];

interface Step {
  runId: string;
  hashedId: string;
  /** For messages. */
  name: string;
}

/** The result of a transaction is larger than that of a step may be. Its name is the service's. */
class OutputTooLarge extends NonRetriableError {
  override name = 'OutputTooLarge';
}

/** Resolves to the result as JSON, of this attempt, or of an earlier attempt that committed.
 *  @throws what the function throws; OutputTooLarge */
export async function runTransaction(
  step: Step,
  pool: unknown,
  fn: (tx: never) => unknown,
  { isolation }: TransactionOptions = {},
): Promise<unknown> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt(step, pool, fn, isolation);
    } catch (error) {
      const mayRepeat = error instanceof Vanished || CONFLICTS.includes(sqlStateOf(error) ?? '');
      if (!mayRepeat || tries === MAX_TRIES) throw explained(error);
      await wait(Math.random() * Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** tries));
    }
  }
}

/** The row of an earlier attempt was deleted between two statements. */
class Vanished extends Error {}

function attempt(
  { runId, hashedId, name }: Step,
  pool: unknown,
  fn: (tx: never) => unknown,
  isolation: Isolation | undefined,
): Promise<unknown> {
  // Waits for the end of another attempt that is under way.
  const begin = { text: STEP_BEGIN, values: [runId, hashedId] };
  return transact(pool, isolation, begin, async (tx, { query }, [begun]) => {
    if (!begun) {
      const [ended] = await query(STEP_RESULT, [runId, hashedId]);
      if (!ended) throw new Vanished('The stored result of the step was deleted meanwhile');
      return { result: JSON.parse(String(ended.result)) };
    }
    const text = jsonOf(await fn(tx as never), name);
    return { result: JSON.parse(text), last: { text: STEP_END, values: [runId, hashedId, text] } };
  });
}

function jsonOf(result: unknown, step: string): string {
  const text = JSON.stringify(result) ?? 'null';
  const bytes = Buffer.byteLength(text) + MEMO_BYTES;
  if (bytes <= MAX_RESULT_BYTES) return text;
  throw new OutputTooLarge(
    `the output of step "${step}" has ${bytes} bytes, more than ${MAX_RESULT_BYTES}; store large data elsewhere and return a reference`,
  );
}
