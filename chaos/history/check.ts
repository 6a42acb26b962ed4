/** Checks a history against the model: a row of the results for each property. */
import type { Count } from '../results.ts';
import type { History } from './history.ts';
import type { Model } from './model.ts';
import { checkBatches } from './properties/batches.ts';
import { checkCancellations } from './properties/cancellations.ts';
import { checkCompletion } from './properties/completion.ts';
import { checkConcurrency } from './properties/concurrency.ts';
import { checkDebounce } from './properties/debounce.ts';
import { checkDeduplication } from './properties/deduplication.ts';
import { checkOrder } from './properties/order.ts';
import { checkPauses } from './properties/pauses.ts';
import { checkRateLimit } from './properties/rate-limit.ts';
import { findRepeats, type Repeats } from './properties/repeats.ts';
import { checkReplays } from './properties/replays.ts';
import { checkSingleton } from './properties/singleton.ts';
import { checkThrottle } from './properties/throttle.ts';
import { checkTicks } from './properties/ticks.ts';
import { checkWaits } from './properties/waits.ts';
import { describe, type Violation } from './violation.ts';

export interface Checked {
  counts: Count[];
  repeats: Repeats;
}

export function checkHistory(history: History, model: Model): Checked {
  const { lost, missing, doubled, stuck, failed } = checkCompletion(history, model.expectations);
  const repeats = findRepeats(history, model.repeats);
  const each = <Part>(parts: readonly Part[], check: (history: History, part: Part) => Violation[]) =>
    parts.flatMap((part) => check(history, part));
  const violations: Record<string, Violation[]> = {
    'acknowledged events lost': lost,
    'runs missing': missing,
    'runs duplicated': doubled,
    'runs stuck': stuck,
    'runs failed unexpectedly': failed,
    'IDs stored twice, or with two runs of a function': checkDeduplication(history),
    'finished steps that ran again': repeats.afterFinished,
    'steps that ran again without a crash': repeats.unexcused,
    'calls beyond a concurrency limit': each(model.concurrency, checkConcurrency),
    'starts beyond a throttle': each(model.throttles, checkThrottle),
    'runs beyond a rate limit, or skipped before it': each(model.rateLimits, checkRateLimit),
    'singletons with two active runs': each(model.singletons, checkSingleton),
    'runs of a lane out of order': each(model.ordered, checkOrder),
    'debounced events without a run, or run too early': each(model.debounces, checkDebounce),
    'batches too large, or of several keys': each(model.batches, checkBatches),
    'runs started while their function was paused': each(model.held, checkPauses),
    'cancelled runs that went on': checkCancellations(history),
    'waits that missed their event, or ended without it': each(model.waits, checkWaits),
    'ticks run twice, early or not at all': each(model.schedules, checkTicks),
    'replays that repeated or miscounted a run': checkReplays(history),
  };
  const counts = Object.entries(violations).map(([name, found]) => ({
    ...{ name, most: 0, figure: found.length, findings: found.map(describe) },
  }));
  return { counts, repeats };
}
