import { Fragment } from 'react';
import { Card } from '../../ui/page.tsx';
import { flowControlOf } from './flow-control-text.ts';

/** The flow control that the app configured, in words. */
export function FlowControl({ configuration }: { configuration: Record<string, unknown> }) {
  const rules = flowControlOf(configuration);
  if (rules.length === 0) return null;
  return (
    <Card title="Flow control">
      <dl className="divide-y divide-line">
        {rules.map(({ name, text }) => (
          <div key={`${name} ${text.join('')}`} className="px-4 py-3">
            <dt className="text-xs text-muted">{name}</dt>
            <dd className="mt-0.5 break-words">
              {text.map((part, i) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a sentence do not move
                <Fragment key={i}>
                  {i % 2 === 0 ? part : <code className="font-mono text-xs break-all">{part}</code>}
                </Fragment>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </Card>
  );
}
