import { Link } from '@tanstack/react-router';
import { useId, useState } from 'react';
import { ApiError } from '../../../api/client.ts';
import type { Webhook } from '../../../api/types.ts';
import { useDropped, useRequest, useRequests, useUpdateWebhook } from '../../../features/webhooks/queries.ts';
import { Button } from '../../../ui/button.tsx';
import { ErrorAlert } from '../../../ui/error-alert.tsx';
import { ExpressionField } from '../../../ui/expression-field.tsx';
import { Card } from '../../../ui/page.tsx';
import { toast } from '../../../ui/toast.tsx';
import { sampleOfRequest } from '../workbench/sample.ts';
import { TryButton } from '../workbench/try-dialog.tsx';
import { completeFilter } from './filter-completions.ts';

/** Which requests make events. */
export function FilterCard({ webhook, canWrite }: { webhook: Webhook; canWrite: boolean }) {
  const saved = webhook.filter ?? '';
  const [text, setText] = useState(saved);
  const [base, setBase] = useState(saved);
  const [isUsed, setIsUsed] = useState(false);
  const change = useUpdateWebhook(webhook.id);
  const latest = useRequests(webhook.id).rows?.find(({ body_bytes }) => body_bytes !== null);
  const request = useRequest(webhook.id, isUsed ? latest?.id : undefined).data;
  const errorId = useId();
  // A filter saved by another user is loaded unless this filter is being edited.
  if (saved !== base) {
    setBase(saved);
    if (text === base) setText(saved);
  }
  const save = () => {
    if (!canWrite || text.trim() === saved) return;
    change.mutate(
      { filter: text.trim() || null },
      { onSuccess: () => toast.success(text.trim() ? 'Filter saved' : 'Filter removed') },
    );
  };
  const refused = refusalOf(change.error, text);
  return (
    <Card title="Filter">
      <div className="space-y-3 p-4">
        <p className="text-muted">
          Only requests that meet this expression make events; the provider gets a 200 response for others. It has{' '}
          <code className="font-mono text-xs">body</code>, <code className="font-mono text-xs">headers</code> (names in
          lower case), <code className="font-mono text-xs">query</code> and{' '}
          <code className="font-mono text-xs">method</code>.
        </p>
        {canWrite ? (
          <ExpressionField
            label="Filter"
            value={text}
            placeholder={'body.type.startsWith("invoice.")'}
            onUse={() => setIsUsed(true)}
            onChange={(value) => {
              change.reset();
              setText(value);
            }}
            onSubmit={save}
            complete={(before) => completeFilter(request && sampleOfRequest(request), before)}
            error={refused}
            describedBy={refused && errorId}
          />
        ) : (
          <code className="block font-mono text-sm break-all">{saved || 'none'}</code>
        )}
        {refused && (
          <p id={errorId} role="alert" className="text-sm break-words text-bad">
            {refused.message}
          </p>
        )}
        {change.error && !refused && <ErrorAlert error={change.error} />}
        {canWrite && text.trim() !== saved && (
          <div className="flex flex-wrap gap-2">
            <TryButton
              webhook={webhook}
              drafts={{ draft_filter: text.trim() || null }}
              saving={change.isPending}
              onSave={save}
            />
            <Button variant="primary" busy={change.isPending} onClick={save}>
              Save filter
            </Button>
          </div>
        )}
        <Dropped webhook={webhook} />
      </div>
    </Card>
  );
}

/** Requests in the log that the filter dropped. */
function Dropped({ webhook }: { webhook: Webhook }) {
  const { data } = useDropped(webhook.id);
  if (!data || (webhook.filter === null && data.count === 0)) return null;
  const { count, isExact } = data;
  return (
    <p role="status" className="text-sm">
      {isExact ? '' : 'More than '}
      {count.toLocaleString()} {count === 1 ? 'request' : 'requests'} of the log dropped.{' '}
      {count > 0 && (
        <Link
          to="."
          search={(before: object) => ({ ...before, tab: 'requests', outcome: 'filtered' }) as never}
          className="text-accent underline"
        >
          Show them
        </Link>
      )}
    </p>
  );
}

const BEFORE_REASON = /^.*?expected a CEL expression: /s;
const NAMED = /^(?:Unknown variable|Unexpected character|Unexpected token): (\S+)/;

/** Why the API refuses the filter, and where if it says so: else at its end. undefined: it does not. */
function refusalOf(error: Error | null, text: string): { at: number; message: string } | undefined {
  if (!(error instanceof ApiError) || error.details.field !== 'filter') return undefined;
  const message = error.message.replace(BEFORE_REASON, '');
  const [, named = ''] = NAMED.exec(message) ?? [];
  const at = named === '' ? -1 : text.indexOf(named);
  return { at: at === -1 ? text.length : at, message };
}
