import type { SearchKind } from '../../../../src/model/search/syntax.ts';
import { Popover } from '../../ui/popover.tsx';

const EVENT_EXAMPLES = [
  ['data.customer.id == "c_1"', 'a value of the payload'],
  ['name.startsWith("order/") && data.total > 100', 'two conditions'],
  ['source.startsWith("webhook:") || has(data.coupon)', 'one of two conditions'],
  ['name in ["order/paid", "order/refunded"]', 'one of several values'],
] as const;
const RUN_EXAMPLES = [
  ['event.data.customer.id == "c_1"', 'a value of the payload'],
  ['status == "Failed" && function_id.startsWith("shop-")', 'two conditions'],
  ['event.name == "order/paid" && event.data.total > 100', 'runs of an event'],
  ['error.contains("card")', 'a text in the error'],
] as const;

/** Examples of searches, which apply on a click. */
export function SearchHelp({ of, onUse }: { of: SearchKind; onUse(example: string): void }) {
  const examples = of === 'runs' ? RUN_EXAMPLES : EVENT_EXAMPLES;
  return (
    <Popover label="Search help" icon="help" iconOnly wide>
      {(close) => (
        <>
          <p>
            An expression searches payloads and completes fields, names and values. Any other text is looked for in IDs,
            names, functions and errors.
          </p>
          <ul className="mt-2 grid gap-1">
            {examples.map(([example, what]) => (
              <li key={example}>
                <button
                  type="button"
                  className="w-full rounded-md px-2 py-1 text-left hover:bg-sunken"
                  onClick={() => {
                    onUse(example);
                    close();
                  }}
                >
                  <span className="block font-mono text-xs break-all">{example}</span>
                  <span className="block text-xs text-muted">{what}</span>
                </button>
              </li>
            ))}
          </ul>
          <p className="mt-2 text-xs text-muted">
            Enter searches, Tab takes a completion, Escape closes the list of them.
          </p>
        </>
      )}
    </Popover>
  );
}
