// What the demo inbox sends itself: POST /v1/inbox/events.
import { Type } from 'typebox'
import { created } from '../../../domain/answer.ts'
import { demoSubscriberId, isDevelopment } from '../../../domain/messages/inbox.ts'
import { Problem } from '../../../domain/problem.ts'
import { demoWorkflow, ensureDemoWorkflow } from '../../../manage/messages/inbox-demo.ts'
import { inboxRoute } from '../../inbox-route.ts'
import { readEvent } from '../../request/event-request.ts'
import { freeObject } from '../../schemas.ts'
import { throwIfRejected, triggerResult } from '../events/events.ts'

const text = Type.Optional(Type.String({ maxLength: 2_000 }))
const passedOver = 'Public clients send it; it has no effect.'
const passedOverText = Type.Optional(Type.String({ maxLength: 2_000, description: passedOver }))
/** Public clients name the workflow, the recipient and buttons as well; there is only one of each, and none. */
const body = Type.Object(
  {
    name: passedOverText,
    to: Type.Optional(freeObject({ description: passedOver })),
    payload: Type.Optional(
      Type.Object({
        subject: text,
        body: text,
        primaryActionText: passedOverText,
        primaryActionUrl: passedOverText,
        secondaryActionText: passedOverText,
        secondaryActionUrl: passedOverText,
      }),
    ),
  },
  { title: 'DemoNotification', examples: [{ payload: { subject: 'Hello', body: 'Your first notification' } }] },
)

export const inboxEventRoutes = [
  inboxRoute({
    method: 'POST',
    path: '/v1/inbox/events',
    operationId: 'sendDemoNotification',
    tag: 'Inbox',
    summary: 'Send the demo inbox a notification',
    description: 'Only for sessions of the demo inbox of Development, which were opened without identifiers.',
    body,
    replies: { 201: Type.Object({ data: triggerResult }, { title: 'DemoNotificationAnswer' }) },
    handle: async (service, { reader, isLocal, address, body: { payload = {} } }) => {
      const isDemo = reader.subscriberId === demoSubscriberId && isDevelopment(reader.environment)
      if (!isDemo || !service.mayDemo(isLocal))
        throw new Problem(403, 'Only the demo inbox of Development may send itself notifications')
      await ensureDemoWorkflow(service.db, service.world, reader, address)
      const { subject = 'Hello from Posthorn', body: said = 'This is your first notification.' } = payload
      const event = readEvent({
        name: demoWorkflow,
        to: { subscriberId: demoSubscriberId },
        payload: { subject, body: said },
      })
      const { body: data } = throwIfRejected(
        await service.triggers.single(reader.environment, { event, idempotency: undefined }),
      )
      return created({ data })
    },
  }),
]
