import type { FunctionSummary } from '../../api/types.ts';
import { Badge } from '../../ui/status-badge.tsx';
import { absolute } from '../../ui/time.tsx';

/** Whether events trigger the function. */
export function FunctionStatus({
  fn: { paused_at, expression_problem, problems, archived },
}: {
  fn: Pick<FunctionSummary, 'paused_at' | 'expression_problem' | 'problems' | 'archived'>;
}) {
  if (archived) {
    return (
      <Badge tone="neutral" icon="box" title="Its app no longer registers it; events do not trigger it">
        Archived
      </Badge>
    );
  }
  if (paused_at !== null) {
    return (
      <Badge tone="warn" icon="pause" title={`Since ${absolute(new Date(paused_at))}`}>
        Paused
      </Badge>
    );
  }
  if (expression_problem !== null) {
    return (
      <Badge tone="warn" icon="warning" title={expression_problem.message}>
        Expression errors
      </Badge>
    );
  }
  if (problems.length > 0) {
    return (
      <Badge tone="warn" icon="warning" title={problems.join('\n')}>
        Problems
      </Badge>
    );
  }
  return (
    <Badge tone="good" icon="check">
      Active
    </Badge>
  );
}
