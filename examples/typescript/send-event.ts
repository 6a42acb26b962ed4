import { Tidegate } from 'tidegate';

const client = new Tidegate({ id: 'shop' });

const { ids } = await client.send({ name: 'order/paid', data: { orderId: 'A1', customer: 'Ada', total: 120 } });
console.log(ids);
