import { Link } from '@tanstack/react-router';
import type { AlertChannel } from '../../api/types.ts';
import { useList } from '../../api/use-list.ts';
import { Checkbox } from '../../ui/checkbox.tsx';

interface ChannelChoiceProps {
  /** What no choice means. */
  unchosen: string;
  /** Names of the channels that hear; null: no choice. */
  value: readonly string[] | null;
  onChange(channels: string[] | null): void;
}

/** Which alert channels hear of something. */
export function ChannelChoice({ unchosen, value, onChange }: ChannelChoiceProps) {
  const { rows } = useList<AlertChannel>(['alert-channels'], '/v1/alert-channels');
  const toggle = (name: string, hears: boolean) => {
    const others = (value ?? []).filter((one) => one !== name);
    onChange(hears ? [...others, name] : others);
  };
  return (
    <fieldset className="space-y-2">
      <legend className="mb-1 text-sm font-medium">Channels</legend>
      <Checkbox checked={value === null} onChange={(isUnchosen) => onChange(isUnchosen ? null : [])}>
        {unchosen}
      </Checkbox>
      {value !== null &&
        rows?.map(({ name }) => (
          <Checkbox key={name} checked={value.includes(name)} onChange={(hears) => toggle(name, hears)}>
            {name}
          </Checkbox>
        ))}
      {rows?.length === 0 && (
        <p className="text-sm text-muted">
          There are no channels yet.{' '}
          <Link to="/alerts" search={{ tab: 'channels' }} className="text-accent underline">
            Create channel
          </Link>
        </p>
      )}
    </fieldset>
  );
}
