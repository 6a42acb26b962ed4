import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { callApi } from '../../api/client.ts';
import { useHasAccess } from '../../api/current-user.ts';
import type { Limits } from '../../api/types.ts';
import { adminOnlyReason } from '../../ui/admin-only.tsx';
import { Button } from '../../ui/button.tsx';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { TextField } from '../../ui/field.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Card } from '../../ui/page.tsx';
import { useDeed } from '../../ui/use-action.ts';

const PATH = '/v1/account/limits';
const MAX_BYTES = 16 * 1_048_576;

export function InstallationLimits() {
  const { data, error, refetch } = useQuery({
    queryKey: ['limits'],
    queryFn: ({ signal }) => callApi<Limits>(PATH, { signal }),
  });
  return (
    <Card title="Limits of the account">
      <div className="p-4">
        {error && !data && <ErrorAlert error={error} onRetry={() => void refetch()} />}
        {!error && !data && <Loading rows={2} />}
        {data && <Form key={data.data.event_max_bytes} limits={data.data} />}
      </div>
    </Card>
  );
}

function Form({ limits: { event_max_bytes, default_event_max_bytes } }: { limits: Limits }) {
  const may = useHasAccess('admin');
  const [text, setText] = useState(event_max_bytes?.toString() ?? '');
  const save = useDeed({
    act: (bytes: number | null) => callApi<Limits>(PATH, { method: 'PUT', body: { event_max_bytes: bytes } }),
    told: 'The limit is changed',
    changes: 'limits',
    quietly: true,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate(text === '' ? null : Number(text));
  };
  return (
    <form onSubmit={submit} className="space-y-3">
      {save.error && <ErrorAlert error={save.error} />}
      <TextField
        label="Largest request, in bytes"
        hint={`Left empty: ${default_event_max_bytes.toLocaleString()}, as the setting EVENT_MAX_BYTES says. An event key may have a limit of its own.`}
        type="number"
        min={1}
        max={MAX_BYTES}
        placeholder={String(default_event_max_bytes)}
        value={text}
        disabled={!may}
        onChange={({ target }) => setText(target.value)}
      />
      <Button
        type="submit"
        busy={save.isPending}
        disabled={!may || text === (event_max_bytes?.toString() ?? '')}
        title={adminOnlyReason(may)}
      >
        Save
      </Button>
    </form>
  );
}
