import { useState } from 'react';
import { callApi } from '../../api/client.ts';
import type { AlertChannel, CreatedAlertChannel } from '../../api/types.ts';
import { NAME_FIELD } from '../../lib/name-field.ts';
import { Checkbox } from '../../ui/checkbox.tsx';
import { Select, TextField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { useAction } from '../../ui/use-action.ts';
import { KINDS } from './kinds.ts';

const HERE = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** @param onCreated receives the secret, which the API returns only once */
export function ChannelForm({
  onClose,
  onCreated,
}: {
  onClose(): void;
  onCreated(created: CreatedAlertChannel): void;
}) {
  const [name, setName] = useState('');
  const [kind, setKind] = useState<AlertChannel['kind']>('email');
  const [value, setValue] = useState('');
  const [isQuiet, setQuiet] = useState(false);
  const [hours, setHours] = useState({ from: '22:00', to: '07:00' });
  const { field, name: label, hint } = KINDS[kind];
  const save = useAction({
    run: async () => {
      const given = field === 'to' ? value.split(/[\s,]+/).filter(Boolean) : value.trim();
      const quiet = isQuiet ? { quiet_hours: { ...hours, time_zone: HERE } } : {};
      const body = { name, kind, [field]: given, ...quiet };
      onCreated((await callApi<CreatedAlertChannel>('/v1/alert-channels', { method: 'POST', body })).data);
    },
    successMessage: 'Channel created',
    invalidates: 'alert-channels',
    onSuccess: onClose,
    showsError: true,
  });
  return (
    <FormDialog
      title="Create channel"
      submitLabel="Create channel"
      busy={save.isPending}
      error={save.error}
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      <TextField label="Name" {...NAME_FIELD} value={name} onChange={({ target }) => setName(target.value)} />
      <Select label="Kind" value={kind} onChange={({ target }) => setKind(target.value as AlertChannel['kind'])}>
        {Object.entries(KINDS).map(([id, one]) => (
          <option key={id} value={id}>
            {one.label}
          </option>
        ))}
      </Select>
      <TextField
        label={label}
        hint={hint}
        required
        autoComplete="off"
        value={value}
        onChange={({ target }) => setValue(target.value)}
      />
      <Checkbox checked={isQuiet} onChange={setQuiet}>
        Quiet hours: messages wait until they are over
      </Checkbox>
      {isQuiet && (
        <div className="grid grid-cols-2 gap-2">
          {(['from', 'to'] as const).map((end) => (
            <TextField
              key={end}
              label={end === 'from' ? 'From' : 'To'}
              hint={HERE}
              type="time"
              required
              value={hours[end]}
              onChange={({ target }) => setHours({ ...hours, [end]: target.value })}
            />
          ))}
        </div>
      )}
    </FormDialog>
  );
}
