import { Link } from '@tanstack/react-router';
import type { RunWithHistory } from '../../api/types.ts';
import { Elapsed } from '../../features/runs/run-duration.tsx';
import { Id } from '../../ui/code-block.tsx';
import { Card, Fact, Facts } from '../../ui/page.tsx';
import { RunStatus } from '../../ui/status-badge.tsx';
import { Time } from '../../ui/time.tsx';
import { useRetries } from './use-run.ts';

const LINK = 'text-accent hover:underline';

interface RunFactsProps {
  run: RunWithHistory;
  eventName: string | undefined;
  /** Tries that it may have; undefined: not known. */
  maxTries: number | undefined;
}

export function RunFacts({ run, eventName, maxTries }: RunFactsProps) {
  const retries = useRetries(run);
  return (
    <Card>
      <Facts>
        <Fact name="Status">
          <RunStatus status={run.status} />
        </Fact>
        <Fact name="Function">
          <Link to="/functions/$id" params={{ id: run.function_id }} className={LINK}>
            {run.function_id}
          </Link>
        </Fact>
        <Fact name="Event">
          <Link to="/events/$id" params={{ id: run.event_id }} className={LINK}>
            {eventName ?? <Id id={run.event_id} />}
          </Link>
        </Fact>
        <Fact name="Tries">
          {run.run_started_at === null
            ? 'None yet'
            : `${triesOf(run)}${maxTries === undefined ? '' : ` of ${maxTries}`}`}
        </Fact>
        <Fact name="Queued">
          <Time at={run.queued_at} />
        </Fact>
        <Fact name="Began">
          <Time at={run.run_started_at} />
        </Fact>
        <Fact name="Ended">
          <Time at={run.ended_at} />
        </Fact>
        <Fact name="Took">
          <Elapsed run={run} />
        </Fact>
        {run.retry_of && (
          <Fact name="Does again">
            <RunLink id={run.retry_of} />
          </Fact>
        )}
        {retries.length > 0 && (
          <Fact name="Done again by">
            {retries.map((id) => (
              <div key={id}>
                <RunLink id={id} />
              </div>
            ))}
          </Fact>
        )}
      </Facts>
    </Card>
  );
}

/** Of the function or of one of its steps, which are tried each for itself: the most that any had. */
function triesOf({ attempt, history }: RunWithHistory): number {
  return history.reduce((most, entry) => Math.max(most, entry.attempt ?? 0), attempt) + 1;
}

function RunLink({ id }: { id: string }) {
  return (
    <Link to="/runs/$id" params={{ id }} className={LINK}>
      <Id id={id} keep={15} />
    </Link>
  );
}
