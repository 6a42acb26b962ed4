/** The request of a call that a case describes. */
import { only } from '../../../../test/conformance/cases.ts';
import { hashStepId } from '../../src/steps/ids.ts';
import { PATH, type RequestCase } from './wire.ts';

export interface CallCase {
  event?: object;
  steps?: Record<string, unknown>;
  stack?: string[];
  attempt?: number;
  max_attempts?: number;
  step_id?: string;
  run_id?: string;
  rerun_of?: string[];
  disable_immediate_execution?: boolean;
  qi_id?: string;
  fn_id?: string;
  /** For the topic `logs`. */
  logs?: boolean;
}

const EVENT = { name: 'order/paid', data: { total: 3 }, id: 'evt-1', ts: 1_767_225_600_000 };
export function requestOf({
  event = EVENT,
  steps = {},
  stack = Object.keys(steps),
  step_id,
  ...ctx
}: CallCase): RequestCase {
  only(ctx, ['attempt', 'max_attempts', 'run_id', 'rerun_of', 'disable_immediate_execution', 'qi_id', 'fn_id', 'logs']);
  const stepId = step_id === undefined ? 'step' : hashStepId(step_id);
  const memos = Object.entries(steps).map(([name, memo]) => [hashStepId(name), memo]);
  return {
    method: 'POST',
    path: `${PATH}?fnId=shop-fn&stepId=${stepId}`,
    headers: { 'content-type': 'application/json' },
    body: {
      event,
      events: [event],
      steps: Object.fromEntries(memos),
      ctx: {
        run_id: '01HQZX8K2D3F4G5H6J7K8M9N0P',
        attempt: 0,
        max_attempts: 5,
        disable_immediate_execution: false,
        ...ctx,
        stack: { stack: stack.map(hashStepId), current: stack.length },
        step_id: stepId,
        use_api: false,
      },
      use_api: false,
      version: -1,
    },
  };
}
