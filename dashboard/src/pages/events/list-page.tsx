import { Page } from '../../ui/page.tsx';

export default function EventsListPage() {
  return <Page title="events">{null}</Page>;
}
