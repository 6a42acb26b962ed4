import { callApi } from '../../api/client.ts';
import { useHasAccess } from '../../api/current-user.ts';
import { useEnv } from '../../api/environment.ts';
import type { FunctionDetails } from '../../api/types.ts';
import { Select } from '../../ui/field.tsx';
import { useAction } from '../../ui/use-action.ts';

type Choice = NonNullable<FunctionDetails['settings']['on_exhausted']> | 'app';

const LABELS: Record<Choice, string> = { app: 'As the app says', fail: 'Runs fail', pause: 'Runs pause' };

/** Whether runs without an attempt left fail or pause, and the setting that decides it instead of the app. */
export function OnExhausted({ fn }: { fn: FunctionDetails }) {
  const env = useEnv();
  const canWrite = useHasAccess('write');
  const { settings, on_exhausted } = fn;
  const { mutate, isPending } = useAction<Choice>({
    run: (choice) => {
      const body = { on_exhausted: choice === 'app' ? null : choice };
      return callApi(`/v1/functions/${encodeURIComponent(fn.id)}`, { method: 'PATCH', env, body });
    },
    successMessage: 'Setting saved',
    invalidates: 'function',
  });
  if (!canWrite || fn.archived) return LABELS[on_exhausted];
  return (
    <Select
      label="Without an attempt left"
      hideLabel
      value={settings.on_exhausted ?? 'app'}
      disabled={isPending}
      onChange={({ target }) => mutate(target.value as Choice)}
    >
      <option value="app">
        {settings.on_exhausted === null ? `${LABELS[on_exhausted]}, as the app says` : LABELS.app}
      </option>
      <option value="fail">{LABELS.fail}</option>
      <option value="pause">{LABELS.pause}</option>
    </Select>
  );
}
