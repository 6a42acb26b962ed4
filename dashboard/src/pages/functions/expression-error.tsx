import type { FunctionSummary } from '../../api/types.ts';
import { Condition } from '../../features/functions/triggers.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Time } from '../../ui/time.tsx';

/** Errors of the function's expressions. The affected events neither triggered the function nor ended its waits. */
export function ExpressionError({ problem }: { problem: NonNullable<FunctionSummary['expression_problem']> }) {
  const { message, events, at, expression } = problem;
  return (
    <div role="status" className="flex items-start gap-3 rounded-lg border border-warn/40 bg-warn-soft p-4 text-text">
      <Icon name="warning" className="mt-0.5 text-warn" />
      <div className="min-w-0 flex-1">
        <p className="break-words">
          An expression of this function failed for{' '}
          {events === 1 ? '1 event' : `${events.toLocaleString('en-US')} events`}: {message}. Last failure{' '}
          <Time at={at} />.
        </p>
        <Condition expression={expression} />
      </div>
    </div>
  );
}
