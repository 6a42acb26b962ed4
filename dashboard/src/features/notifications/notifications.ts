/** Browser notifications of failed runs, held events and new issues, if the user has asked for them. One tab shows them for all; it stays
 *  connected while it is hidden. */
import { useEffect, useRef, useState } from 'react';
import { PRODUCTION } from '../../api/client.ts';
import { useEnv } from '../../api/environment.ts';
import { keepOpenWhenHidden, useLiveUpdates } from '../../api/live-updates.ts';
import { noActivity, summaryOf } from './summary.ts';

/** Between two notifications. */
const PAUSE_MS = 10_000;
const LOCK = 'tidegate-notifications';

/** Shows nothing in the page. Rendered while notifications are on, once per environment. */
export default function Notifications(): null {
  const env = useEnv();
  const isChosen = useLock();
  const activity = useRef(noActivity());
  useEffect(() => (isChosen ? keepOpenWhenHidden(env) : undefined), [isChosen, env]);
  useEffect(() => {
    const timer = setInterval(() => {
      // A visible page shows it already.
      if (isChosen && !document.hasFocus()) show(activity.current, env);
      activity.current = noActivity();
    }, PAUSE_MS);
    return () => clearInterval(timer);
  }, [isChosen, env]);
  // Collected before this tab has the lock, too: what happens while it asks for it is shown.
  useLiveUpdates('runs', ({ runs }) => {
    for (const { run_id, function_id, status } of runs) {
      if (status === 'Failed') activity.current.failedRuns.set(run_id, function_id);
    }
  });
  useLiveUpdates('held-events', ({ count }) => {
    activity.current.heldEvents += count;
  });
  useLiveUpdates('webhook-issues', ({ issues }) => {
    activity.current.newIssues += issues.filter(({ state }) => state === 'open').length;
  });
  return null;
}

function show(activity: ReturnType<typeof noActivity>, env: string): void {
  const summary = summaryOf(activity);
  if (!summary) return;
  const { text, path } = summary;
  const notification = new Notification('Tidegate', { body: env === PRODUCTION ? text : `${env}: ${text}`, tag: LOCK });
  notification.onclick = () => {
    window.focus();
    const separator = path.includes('?') ? '&' : '?';
    window.location.assign(env === PRODUCTION ? path : `${path}${separator}env=${encodeURIComponent(env)}`);
  };
}

/** Whether this tab holds the lock that only one tab can hold. */
function useLock(): boolean {
  const [isHeld, setIsHeld] = useState(false);
  useEffect(() => {
    const waiting = new AbortController();
    let release = () => {};
    const held = () =>
      new Promise<void>((resolve) => {
        setIsHeld(true);
        release = resolve;
      });
    navigator.locks.request(LOCK, { signal: waiting.signal }, held).catch(() => {});
    return () => {
      setIsHeld(false);
      waiting.abort();
      release();
    };
  }, []);
  return isHeld;
}
