/** Metrics by function, of functions with flow control. */
import { scopedFunction } from '../model/apps/scoped-function.ts';
import { DECISION_REASONS, type DecisionReason } from '../model/flow-control/decision.ts';
import { FunctionLabels, OTHER } from './function-labels.ts';
import type { MetricsRecorder } from './recorder.ts';
import type { MetricsRegistry, SeriesMetric } from './registry.ts';

const LABELS = ['environment', 'function'];
const STORED_REASONS: readonly DecisionReason[] = DECISION_REASONS.filter((reason) => reason !== 'expression_false');
/** Reasons that apply to any function. */
const ANY_FUNCTION_REASONS: ReadonlySet<DecisionReason> = new Set(['not_evaluated', 'paused', 'environment_archived']);

export interface FunctionBacklog {
  env: string;
  functionId: string;
  waiting: number;
}

type FunctionRecorder = Pick<MetricsRecorder, 'runSkipped' | 'startThrottled' | 'callInFlight'>;

export class FunctionMetrics {
  readonly #labels: FunctionLabels;
  readonly #skipped: SeriesMetric;
  readonly #throttled: SeriesMetric;
  readonly #backlog: SeriesMetric;
  /** undefined in web, which makes no calls. */
  readonly #callsInFlight: SeriesMetric | undefined;
  readonly #inFlight = new Map<string, FunctionBacklog>();

  constructor(registry: MetricsRegistry, role: 'web' | 'worker', labels = new FunctionLabels()) {
    this.#labels = labels;
    this.#skipped = registry.counterSeries(
      'runs_skipped_total',
      'Runs that flow control, a pause or a stopped expression prevented, or that another run stands for.',
      [...LABELS, 'reason'],
    );
    for (const reason of STORED_REASONS) this.#skipped.add([...OTHER, reason], 0);
    this.#throttled = registry.counterSeries(
      'function_starts_throttled_total',
      'Starts of runs that waited, of functions with a throttle.',
      LABELS,
    );
    this.#backlog = registry.gaugeSeries(
      'function_backlog',
      'Calls that wait for limits of their function.',
      LABELS,
      'max',
    );
    if (role === 'worker') {
      this.#callsInFlight = registry.gaugeSeries(
        'function_calls_in_flight',
        'Calls of functions with flow control that this worker waits for.',
        LABELS,
      );
    }
  }

  readonly recorder: FunctionRecorder = {
    runSkipped: (env, functionId, reason) => {
      const label = ANY_FUNCTION_REASONS.has(reason) ? OTHER : this.#labels.of(env, functionId);
      this.#skipped.add([...label, reason], 1);
    },
    startThrottled: (env, functionId) => this.#throttled.add(this.#labels.of(env, functionId), 1),
    callInFlight: (env, functionId, by) => {
      const key = scopedFunction(env, functionId);
      const waiting = (this.#inFlight.get(key)?.waiting ?? 0) + by;
      if (waiting > 0) this.#inFlight.set(key, { env, functionId, waiting });
      else this.#inFlight.delete(key);
      this.#labels.of(env, functionId);
    },
  };

  /** Called before each scrape.
   *  @param backlogs undefined while Redis is down */
  read(backlogs: readonly FunctionBacklog[] | undefined): void {
    this.#set(this.#callsInFlight, [...this.#inFlight.values()]);
    this.#set(this.#backlog, backlogs);
    for (const label of this.#labels.forgetIdle()) {
      for (const reason of STORED_REASONS) this.#skipped.remove([...label, reason]);
      for (const metric of [this.#throttled, this.#backlog, this.#callsInFlight]) metric?.remove(label);
    }
  }

  #set(metric: SeriesMetric | undefined, counts: readonly FunctionBacklog[] | undefined): void {
    metric?.clear();
    if (!metric || !counts) return;
    for (const { env, functionId, waiting } of counts) metric.add(this.#labels.of(env, functionId), waiting);
    for (const label of this.#labels.all()) metric.add(label, 0);
  }
}
