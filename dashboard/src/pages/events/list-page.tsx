import { useNavigate } from '@tanstack/react-router';
import { useCallback, useState } from 'react';
import { useHasAccess } from '../../api/current-user.ts';
import { useEnv } from '../../api/environment.ts';
import { TextResults } from '../../features/search/text-results.tsx';
import { isExpression } from '../../lib/is-expression.ts';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Page } from '../../ui/page.tsx';
import { useWebhooks } from './event-source.tsx';
import { type Filters, useFilters, useListQuery, useTimeRange } from './filters.ts';
import { EventList } from './list/event-list.tsx';
import { FilterBar } from './list/filter-bar.tsx';
import { Histogram } from './list/histogram.tsx';
import { useEventRows } from './list/use-event-rows.ts';
import { useLiveEvents } from './list/use-live-events.ts';
import { SendDialog } from './send/send-dialog.tsx';

const EXAMPLE = { name: 'hello/world', data: {} };

export default function EventsPage() {
  const env = useEnv();
  const filters = useFilters();
  const range = useTimeRange(filters);
  const navigate = useNavigate({ from: '/events' });
  const webhooks = useWebhooks(env);
  const canWrite = useHasAccess('write');
  const [sending, setSending] = useState(false);
  const query = useListQuery(filters, range);
  const isText = filters.q !== undefined && !isExpression(filters.q);
  const events = useEventRows(env, query, !isText);
  // A live update does not tell whether an event meets a search.
  const ended = range.before !== undefined || filters.id !== undefined || filters.q !== undefined;
  const { unseen, show } = useLiveEvents({ filters, ended, ...events });
  const change = useCallback(
    (to: Partial<Record<keyof Filters, unknown>>) =>
      void navigate({ search: (before) => ({ ...before, ...to }) as never, replace: true, resetScroll: false }),
    [navigate],
  );
  const showNew = () => {
    if (filters.paused) change({ paused: undefined });
    show();
  };
  const replay = () => {
    const { q, name, source } = filters;
    const isoTime = (ms: number | undefined) => (ms === undefined ? undefined : new Date(ms).toISOString());
    const search = { new: true as const, q, name, source, from: isoTime(range.after), to: isoTime(range.before) };
    void navigate({ to: '/replays', search: search as never });
  };
  const paused = filters.paused === true;
  return (
    <Page
      title="Events"
      actions={
        <>
          {query.search !== undefined && (
            <Button icon="retry" busy={events.list.isFetching} onClick={() => void events.list.refetch()}>
              Refresh
            </Button>
          )}
          {!ended && (
            <Button
              icon={paused ? 'play' : 'pause'}
              aria-pressed={paused}
              onClick={() => (paused ? showNew() : change({ paused: true }))}
            >
              {paused ? 'Resume' : 'Pause'}
            </Button>
          )}
          <Button
            icon="replay"
            disabled={!canWrite || isText || filters.id !== undefined}
            title={canWrite ? 'Run functions again on the events that the filters select' : 'Requires write access'}
            onClick={replay}
          >
            Replay these
          </Button>
          <Button
            icon="send"
            disabled={!canWrite}
            title={canWrite ? undefined : 'Requires write access'}
            onClick={() => setSending(true)}
          >
            Send event
          </Button>
        </>
      }
    >
      <FilterBar env={env} filters={filters} webhooks={webhooks} error={events.list.error} onChange={change} />
      {filters.id === undefined && !isText && (
        <Histogram
          env={env}
          filters={filters}
          range={range}
          onSelectRange={(from, to) => change({ from: new Date(from).toISOString(), to: new Date(to).toISOString() })}
        />
      )}
      <NewEventsButton count={unseen} onShow={showNew} />
      {isText ? (
        <TextResults env={env} text={filters.q as string} />
      ) : (
        <EventList filters={filters} webhooks={webhooks} events={events} />
      )}
      <SendDialog title="Send event" open={sending} event={EXAMPLE} onClose={() => setSending(false)} />
    </Page>
  );
}

/** Sticky, so that it is visible below the top of the list. */
function NewEventsButton({ count, onShow }: { count: number; onShow(): void }) {
  return (
    <div role="status" className="pointer-events-none sticky top-12 z-20 flex h-0 justify-center">
      {count > 0 && (
        <button
          type="button"
          onClick={onShow}
          className="pointer-events-auto inline-flex h-8 items-center gap-1.5 rounded-full bg-accent px-4 text-sm font-medium whitespace-nowrap text-accent-text shadow-lg hover:brightness-110"
        >
          <Icon name="arrow-up" />
          {count.toLocaleString()} new
        </button>
      )}
    </div>
  );
}
