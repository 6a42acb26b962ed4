import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { callApi } from '../../api/client.ts';
import type { Limits } from '../../api/types.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { TextField } from '../../ui/field.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Card } from '../../ui/page.tsx';
import { useAction } from '../../ui/use-action.ts';

const PATH = '/v1/account/limits';
const MAX_BYTES = 16 * 1_048_576;

export function InstallationLimits() {
  const { data, error, refetch } = useQuery({
    queryKey: ['limits'],
    queryFn: ({ signal }) => callApi<Limits>(PATH, { signal }),
  });
  return (
    <Card title="Installation limits">
      <div className="p-4">
        {error && !data && <ErrorAlert error={error} onRetry={() => void refetch()} />}
        {!error && !data && <Loading rows={2} />}
        {data && <Form key={data.data.event_max_bytes} limits={data.data} />}
      </div>
    </Card>
  );
}

function Form({ limits: { event_max_bytes, default_event_max_bytes } }: { limits: Limits }) {
  const [text, setText] = useState(event_max_bytes?.toString() ?? '');
  const save = useAction({
    run: (bytes: number | null) => callApi<Limits>(PATH, { method: 'PATCH', body: { event_max_bytes: bytes } }),
    successMessage: 'Limit saved',
    invalidates: 'limits',
    showsError: true,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate(text === '' ? null : Number(text));
  };
  return (
    <form onSubmit={submit} className="space-y-3">
      {save.error && <ErrorAlert error={save.error} />}
      <TextField
        label="Maximum request size (bytes)"
        hint={`Default: ${default_event_max_bytes.toLocaleString()} (EVENT_MAX_BYTES). Environments and event keys can have their own.`}
        type="number"
        min={1}
        max={MAX_BYTES}
        placeholder={String(default_event_max_bytes)}
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      <Button type="submit" busy={save.isPending} disabled={text === (event_max_bytes?.toString() ?? '')}>
        Save
      </Button>
    </form>
  );
}
