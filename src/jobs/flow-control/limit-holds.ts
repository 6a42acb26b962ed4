/** Finds functions whose calls limits hold back: how many calls wait, and since when. */
import { homesOf } from '../../model/flow-control/limits.ts';
import type { LimitUsage } from '../../store/flow-control/limit-usage.ts';

/** Maximum number of functions read: those with the most waiting calls. */
const FUNCTIONS_READ = 50;
const BACKLOGS_READ = 10;

export interface LimitHold {
  functionId: string;
  waiting: number;
  /** The time at which the first of the calls began to wait, Unix milliseconds. */
  since: number;
}

/** Longest wait first. */
export async function limitHolds(
  env: string,
  usage: Pick<LimitUsage, 'waitingCalls' | 'inDifferentPartitions' | 'backlogsOf'>,
): Promise<LimitHold[]> {
  const most = (await usage.waitingCalls())
    .filter((calls) => calls.env === env && calls.waiting > 0)
    .sort((a, b) => b.waiting - a.waiting)
    .slice(0, FUNCTIONS_READ);
  const holds = most.map(async ({ functionId, waiting }): Promise<LimitHold[]> => {
    const homes = usage.inDifferentPartitions(homesOf(env, functionId));
    const backlogs = await Promise.all(homes.map((home) => usage.backlogsOf(home, env, functionId, BACKLOGS_READ)));
    const since = backlogs.flatMap(({ longest }) => longest.map((backlog) => backlog.since));
    return since.length === 0 ? [] : [{ functionId, waiting, since: Math.min(...since) }];
  });
  return (await Promise.all(holds)).flat().sort((a, b) => a.since - b.since);
}
