import { type Preference, turnOff, turnOn, usePreference } from '../../features/notifications/preference.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/page.tsx';

const TEXTS: Record<Preference, string> = {
  on: 'This browser shows a notification when runs fail, events are held, or a webhook has a new issue, as long as a tab of the dashboard is open.',
  off: 'This browser can show a notification when runs fail, events are held, or a webhook has a new issue.',
  blocked: 'This browser blocks notifications of this page. Allow them in its settings for this site, then reload.',
  unsupported: 'This browser has no notifications for this page. Most browsers need HTTPS for them.',
};

export function Notifications() {
  const preference = usePreference();
  return (
    <Card title="Notifications">
      <div className="flex flex-wrap items-center justify-between gap-4 p-4">
        <p className="min-w-0 flex-1 basis-64 text-sm">{TEXTS[preference]}</p>
        {preference === 'off' && <Button onClick={() => void turnOn()}>Turn on</Button>}
        {preference === 'on' && <Button onClick={turnOff}>Turn off</Button>}
      </div>
    </Card>
  );
}
