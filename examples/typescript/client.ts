import { Tidegate } from 'tidegate';

/** The events of this shop: names and data are checked wherever one is sent or handled. */
type Events = {
  'order/placed': { data: { orderId: string; customer: string; lines: { sku: string; quantity: number }[] } };
  'order/paid': { data: { orderId: string; customer: string; total: number } };
  'stock/changed': { data: { sku: string; quantity: number } };
  'github/push': { data: { repository: { full_name: string }; commits: { id: string; message: string }[] } };
};

export const client = new Tidegate<Events>({ id: 'example-shop' });
