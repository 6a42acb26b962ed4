import { type FormEvent, useState } from 'react';
import type { Webhook } from '../../../api/types.ts';
import { useUpdateWebhook } from '../../../features/webhooks/queries.ts';
import { Button } from '../../../ui/button.tsx';
import { Select, TextArea } from '../../../ui/field.tsx';
import { Card } from '../../../ui/page.tsx';
import { toast } from '../../../ui/toast.tsx';

interface AccessListCardProps {
  webhook: Webhook;
  field: 'event_names' | 'ip_addresses';
  title: string;
  description: string;
  placeholder: string;
  hint: string;
  canWrite: boolean;
}

type Mode = 'all' | 'allow' | 'deny';

/** An allow list or deny list; without items everything is allowed. */
export function AccessListCard({
  webhook,
  field,
  title,
  description,
  placeholder,
  hint,
  canWrite,
}: AccessListCardProps) {
  const saved = webhook[field];
  const [mode, setMode] = useState<Mode>(saved?.mode ?? 'all');
  const [text, setText] = useState(saved?.items.join('\n') ?? '');
  const change = useUpdateWebhook(webhook.id);
  const items = text.split(/[\s,]+/).filter(Boolean);
  const list = mode === 'all' ? null : { mode, items };
  const changed = JSON.stringify(list) !== JSON.stringify(saved && { mode: saved.mode, items: saved.items });
  const save = (event: FormEvent) => {
    event.preventDefault();
    change.mutate({ [field]: list }, { onSuccess: () => toast.success(`${title} saved`) });
  };
  return (
    <Card title={title}>
      <form className="space-y-3 p-4" onSubmit={save}>
        <p className="text-muted">{description}</p>
        <div className="max-w-xs">
          <Select
            label={`${title}: mode`}
            hideLabel
            value={mode}
            disabled={!canWrite}
            onChange={({ target }) => setMode(target.value as Mode)}
          >
            <option value="all">Allow all</option>
            <option value="allow">Allow listed</option>
            <option value="deny">Deny listed</option>
          </Select>
        </div>
        {mode !== 'all' && (
          <TextArea
            label="List"
            hint={hint}
            placeholder={placeholder}
            spellCheck={false}
            value={text}
            disabled={!canWrite}
            error={change.error?.message}
            onChange={({ target }) => setText(target.value)}
          />
        )}
        {changed && (
          <Button
            type="submit"
            variant="primary"
            busy={change.isPending}
            disabled={!canWrite || list?.items.length === 0}
          >
            Save
          </Button>
        )}
      </form>
    </Card>
  );
}
