import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { callApi } from '../../api/client.ts';
import type { Environment, Limits } from '../../api/types.ts';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { useAction } from '../../ui/use-action.ts';

/** Opens the form of the largest request and the retention. */
export function LimitsButton({ of: environment }: { of: Environment }) {
  const [editing, setEditing] = useState(false);
  return (
    <>
      <Button aria-label={`Limits of ${environment.name}`} onClick={() => setEditing(true)}>
        Limits
      </Button>
      {editing && <LimitForm environment={environment} onClose={() => setEditing(false)} />}
    </>
  );
}

function LimitForm({ environment, onClose }: { environment: Environment; onClose(): void }) {
  const { name, event_max_bytes, retention_days } = environment;
  const [text, setText] = useState(event_max_bytes?.toString() ?? '');
  const [days, setDays] = useState(retention_days?.toString() ?? '');
  const { data } = useQuery({
    queryKey: ['limits'],
    queryFn: ({ signal }) => callApi<Limits>('/v1/account/limits', { signal }),
  });
  const wider = data && (data.data.event_max_bytes ?? data.data.default_event_max_bytes);
  const save = useAction({
    run: () =>
      callApi<Environment>(`/v1/environments/${encodeURIComponent(name)}/limits`, {
        method: 'PATCH',
        body: {
          event_max_bytes: text === '' ? null : Number(text),
          retention_days: days === '' ? null : Number(days),
        },
      }),
    successMessage: 'Limits saved',
    invalidates: 'environments',
    onSuccess: onClose,
    showsError: true,
  });
  return (
    <FormDialog
      title={`Limits of ${name}`}
      submitLabel="Save"
      busy={save.isPending}
      error={save.error}
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      <TextField
        label="Maximum request size (bytes)"
        hint="Empty: the installation limit. An event key can have its own limit."
        type="number"
        min={1}
        max={16 * 1_048_576}
        placeholder={wider?.toString()}
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      <TextField
        label="Retention (days)"
        hint="Empty: as RETENTION_DAYS says. Needs an archive (DATABASE_URL). Fewer days delete what is older."
        type="number"
        min={1}
        max={3_650}
        value={days}
        onChange={({ target }) => setDays(target.value)}
      />
    </FormDialog>
  );
}
