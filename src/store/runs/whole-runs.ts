/** Reads runs with their steps, consistent at one moment. */
import type { Memo, Pending } from '../../model/runs/memo.ts';
import type { HistoryEntry, Run } from '../../model/runs/run.ts';
import { RUN_FIELDS } from '../keys/run-fields.ts';
import { fromFlat } from '../redis/connection/scripts.ts';
import { Repository } from '../redis/repository.ts';
import { decodeHistoryEntry } from './history-entries.ts';
import { toMemos, toPending, toRun } from './run-record.ts';

export interface WholeRun {
  run: Run;
  stack: string[];
  memos: Record<string, Memo>;
  pending: Map<string, Pending>;
  history: HistoryEntry[];
  /** Number of finished steps (-1: none) of the last answered call. */
  answeredAt: number;
}

type Reply = [fields: string[], stack: string[], memos: string[], pending: string[], history: string[]];

export class WholeRuns extends Repository {
  /** undefined if it is not stored.
   *  @param contents contents of an offloaded run, which stays where it is; absent: the run in Redis */
  async read(env: string, id: string, contents: Buffer | '' = ''): Promise<WholeRun | undefined> {
    const reply = (await this.redis.readRun(this.keys.of(id).run(env, id), contents)) as Reply | [];
    const [flat, stack = [], memos = [], pending = [], history = []] = reply;
    if (flat === undefined) return undefined;
    const fields = fromFlat(flat);
    if (fields[RUN_FIELDS.status] === undefined) return undefined;
    return {
      run: toRun(env, id, fields),
      stack,
      memos: toMemos(fromFlat(memos)),
      pending: toPending(fromFlat(pending)),
      history: history.map(decodeHistoryEntry),
      answeredAt: Number(fields[RUN_FIELDS.answeredAt] ?? -1),
    };
  }
}
