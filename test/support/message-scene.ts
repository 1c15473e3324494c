// What tests of messages start from: a workflow, people, and messages said to them, put straight into the tables.
import type { MessageDraft } from '../../src/domain/messages/message.ts'
import type { NewEvent } from '../../src/store/events/events.ts'
import type { NewMessage } from '../../src/store/messages/insert.ts'
import type { SceneNotification, SceneWorkflow } from './activity-scene.ts'
import { ActivityScene, stepOf } from './activity-scene.ts'
import type { TestApp } from './app.ts'
import { addSubscribers } from './topic-scene.ts'

export interface Said {
  readonly id: string
  readonly eventId: string
  readonly transactionId: string
  readonly notification: SceneNotification
}

export interface Saying {
  readonly step?: number
  readonly draft?: Partial<MessageDraft>
  readonly event?: Partial<NewEvent>
  readonly message?: Partial<NewMessage>
  readonly workflow?: SceneWorkflow
}

export class MessageScene {
  readonly scene: ActivityScene
  readonly workflow: SceneWorkflow
  /** Internal ids by subscriberId. */
  readonly people: Map<string, string>

  private constructor(scene: ActivityScene, workflow: SceneWorkflow, people: Map<string, string>) {
    this.scene = scene
    this.workflow = workflow
    this.people = people
  }

  /** A workflow of an in-app and an e-mail step, and the people. */
  static async of(
    app: TestApp,
    subscriberIds: readonly string[],
    options: { identifier?: string; environmentName?: string } = {},
  ): Promise<MessageScene> {
    const scene = await ActivityScene.of(app, options.environmentName)
    const workflow = await scene.addWorkflow(
      options.identifier ?? 'orders',
      [stepOf('in_app', { template: { feedId: 'shop' } }), stepOf('email')],
      { name: 'Orders', description: 'About orders', tags: ['orders', 'shop'], variables: ['orderId'] },
    )
    return new MessageScene(scene, workflow, await addSubscribers(app, subscriberIds, options.environmentName))
  }

  /** A second after whatever was said before. */
  async say(subscriberId: string, saying: Saying = {}): Promise<Said> {
    const { app } = this.scene
    app.world.advance(1000)
    const person = this.people.get(subscriberId) ?? ''
    const event = await this.scene.addEvent(saying.workflow ?? this.workflow, [{ subscriberId: person }], saying.event)
    const [notification] = event.notifications
    if (notification === undefined) throw new Error('The event notified no one')
    return this.sayAgain(event, notification, saying)
  }

  /** Another message of the same event. */
  async sayAgain(
    event: { id: string; transactionId: string },
    notification: SceneNotification,
    saying: Saying,
  ): Promise<Said> {
    const channel = saying.draft?.channel ?? 'in_app'
    const now = this.scene.app.world.now()
    const id = await this.scene.addMessage(
      notification,
      saying.step ?? (channel === 'email' ? 1 : 0),
      { channel, ...saying.draft },
      { deliveredAt: channel === 'in_app' ? now : null, severity: saying.event?.severity ?? null, ...saying.message },
    )
    return { id, eventId: event.id, transactionId: event.transactionId, notification }
  }
}
