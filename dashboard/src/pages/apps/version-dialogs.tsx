/** Dialogs of the versions of an app. */
import { useState } from 'react';
import { callApi } from '../../api/client.ts';
import { useEnv } from '../../api/environment.ts';
import type { App, AppVersion } from '../../api/types.ts';
import { Select, TextField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { useAction } from '../../ui/use-action.ts';

const PERCENT = { type: 'number', min: 0, max: 100 } as const;

interface ActivateProps {
  app: string;
  version: AppVersion;
  onClose(): void;
}

/** Starts all new runs on a version, or a share. */
export function Activate({ app, version: { version, state, percent: share, ramp }, onClose }: ActivateProps) {
  const env = useEnv();
  const bound = ramp?.abort_when;
  const [percent, setPercent] = useState(state === 'ramping' ? String(share) : '100');
  const [above, setAbove] = useState(bound ? String(Math.round(bound.failure_rate * 100)) : '');
  const [minRuns, setMinRuns] = useState(String(bound?.min_runs ?? 20));
  const isRamp = Number(percent) > 0 && Number(percent) < 100;
  const activate = useAction({
    run: () => {
      const path = `/v1/apps/${encodeURIComponent(app)}/versions/${encodeURIComponent(version)}/activate`;
      const abort_when = { failure_rate: Number(above) / 100, min_runs: Number(minRuns) };
      const body = { percent: Number(percent), ...(isRamp && above !== '' && { abort_when }) };
      return callApi(path, { method: 'POST', env, body });
    },
    successMessage: `${percent} % of new runs start on ${version}`,
    invalidates: 'app',
    onSuccess: onClose,
    showsError: true,
  });
  return (
    <FormDialog
      title={`Start new runs on ${version}?`}
      submitLabel={state === 'ramping' ? 'Set' : 'Activate'}
      busy={activate.isPending}
      error={activate.error}
      onSubmit={() => activate.mutate()}
      onClose={onClose}
    >
      <p>
        At 100 %, its functions, triggers and limits are those of the app. At less, only that share of the new runs of
        pinned functions starts on it, and at 0 % none. Runs that are pinned to other versions stay where they are.
      </p>
      <TextField
        {...PERCENT}
        label="Percent of new runs"
        required
        value={percent}
        onChange={({ target }) => setPercent(target.value)}
      />
      {isRamp && (
        <>
          <TextField
            {...PERCENT}
            label="Abort above this percentage of failed runs"
            hint="Empty: it does not abort by itself"
            value={above}
            onChange={({ target }) => setAbove(target.value)}
          />
          <TextField
            label="After so many runs"
            type="number"
            min={1}
            required
            disabled={above === ''}
            value={minRuns}
            onChange={({ target }) => setMinRuns(target.value)}
          />
        </>
      )}
    </FormDialog>
  );
}

/** Settings for an app whose SDK does not have them. */
export function VersionSettings({ app, onClose }: { app: App; onClose(): void }) {
  const env = useEnv();
  const [versioning, setVersioning] = useState(app.versioning ?? '');
  const [activation, setActivation] = useState(app.activation ?? '');
  const save = useAction({
    run: () => {
      const body = { versioning: versioning || null, activation: activation || null };
      return callApi(`/v1/apps/${encodeURIComponent(app.name)}`, { method: 'PATCH', env, body });
    },
    successMessage: 'Settings of versions saved',
    invalidates: 'app',
    onSuccess: onClose,
    showsError: true,
  });
  return (
    <FormDialog
      title="Settings of versions"
      submitLabel="Save"
      busy={save.isPending}
      error={save.error}
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      <Select
        label="New runs"
        hint="Of functions that do not say"
        value={versioning}
        onChange={({ target }) => setVersioning(target.value as typeof versioning)}
      >
        <option value="">Not set: as latest</option>
        <option value="latest">latest: continue with the active version</option>
        <option value="pinned">pinned: end on the version on which they begin</option>
      </Select>
      <Select
        label="A new version"
        value={activation}
        onChange={({ target }) => setActivation(target.value as typeof activation)}
      >
        <option value="">Not set: as automatic</option>
        <option value="automatic">automatic: becomes active when it registers</option>
        <option value="manual">manual: waits until somebody activates it</option>
      </Select>
    </FormDialog>
  );
}
