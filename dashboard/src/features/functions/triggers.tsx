import { Link } from '@tanstack/react-router';
import type { FunctionDetails, FunctionSummary } from '../../api/types.ts';
import { Icon } from '../../ui/icon.tsx';
import { Schedule } from './schedule.tsx';

type Trigger = FunctionSummary['triggers'][number];

/** All triggers with their whole conditions. The list of functions omits very large ones. */
export function TriggerSummary({ triggers = [] }: { triggers?: readonly Trigger[] | undefined }) {
  return (
    <ul className="font-mono text-xs break-words text-muted">
      {triggers.map((trigger) => (
        <li key={JSON.stringify(trigger)}>
          <span className="text-text">{trigger.event ?? trigger.cron ?? (trigger.webhook ? 'webhook' : '')}</span>
          {trigger.expression && ` if ${trigger.expression}`}
        </li>
      ))}
    </ul>
  );
}

/** Each trigger with its expression, or with its next run. */
export function TriggerList({ triggers }: { triggers: FunctionDetails['triggers'] }) {
  return (
    <ul className="divide-y divide-line">
      {triggers.map((trigger) => (
        <li key={JSON.stringify(trigger)} className="flex items-start gap-3 px-4 py-3">
          <Icon name={trigger.cron ? 'clock' : 'zap'} className="mt-0.5 text-muted" />
          <div className="min-w-0">
            <TriggerName trigger={trigger} />
            {trigger.expression && <Condition expression={trigger.expression} />}
            {trigger.cron && <Schedule trigger={trigger} />}
          </div>
        </li>
      ))}
    </ul>
  );
}

function TriggerName({ trigger: { event, webhook, cron } }: { trigger: Trigger }) {
  if (webhook) {
    return (
      <Link to="/webhooks/$id" params={{ id: webhook }} className="text-sm hover:text-accent hover:underline">
        All events of a webhook
      </Link>
    );
  }
  if (!event) return <code className="font-mono text-sm">{cron}</code>;
  return (
    <Link
      to="/events"
      search={{ name: event }}
      title={event.endsWith('*') ? 'Events whose names begin so' : 'Events with this name'}
      className="font-mono text-sm break-all hover:text-accent hover:underline"
    >
      {event}
    </Link>
  );
}

export function Condition({ expression }: { expression: string }) {
  return (
    <p className="mt-1 text-sm break-words text-muted">
      if <code className="font-mono text-xs text-text">{expression}</code>
    </p>
  );
}
