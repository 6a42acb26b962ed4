import { getRouteApi } from '@tanstack/react-router';
import { useHasAccess } from '../../api/current-user.ts';
import type { Replay } from '../../api/types.ts';
import { OperationProgress } from '../../ui/bulk-operations/operation-progress.tsx';
import { OperationStatus } from '../../ui/bulk-operations/operation-status.tsx';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Card, DescriptionItem, DescriptionList, Page } from '../../ui/page.tsx';
import { duration, Time } from '../../ui/time.tsx';
import { ReplayActions } from './actions.tsx';
import { Counts } from './dry-run-result.tsx';
import { useReplay } from './queries.ts';
import { Results } from './results.tsx';
import { filterText, formerStatusText, functionsText, shareDone, waitsFor } from './texts.ts';

const route = getRouteApi('/replays/$id');

export default function ReplayPage() {
  const { id } = route.useParams();
  const canWrite = useHasAccess('write');
  const { data: replay, error, refetch } = useReplay(id);
  if (!replay) {
    return (
      <Page title="Replay" description={<span className="font-mono text-xs break-all">{id}</span>}>
        {error ? <ErrorAlert error={error} onRetry={() => void refetch()} /> : <Loading rows={8} />}
      </Page>
    );
  }
  return (
    <Page
      title={replay.name ?? 'Replay'}
      description={<span className="break-words">{filterText(replay)}</span>}
      actions={canWrite && <ReplayActions replay={replay} />}
    >
      <div className="space-y-6">
        <Progress replay={replay} />
        <Selection replay={replay} />
        <Results key={id} replay={replay} />
      </div>
    </Page>
  );
}

function Progress({ replay }: { replay: Replay }) {
  const { status, progress, runs } = replay;
  const { looked_at, matched, started, skipped, failed_to_start, estimated_seconds_left: secondsLeft } = progress;
  return (
    <Card title="Progress">
      <div className="px-4 pt-4">
        <OperationProgress label="Progress" share={shareDone(replay)} waits={waitsFor(replay)} />
      </div>
      <DescriptionList>
        <DescriptionItem term="Status">
          <OperationStatus status={status} waits={waitsFor(replay)} />
        </DescriptionItem>
        <DescriptionItem term="Events">
          {matched.toLocaleString()} of {looked_at.toLocaleString()} match
        </DescriptionItem>
        <DescriptionItem term="Runs started">{started.toLocaleString()}</DescriptionItem>
        <DescriptionItem term="Time left">
          {secondsLeft === null ? '–' : `about ${duration(secondsLeft * 1_000)}`}
        </DescriptionItem>
        <DescriptionItem term="Active">{runs.active.toLocaleString()}</DescriptionItem>
        <DescriptionItem term="Completed">{runs.completed.toLocaleString()}</DescriptionItem>
        <DescriptionItem term="Failed">{runs.failed.toLocaleString()}</DescriptionItem>
        <DescriptionItem term="Cancelled">{runs.cancelled.toLocaleString()}</DescriptionItem>
      </DescriptionList>
      <div className="space-y-3 px-4 pb-4 empty:hidden">
        <Counts title="Skipped" counts={skipped} />
        <Counts title="Could not start" counts={failed_to_start} />
      </div>
    </Card>
  );
}

function Selection({ replay }: { replay: Replay }) {
  const { received_after, received_before, statuses, rate, created_at, done_at } = replay;
  return (
    <Card title="Selection">
      <DescriptionList>
        <DescriptionItem term="Received">
          <Time at={received_after} /> to <Time at={received_before} />
        </DescriptionItem>
        <DescriptionItem term="Functions">{functionsText(replay)}</DescriptionItem>
        <DescriptionItem term="Former run">{statuses.map(formerStatusText).join(', ')}</DescriptionItem>
        <DescriptionItem term="Rate">{rate} runs per second</DescriptionItem>
        <DescriptionItem term="Created">
          <Time at={created_at} />
        </DescriptionItem>
        <DescriptionItem term="Done">
          <Time at={done_at} />
        </DescriptionItem>
      </DescriptionList>
    </Card>
  );
}
