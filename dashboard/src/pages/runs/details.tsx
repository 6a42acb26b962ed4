import { Link } from '@tanstack/react-router';
import type { FunctionDetails, RunWithHistory } from '../../api/types.ts';
import { attemptOf } from '../../features/runs/attempts.ts';
import { hasEnded } from '../../features/runs/run.ts';
import { RunDuration } from '../../features/runs/run-duration.tsx';
import { RunStateBadge } from '../../features/runs/run-state-badge.tsx';
import { Id } from '../../ui/code-block.tsx';
import { Card, DescriptionItem, DescriptionList } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { CancelReason } from './cancel-reason.tsx';
import { Trace } from './trace.tsx';
import { useRunsLike } from './use-run.ts';

const LINK = 'text-accent hover:underline';

interface RunDetailsProps {
  run: RunWithHistory;
  /** undefined: unknown. */
  fn: FunctionDetails | undefined;
  eventName: string | undefined;
  /** undefined: unknown. */
  maxAttempts: number | undefined;
}

export function RunDetails({ run, fn, eventName, maxAttempts }: RunDetailsProps) {
  const reruns = useRunsLike(run).filter(({ retry_of }) => retry_of === run.run_id);
  return (
    <Card>
      <DescriptionList>
        <DescriptionItem term="Status">
          <RunStateBadge run={run} brief />
        </DescriptionItem>
        <DescriptionItem term="Function">
          <Link to="/functions/$id" params={{ id: run.function_id }} className={LINK}>
            {fn?.name ?? run.function_id}
          </Link>
        </DescriptionItem>
        {fn && fn.destination === null && (
          <DescriptionItem term="App">
            <Link to="/apps/$name" params={{ name: fn.app }} className={LINK}>
              {fn.app}
            </Link>
          </DescriptionItem>
        )}
        <DescriptionItem term="Event">
          <Link to="/events/$id" params={{ id: run.event_id }} className={LINK}>
            {eventName ?? <Id id={run.event_id} />}
          </Link>
        </DescriptionItem>
        {/* After the end of the run, the timeline shows the attempts of each step. */}
        {!hasEnded(run) && <DescriptionItem term="Attempt">{attemptOf(run, maxAttempts)}</DescriptionItem>}
        <DescriptionItem term="Queued">
          <Time at={run.queued_at} />
        </DescriptionItem>
        <DescriptionItem term="Started">
          <Time at={run.run_started_at} />
        </DescriptionItem>
        <DescriptionItem term="Ended">
          <Time at={run.ended_at} />
        </DescriptionItem>
        <DescriptionItem term="Duration">
          <RunDuration run={run} />
        </DescriptionItem>
        {run.cancel_reason && (
          <DescriptionItem term="Cancelled by">
            <CancelReason reason={run.cancel_reason} />
          </DescriptionItem>
        )}
        {run.replay_id && (
          <DescriptionItem term="Started by">
            <Link to="/replays/$id" params={{ id: run.replay_id }} search={{}} className={LINK}>
              a replay
            </Link>
          </DescriptionItem>
        )}
        {run.app_version && (
          <DescriptionItem term="Version">
            <span className="font-mono text-xs break-all" title="It ends on this version of its app">
              {run.app_version}
            </span>
          </DescriptionItem>
        )}
        {run.retry_of && (
          <DescriptionItem term="Re-run of">
            <RunLink id={run.retry_of} />
            {run.from_step && (
              <>
                {' from step '}
                <Id id={run.from_step} maxChars={12} />
              </>
            )}
          </DescriptionItem>
        )}
        {run.trace_id && (
          <DescriptionItem term="Trace">
            <Trace id={run.trace_id} url={run.trace_url} />
          </DescriptionItem>
        )}
        {reruns.length > 0 && (
          <DescriptionItem term="Re-run as">
            {reruns.map(({ run_id: id }) => (
              <div key={id}>
                <RunLink id={id} />
              </div>
            ))}
          </DescriptionItem>
        )}
      </DescriptionList>
    </Card>
  );
}

function RunLink({ id }: { id: string }) {
  return (
    <Link to="/runs/$id" params={{ id }} className={LINK}>
      <Id id={id} maxChars={15} />
    </Link>
  );
}
