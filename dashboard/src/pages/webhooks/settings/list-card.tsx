import { type FormEvent, useState } from 'react';
import type { Webhook } from '../../../api/types.ts';
import { useUpdateWebhook } from '../../../features/webhooks/queries.ts';
import { Button } from '../../../ui/button.tsx';
import { Select, TextArea } from '../../../ui/field.tsx';
import { Card } from '../../../ui/page.tsx';
import { useTell } from '../../../ui/toast.tsx';

interface AccessListCardProps {
  webhook: Webhook;
  field: 'event_names' | 'ip_addresses';
  title: string;
  lead: string;
  placeholder: string;
  hint: string;
  mayWrite: boolean;
}

type Mode = 'all' | 'allow' | 'deny';

/** A list that lets in or keeps out. Without items there is no list: all is taken. */
export function AccessListCard({ webhook, field, title, lead, placeholder, hint, mayWrite }: AccessListCardProps) {
  const saved = webhook[field];
  const [mode, setMode] = useState<Mode>(saved?.mode ?? 'all');
  const [text, setText] = useState(saved?.items.join('\n') ?? '');
  const change = useUpdateWebhook(webhook.id);
  const tell = useTell();
  const items = text.split(/[\s,]+/).filter(Boolean);
  const list = mode === 'all' ? null : { mode, items };
  const changed = JSON.stringify(list) !== JSON.stringify(saved && { mode: saved.mode, items: saved.items });
  const save = (event: FormEvent) => {
    event.preventDefault();
    change.mutate({ [field]: list }, { onSuccess: () => tell.done(`${title}: saved.`) });
  };
  return (
    <Card title={title}>
      <form className="space-y-3 p-4" onSubmit={save}>
        <p className="text-muted">{lead}</p>
        <div className="max-w-xs">
          <Select
            label={`${title}: what is taken`}
            hideLabel
            value={mode}
            disabled={!mayWrite}
            onChange={({ target }) => setMode(target.value as Mode)}
          >
            <option value="all">All are taken</option>
            <option value="allow">Only those listed</option>
            <option value="deny">All but those listed</option>
          </Select>
        </div>
        {mode !== 'all' && (
          <TextArea
            label="List"
            hint={hint}
            placeholder={placeholder}
            spellCheck={false}
            value={text}
            disabled={!mayWrite}
            error={change.error?.message}
            onChange={({ target }) => setText(target.value)}
          />
        )}
        {changed && (
          <Button
            type="submit"
            variant="primary"
            busy={change.isPending}
            disabled={!mayWrite || list?.items.length === 0}
          >
            Save
          </Button>
        )}
      </form>
    </Card>
  );
}
