// A small Novu environment with something of every kind, also what cannot be carried over.
import type { FakeNovuData } from './fake-novu.ts'

const channelsOf = (place: number): object[] => {
  if (place === 3)
    return [
      { providerId: 'fcm', credentials: { deviceTokens: ['token-3'], webhookUrl: '' }, _integrationId: 'i-fcm' },
      { providerId: 'fcm', credentials: { deviceTokens: ['other-3'] }, _integrationId: 'i-4' },
    ]
  return place === 5 ? [{ providerId: 'pigeon', credentials: { channel: 'loft' } }] : []
}
export const novuPeople = Array.from({ length: 1_230 }, (_, place) => ({
  _id: `s-${place}`,
  subscriberId: `user-${place}`,
  email: place === 4 ? 'no address' : `user${place}@example.com`,
  firstName: 'User',
  lastName: null,
  data: { place },
  channels: channelsOf(place),
}))

export const mailV2 = (workflowId: string, subject: string, more: object = {}) => ({
  _id: `w-${workflowId}`,
  workflowId,
  name: workflowId,
  active: true,
  origin: 'novu-cloud',
  tags: ['moved'],
  preferences: { user: null, default: { all: { enabled: true, readOnly: false }, channels: {} } },
  steps: [
    {
      _id: 'x',
      stepId: 'mail',
      name: 'Mail',
      type: 'email',
      slug: 'mail_st_x',
      controls: {
        values: { subject, body: '<p>Hello {{subscriber.firstName}}</p>', editorType: 'html', sparkle: true },
      },
    },
  ],
  ...more,
})

export const novuData: FakeNovuData = {
  subscribers: novuPeople,
  topics: [
    { _id: 't-0', key: 'fans', name: 'Fans' },
    { _id: 't-1', key: 'empty', name: 'Empty' },
  ],
  subscriptions: {
    fans: [
      ...novuPeople
        .slice(0, 231)
        .filter((_, place) => place !== 4 && place !== 9)
        .map(({ subscriberId }) => ({
          subscriber: { subscriberId },
          ...(subscriberId === 'user-6' ? { identifier: 'own-name' } : {}),
          ...(subscriberId === 'user-7'
            ? { preferences: [{ workflow: { identifier: 'coded' }, enabled: false }] }
            : {}),
        })),
      { subscriber: { subscriberId: 'user-2' }, identifier: 'second-one' },
      { subscriber: { subscriberId: 'user-9' }, contextKeys: ['shop:1'] },
      { subscriber: { subscriberId: 'deleted-one' } },
    ],
  },
  integrations: [
    { _id: 'i-1', providerId: 'novu-email', channel: 'email', identifier: 'novu-email', active: true },
    {
      _id: 'i-2',
      providerId: 'sendgrid',
      channel: 'email',
      name: 'Grid',
      identifier: 'grid-x',
      active: true,
      credentials: { apiKey: 'SG.secret', from: 'hello@example.com', senderName: 'Acme' },
    },
    { _id: 'i-fcm', providerId: 'fcm', channel: 'push', name: 'First app', identifier: 'first-app', active: true },
    { _id: 'i-4', providerId: 'fcm', channel: 'push', name: 'Other app', identifier: 'other-app', active: true },
    { _id: 'i-3', providerId: 'no-such-provider', channel: 'sms', name: 'Odd', identifier: 'odd', active: true },
  ],
  feeds: [{ _id: 'f-1', identifier: 'orders', name: 'Orders' }],
  layouts: [
    {
      _id: 'l-1',
      layoutId: 'brand',
      name: 'Brand',
      isDefault: true,
      controls: { values: { email: { body: '<html><body>{{content}}</body></html>', editorType: 'html' } } },
    },
    {
      _id: 'l-2',
      layoutId: 'blocks',
      name: 'Blocks',
      controls: { values: { email: { body: '{"type":"doc","content":[]}' } } },
    },
  ],
  workflowsV2: [
    mailV2('welcome', 'Welcome {{payload.name}}', { isTranslationEnabled: true }),
    mailV2('coded', 'x', { origin: 'external' }),
    mailV2('drawn', 'x', {
      steps: [{ name: 'Drawn', type: 'email', controls: { values: { subject: 'x', body: '{"type":"doc"}' } } }],
    }),
    { _id: 'w-old', workflowId: 'old', name: 'Old', origin: 'novu-cloud-v1', steps: [] },
  ],
  workflowsV1: [
    {
      _id: 'v-1',
      name: 'Old',
      active: true,
      critical: false,
      tags: [],
      triggers: [{ identifier: 'old', variables: [] }],
      notificationGroup: { name: 'Orders' },
      steps: [
        {
          _id: 'o-1',
          uuid: 'u-1',
          name: 'Bell',
          active: true,
          filters: [],
          template: { type: 'in_app', content: 'Order {{id}}', _feedId: 'f-1', _creatorId: 'c' },
        },
        {
          _id: 'o-2',
          uuid: 'u-2',
          name: 'Mail',
          active: true,
          filters: [
            {
              type: 'GROUP',
              value: 'AND',
              isNegated: false,
              children: [{ on: 'payload', field: 'vip', operator: 'EQUAL', value: 'yes' }],
            },
          ],
          template: {
            type: 'email',
            subject: 'Order {{id}}',
            contentType: 'customHtml',
            content: '<p>{{id}}</p>',
            _layoutId: 'l-1',
          },
        },
        {
          name: 'Gone',
          active: false,
          template: { type: 'email', subject: 'x', content: 'x', _layoutId: 'l-deleted' },
        },
      ],
    },
    { _id: 'v-3', name: 'Nameless', active: true, triggers: [], steps: [] },
    {
      _id: 'v-2',
      name: 'Helper',
      active: true,
      triggers: [{ identifier: 'helper' }],
      steps: [
        {
          name: 'Sms',
          active: true,
          template: { type: 'sms', content: '{{#each items}}{{dateFormat this "PP"}}{{/each}}' },
        },
      ],
    },
  ],
  translations: { de: { workflows: { welcome: { title: 'Willkommen' } } } },
  preferences: {
    'user-1': {
      global: {
        enabled: true,
        channels: { email: true, sms: false },
        schedule: {
          isEnabled: true,
          weeklySchedule: { monday: { isEnabled: true, hours: [{ start: '09:00 AM', end: '05:00 PM' }] } },
        },
      },
      workflows: [
        {
          workflow: { identifier: 'welcome' },
          channels: { email: false },
          overrides: [{ channel: 'email', source: 'subscriber' }],
        },
      ],
    },
  },
}
