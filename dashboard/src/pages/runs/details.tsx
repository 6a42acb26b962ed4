import { Link } from '@tanstack/react-router';
import type { RunWithHistory } from '../../api/types.ts';
import { RunDuration } from '../../features/runs/run-duration.tsx';
import { Id } from '../../ui/code-block.tsx';
import { Card, DescriptionItem, DescriptionList } from '../../ui/page.tsx';
import { RunStatusBadge } from '../../ui/status-badge.tsx';
import { Time } from '../../ui/time.tsx';
import { useRetries } from './use-run.ts';

const LINK = 'text-accent hover:underline';

interface RunDetailsProps {
  run: RunWithHistory;
  eventName: string | undefined;
  /** Tries that it may have; undefined: not known. */
  maxTries: number | undefined;
}

export function RunDetails({ run, eventName, maxTries }: RunDetailsProps) {
  const retries = useRetries(run);
  return (
    <Card>
      <DescriptionList>
        <DescriptionItem name="Status">
          <RunStatusBadge status={run.status} />
        </DescriptionItem>
        <DescriptionItem name="Function">
          <Link to="/functions/$id" params={{ id: run.function_id }} className={LINK}>
            {run.function_id}
          </Link>
        </DescriptionItem>
        <DescriptionItem name="Event">
          <Link to="/events/$id" params={{ id: run.event_id }} className={LINK}>
            {eventName ?? <Id id={run.event_id} />}
          </Link>
        </DescriptionItem>
        <DescriptionItem name="Tries">
          {run.run_started_at === null
            ? 'None yet'
            : `${attemptsOf(run)}${maxTries === undefined ? '' : ` of ${maxTries}`}`}
        </DescriptionItem>
        <DescriptionItem name="Queued">
          <Time at={run.queued_at} />
        </DescriptionItem>
        <DescriptionItem name="Began">
          <Time at={run.run_started_at} />
        </DescriptionItem>
        <DescriptionItem name="Ended">
          <Time at={run.ended_at} />
        </DescriptionItem>
        <DescriptionItem name="Took">
          <RunDuration run={run} />
        </DescriptionItem>
        {run.retry_of && (
          <DescriptionItem name="Does again">
            <RunLink id={run.retry_of} />
          </DescriptionItem>
        )}
        {retries.length > 0 && (
          <DescriptionItem name="Done again by">
            {retries.map((id) => (
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

/** Of the function or of one of its steps, which are tried each for itself: the most that any had. */
function attemptsOf({ attempt, history }: RunWithHistory): number {
  return history.reduce((most, entry) => Math.max(most, entry.attempt ?? 0), attempt) + 1;
}

function RunLink({ id }: { id: string }) {
  return (
    <Link to="/runs/$id" params={{ id }} className={LINK}>
      <Id id={id} keep={15} />
    </Link>
  );
}
