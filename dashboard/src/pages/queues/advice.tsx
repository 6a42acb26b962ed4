import type { ReactNode } from 'react';
import type { Overview } from '../../api/types.ts';
import { LONG_WAIT_MS, longestWaitMs } from '../../features/metrics/queue-waits.ts';
import { formatCount } from '../../lib/format.ts';
import { Icon } from '../../ui/icon.tsx';
import { Card } from '../../ui/page.tsx';
import { duration, useNow } from '../../ui/time.tsx';

/** How the queues are, and what to do. */
export function Advice({ overview }: { overview: Pick<Overview, 'queues' | 'workers_alive'> }) {
  const { title, text } = adviceOn(overview, useNow());
  return (
    <Card>
      <div className="flex items-start gap-3 px-4 py-3" role="status" aria-label="Queues">
        <Icon name={text ? 'warning' : 'check'} className={`mt-0.5 ${text ? 'text-warn' : 'text-good'}`} />
        <div className="min-w-0">
          <p className="font-medium">{title}</p>
          {text && <p className="mt-0.5 text-sm text-muted">{text}</p>}
        </div>
      </div>
    </Card>
  );
}

/** @returns text: what to do; undefined: nothing */
function adviceOn(
  { queues, workers_alive: workers }: Pick<Overview, 'queues' | 'workers_alive'>,
  nowMs: number,
): { title: string; text?: ReactNode } {
  const waitedMs = longestWaitMs(queues, nowMs);
  const dead = queues.reduce((sum, { name, failed }) => sum + (name === 'runs' ? 0 : failed), 0);
  const alive = `${formatCount(workers)} ${workers === 1 ? 'worker' : 'workers'}`;
  if (workers === 0) {
    return {
      title: 'No worker takes jobs',
      text: 'Events are accepted and stored, but nothing runs. Start a worker: npm run start:worker',
    };
  }
  if (waitedMs !== undefined && waitedMs > LONG_WAIT_MS) {
    const isBusy = queues.some(({ active }) => active > 0);
    return {
      title: `The oldest job has waited for ${duration(waitedMs)}`,
      text: isBusy
        ? `${alive} cannot keep up. Start more, or raise RUN_CONCURRENCY if they wait for apps; slow functions are on the page Functions.`
        : `${alive} ${workers === 1 ? 'takes' : 'take'} nothing: look at the logs, and at the queue in Bull Board, where somebody may have paused it.`,
    };
  }
  if (dead > 0) {
    return {
      title: `${formatCount(dead)} ${dead === 1 ? 'job is a dead letter' : 'jobs are dead letters'}`,
      text: 'They ended their workers, and are not tried again by themselves. Bull Board shows them with their data; retry them there after the cause is mended.',
    };
  }
  return { title: `${alive} ${workers === 1 ? 'keeps' : 'keep'} up: no job waits for long.` };
}
