// The workflow of the first notification: an in-app message and an e-mail.
export const firstWorkflowId = 'order-shipped'

export const firstWorkflow = {
  name: 'Order shipped',
  active: true,
  steps: [
    {
      name: 'Bell',
      template: { type: 'in_app', content: 'Order {{ order.id }} is on its way, {{ subscriber.firstName }}.' },
    },
    {
      name: 'Mail',
      template: {
        type: 'email',
        subject: 'Order {{ order.id }} is on its way',
        preheader: 'It left our warehouse today.',
        content: [
          { type: 'text', content: 'Hello {{ subscriber.firstName }},' },
          {
            type: 'text',
            content:
              'your order <strong>{{ order.id }}</strong> with {{ order.items }} items left our warehouse today.',
          },
          { type: 'button', content: 'Follow the parcel', url: 'https://example.com/orders/{{ order.id }}' },
        ],
      },
    },
  ],
} as const
