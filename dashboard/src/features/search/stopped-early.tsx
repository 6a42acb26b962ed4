import type { Stop } from '../../lib/stop.ts';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { absolute } from '../../ui/time.tsx';

interface StoppedEarlyProps {
  stop: Stop;
  /** The listed things: "events". */
  what: string;
  busy: boolean;
  /** The search has no pages: it can be repeated only. */
  isWhole?: boolean;
  onGoOn(): void;
}

/** Below a list that may be incomplete. */
export function StoppedEarlyNotice({ stop: { why, at }, what, busy, isWhole = false, onGoOn }: StoppedEarlyProps) {
  const isGoingOn = why === 'time' && !isWhole;
  return (
    <div
      role="status"
      className="mt-4 flex flex-wrap items-center gap-3 rounded-lg border border-line bg-surface px-4 py-3"
    >
      <Icon name={why === 'time' ? 'clock' : 'warning'} className="text-warn" />
      <p className="min-w-0 flex-1 basis-64 text-sm">
        {why === 'time' ? (
          <>
            {isWhole ? 'Stopped early' : 'Stopped after 5 s'}
            {at && <> at {<Moment at={at} />}</>}. Older {what} have not been searched{isWhole ? '.' : ' yet.'}
          </>
        ) : (
          <>
            The archive cannot be reached. This list has only the {what} that are still in Redis; older ones are not
            lost.
          </>
        )}
      </p>
      <Button icon={isGoingOn ? 'arrow-right' : 'retry'} busy={busy} onClick={onGoOn}>
        {isGoingOn ? 'Go on' : 'Try again'}
      </Button>
    </div>
  );
}

const format = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

function Moment({ at }: { at: string }) {
  const date = new Date(at);
  return (
    <time dateTime={at} title={absolute(date)} className="whitespace-nowrap">
      {format.format(date)}
    </time>
  );
}
