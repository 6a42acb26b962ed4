import { Page } from '../../ui/page.tsx';

export default function EventsEventPage() {
  return <Page title="events">{null}</Page>;
}
