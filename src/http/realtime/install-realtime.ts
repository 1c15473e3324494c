// Inboxes as they change: one hub, and the ways to follow it.
import type { FastifyInstance } from 'fastify'
import type { Hearing } from '../../db/hearing.ts'
import type { Db } from '../../db/sql.ts'
import type { InboxTokens } from '../../manage/messages/inbox-tokens.ts'
import type { InboxHints } from '../../realtime/hints.ts'
import { createInboxHints } from '../../realtime/hints.ts'
import { createHub } from '../../realtime/hub.ts'
import type { Presence } from '../../realtime/presence.ts'
import { createPresence } from '../../realtime/presence.ts'
import type { World } from '../../world/world.ts'
import type { OpenTo } from '../access/inbox-origins.ts'
import type { ReaderLimit } from '../access/reader-limit.ts'
import { installInboxSockets } from './install-inbox-sockets.ts'
import { installInboxStream } from './install-inbox-stream.ts'

export interface RealtimeSources {
  readonly hints?: InboxHints
  /** Left out, it is made here. */
  readonly presence?: Presence
  /** Begins to listen to hints of other nodes, once an inbox is followed here; `onOpened` whenever some may have been missed. */
  hear?(onOpened: () => void): Hearing
}

export interface RealtimeService extends RealtimeSources {
  readonly db: Db
  readonly world: World
  readonly inboxTokens: InboxTokens
  countForged(address: string): void
  readonly limitReader: ReaderLimit
  readonly openTo: OpenTo
  readonly trustsProxies: boolean
  readonly basePath: string
}

export function installRealtime(app: FastifyInstance, service: RealtimeService): void {
  const { db, world, inboxTokens, countForged, limitReader, openTo, trustsProxies, basePath } = service
  const hints = service.hints ?? createInboxHints(db, world.newId(world.now()))
  let hearing: Hearing | undefined
  const presence = service.presence ?? createPresence(db, world, world.newId(world.now()))
  const hub = createHub(db, world, {
    hints,
    presence,
    onFirst: () => {
      hearing = service.hear?.(() => hub.sweep())
    },
  })
  const door = { inboxTokens, countForged, limitReader, openTo, hub }
  installInboxStream(app, door)
  installInboxSockets(app, world, { ...door, trustsProxies, basePath })
  // Streams never end by themselves: the stop would wait for them.
  app.addHook('preClose', async () => {
    await hub.stop()
    await hearing?.stop()
  })
}
