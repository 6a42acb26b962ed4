/** Logs of runs, hot or archived. */
import type { Archive } from '../archive/archive.ts';
import type { RunLog } from '../model/runs/log-lines.ts';
import type { RunLogs } from '../store/runs/run-logs.ts';
import type { RunStatuses } from '../store/runs/run-statuses.ts';
import { isHot } from './run-history.ts';

export interface RunLogHistoryDeps {
  runLogs: RunLogs;
  runStatuses: RunStatuses;
  archive: Archive;
}

export class RunLogHistory implements Pick<RunLogs, 'read'> {
  readonly #deps: RunLogHistoryDeps;

  constructor(deps: RunLogHistoryDeps) {
    this.#deps = deps;
  }

  /** @throws ServiceError archive_unavailable */
  async read(env: string, runId: string): Promise<RunLog> {
    const { runLogs, runStatuses, archive } = this.#deps;
    const hot = await runLogs.read(env, runId);
    if (hot.lines.length > 0 || (await isHot(runStatuses, env, runId))) return hot;
    return (await archive.runParts.logs(env, runId)) ?? hot;
  }
}
