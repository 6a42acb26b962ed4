import { useNavigate } from '@tanstack/react-router';
import { useCallback, useMemo, useState } from 'react';
import { useHasAccess } from '../../api/current-user.ts';
import { useEnv } from '../../api/environment.ts';
import { useFunctions } from '../../features/functions/queries.ts';
import { ColumnsMenu } from '../../features/lists/columns-menu.tsx';
import { useDensity, useListView } from '../../features/lists/list-preferences.ts';
import { NewRowsButton } from '../../features/lists/new-rows-button.tsx';
import { SavedViewsMenu } from '../../features/lists/saved-views-menu.tsx';
import { TextResults } from '../../features/search/text-results.tsx';
import { isExpression } from '../../lib/is-expression.ts';
import { useIsWideScreen } from '../../lib/use-wide-screen.ts';
import { Button } from '../../ui/button.tsx';
import { Checkbox } from '../../ui/checkbox.tsx';
import { Page } from '../../ui/page.tsx';
import { useEventKeyNames, useWebhooks } from './event-source.tsx';
import { type Filters, useFilters, useListQuery, useTimeRange, withDefaultSource } from './filters.ts';
import { columnsOf } from './list/columns.tsx';
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
  const applied = withDefaultSource(filters);
  const range = useTimeRange(filters);
  const navigate = useNavigate({ from: '/events' });
  const webhooks = useWebhooks(env);
  const keys = useEventKeyNames();
  const canWrite = useHasAccess('write');
  const [sending, setSending] = useState(false);
  const query = useListQuery(applied, range);
  const isText = filters.q !== undefined && !isExpression(filters.q);
  const events = useEventRows(env, query, !isText);
  // A live update does not tell whether an event meets a search.
  const ended = range.before !== undefined || filters.id !== undefined || filters.q !== undefined;
  const { unseen, more, show } = useLiveEvents({ filters: applied, ended, loaded: events.list.isSuccess, ...events });
  const compact = useDensity('events') === 'compact';
  const wide = useIsWideScreen();
  const { functions } = useFunctions();
  const columns = useMemo(() => {
    const byId = new Map(functions?.map((fn) => [fn.id, fn]));
    return columnsOf({ webhooks, keys, functions: byId }, compact, wide);
  }, [webhooks, keys, functions, compact, wide]);
  const view = useListView('events', columns);
  const change = useCallback(
    (to: Partial<Record<keyof Filters, unknown>>, replace = false) =>
      void navigate({ search: (before) => ({ ...before, ...to }) as never, replace, resetScroll: false }),
    [navigate],
  );
  const showNew = () => {
    if (filters.paused) change({ paused: undefined });
    show();
  };
  const replay = () => {
    const { q, name, source } = applied;
    const isoTime = (ms: number | undefined) => (ms === undefined ? undefined : new Date(ms).toISOString());
    const search = { new: true as const, q, name, source, from: isoTime(range.after), to: isoTime(range.before) };
    void navigate({ to: '/replays', search: search as never });
  };
  const paused = filters.paused === true;
  return (
    <Page
      title="Events"
      dense
      actions={
        <>
          {filters.source === undefined && filters.name === undefined && filters.id === undefined && (
            <Checkbox checked={filters.all === true} onChange={(all) => change({ all: all || undefined })}>
              Events of schedules and failures
            </Checkbox>
          )}
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
          <SavedViewsMenu list="events" params={view.params} />
          <ColumnsMenu view={view} />
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
      <NewRowsButton count={unseen} more={more} what="event" onShow={showNew} />
      {isText ? (
        <TextResults env={env} text={filters.q as string} />
      ) : (
        <EventList filters={filters} view={view} events={events} />
      )}
      <SendDialog title="Send event" open={sending} event={EXAMPLE} onClose={() => setSending(false)} />
    </Page>
  );
}
