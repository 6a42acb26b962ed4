import { useId } from 'react';
import { useFunctions } from '../../features/functions/queries.ts';
import { SearchBox } from '../../features/search/search-box.tsx';
import { fromLocalInput, toLocalInput } from '../../lib/time-range.ts';
import { RateField } from '../../ui/bulk-operations/start-dialog.tsx';
import { Checkbox } from '../../ui/checkbox.tsx';
import { TextField } from '../../ui/field.tsx';
import { SegmentedControl } from '../../ui/segmented-control.tsx';
import { type Form, RATE_MAX } from './replay-request.ts';
import { FORMER_STATUSES } from './texts.ts';

interface NewReplayFormProps {
  form: Form;
  /** Why the search failed. */
  error: Error | null;
  onChange(to: Partial<Form>): void;
}

export function NewReplayForm({ form, error, onChange }: NewReplayFormProps) {
  const { title, statuses, rate } = form;
  return (
    <div className="space-y-4">
      {form.ids ? (
        <p>{form.ids.length === 1 ? 'The selected event' : `The ${form.ids.length} selected events`}</p>
      ) : (
        <EventFields form={form} error={error} onChange={onChange} />
      )}
      <fieldset>
        <legend className="mb-1 text-sm font-medium">Former run</legend>
        <div className="flex flex-wrap gap-x-5 gap-y-2">
          {FORMER_STATUSES.map(([id, label]) => (
            <Checkbox
              key={id}
              checked={statuses.includes(id)}
              onChange={(checked) =>
                onChange({ statuses: checked ? [...statuses, id] : statuses.filter((one) => one !== id) })
              }
            >
              {label}
            </Checkbox>
          ))}
        </div>
        <p className="mt-1 text-xs text-muted">
          How the latest run of the function on the event ended. No run: the function did not exist, was paused, or its
          flow control skipped the event.
        </p>
      </fieldset>
      <Functions form={form} onChange={onChange} />
      <div className="grid gap-4 sm:grid-cols-2">
        <RateField label="Runs per second" value={rate} max={RATE_MAX} onChange={(to) => onChange({ rate: to })} />
        <TextField
          label="Title"
          placeholder="Optional"
          maxLength={128}
          value={title}
          autoComplete="off"
          onChange={({ target }) => onChange({ title: target.value })}
        />
      </div>
    </div>
  );
}

/** Which events. */
function EventFields({ form: { name, source, search, from, to }, error, onChange }: NewReplayFormProps) {
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label="Event name"
          placeholder="All, or order/*"
          value={name}
          autoComplete="off"
          onChange={({ target }) => onChange({ name: target.value })}
        />
        <TextField
          label="Source"
          placeholder="All, or webhook"
          value={source}
          autoComplete="off"
          onChange={({ target }) => onChange({ source: target.value })}
        />
        <TextField
          label="Received from"
          type="datetime-local"
          // Uncontrolled: a controlled input would drop an incomplete date.
          step={1}
          defaultValue={toLocalInput(from)}
          onChange={({ target }) => onChange({ from: fromLocalInput(target.value) })}
        />
        <TextField
          label="Received before"
          type="datetime-local"
          step={1}
          defaultValue={toLocalInput(to)}
          onChange={({ target }) => onChange({ to: fromLocalInput(target.value) })}
        />
      </div>
      <SearchBox
        of="events"
        label="Condition"
        search={search}
        eventName={name || undefined}
        error={error}
        atOnce
        onSearch={(text) => onChange({ search: text })}
      />
    </>
  );
}

function Functions({ form: { functions }, onChange }: Pick<NewReplayFormProps, 'form' | 'onChange'>) {
  const { functions: known = [] } = useFunctions();
  const heading = useId();
  return (
    <div>
      <p id={heading} className="mb-1 text-sm font-medium">
        Functions
      </p>
      <SegmentedControl
        label="Functions"
        options={[
          ['all', 'All that match now'],
          ['selected', 'Selected'],
        ]}
        value={functions ? 'selected' : 'all'}
        onChange={(id) => onChange({ functions: id === 'all' ? undefined : [] })}
      />
      {functions && (
        <ul
          aria-labelledby={heading}
          className="mt-2 max-h-40 space-y-1.5 overflow-auto rounded-md border border-line p-3"
        >
          {known.map(({ id }) => (
            <li key={id}>
              <Checkbox
                checked={functions.includes(id)}
                onChange={(checked) =>
                  onChange({ functions: checked ? [...functions, id] : functions.filter((one) => one !== id) })
                }
              >
                {id}
              </Checkbox>
            </li>
          ))}
          {known.length === 0 && <li className="text-sm text-muted">No functions are registered.</li>}
        </ul>
      )}
    </div>
  );
}
