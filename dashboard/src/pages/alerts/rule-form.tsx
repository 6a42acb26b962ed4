import { useState } from 'react';
import { callApi } from '../../api/client.ts';
import type { AlertRule } from '../../api/types.ts';
import { ChannelChoice } from '../../features/alerts/channel-choice.tsx';
import { Checkbox } from '../../ui/checkbox.tsx';
import { TextField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { useAction } from '../../ui/use-action.ts';

const WINDOWS = {
  over: 'Seconds over which the value is counted',
  for: 'Seconds for which the value must have reached the threshold',
};

export function RuleForm({ rule, onClose }: { rule: AlertRule; onClose(): void }) {
  const [on, setOn] = useState(rule.on);
  const [numbers, setNumbers] = useState({
    threshold: String(rule.threshold),
    window_seconds: String(rule.window_seconds),
    remind_seconds: String(rule.remind_seconds),
  });
  const [channels, setChannels] = useState(rule.channels);
  const save = useAction({
    run: () => {
      const given = Object.entries(numbers).map(([name, text]) => [name, Number(text)]);
      const body = { on, channels, ...Object.fromEntries(given) };
      return callApi(`/v1/alert-rules/${rule.rule}`, { method: 'PATCH', body });
    },
    successMessage: 'Rule saved',
    invalidates: 'alert-rules',
    onSuccess: onClose,
    showsError: true,
  });
  const field = (name: keyof typeof numbers) => ({
    type: 'number',
    min: 0,
    required: true,
    value: numbers[name],
    onChange: ({ target }: { target: { value: string } }) => setNumbers({ ...numbers, [name]: target.value }),
  });
  return (
    <FormDialog
      title={rule.title}
      submitLabel="Save"
      busy={save.isPending}
      error={save.error}
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      <p className="text-sm text-muted">{rule.measures}.</p>
      <Checkbox checked={on} onChange={setOn}>
        The rule is on
      </Checkbox>
      <TextField label={`Threshold (${rule.unit})`} step="any" {...field('threshold')} />
      <TextField label="Window" hint={WINDOWS[rule.window]} {...field('window_seconds')} />
      <TextField
        label="Reminder"
        hint="Seconds after which an open alert is repeated; 0: never"
        {...field('remind_seconds')}
      />
      <ChannelChoice unchosen="All" value={channels} onChange={setChannels} />
    </FormDialog>
  );
}
