// Streams of the audit log: made, listed, ended.
import { audit } from '../../commit/audited.ts'
import { once } from '../../commit/once.ts'
import type { Db, Sql } from '../../db/sql.ts'
import type { Answer, Idempotency } from '../../domain/answer.ts'
import { created, noContent } from '../../domain/answer.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Author } from '../../domain/operate/audit.ts'
import type { Recorded } from '../../domain/operate/audit-difference.ts'
import { conflict, invalidField, notFound } from '../../domain/problem.ts'
import { findAuditHead } from '../../store/operate/audit-log.ts'
import type { AuditStream } from '../../store/operate/audit-streams.ts'
import {
  deleteAuditStream,
  insertAuditStream,
  listAuditStreams,
  streamsMax,
} from '../../store/operate/audit-streams.ts'
import { lockEnvironment } from '../../store/operate/installation.ts'
import { findSigningKeys } from '../../store/operate/signing-versions.ts'
import type { World } from '../../world/world.ts'

/** As it is shown to full keys. */
export interface ShownStream {
  readonly _id: string
  readonly url: string
  readonly position: number
  readonly failures: number
  readonly lastError: string | null
  readonly nextTryAt: string | null
  readonly deliveredAt: string | null
  readonly createdAt: string
  /** What its calls are signed with now. */
  readonly signingSecret: string
}

interface Call {
  readonly author: Author
  readonly idempotency: Idempotency | undefined
}

export async function listStreams(db: Sql, world: World, environment: Environment): Promise<ShownStream[]> {
  const streams = await listAuditStreams(db, world.sealer, environment)
  return shownStreams(db, world, environment, streams)
}

async function shownStreams(
  db: Sql,
  world: World,
  environment: Environment,
  streams: readonly AuditStream[],
): Promise<ShownStream[]> {
  const keys = await findSigningKeys(db, world.sealer, environment)
  const signingSecret = keys?.auditKeys(world.now())[0]?.text ?? ''
  return streams.map((stream) => ({
    _id: stream.id,
    // Empty where it cannot be opened: it can be deleted all the same.
    url: stream.url ?? '',
    position: stream.position,
    failures: stream.failures,
    lastError: stream.lastError,
    nextTryAt: stream.failures === 0 ? null : stream.nextTryAt.toISOString(),
    deliveredAt: stream.deliveredAt?.toISOString() ?? null,
    createdAt: stream.createdAt.toISOString(),
    signingSecret,
  }))
}

export async function createStream(
  db: Db,
  world: World,
  environment: Environment,
  call: Call & { url: string; from: 'start' | 'now' },
): Promise<Answer<ShownStream>> {
  const url = goodAddress(call.url)
  return once(db, world, environment, call.idempotency, async (tx) => {
    await lockEnvironment(tx, environment)
    const known = await listAuditStreams(tx, world.sealer, environment)
    if (known.length >= streamsMax) throw conflict(`An environment has at most ${streamsMax} streams of its audit log`)
    if (known.some((stream) => stream.url === url)) throw conflict('There is a stream to this address already')
    const now = world.now()
    const id = world.newId(now)
    const position = call.from === 'start' ? 0 : (await findAuditHead(tx, environment)).seq
    await insertAuditStream(tx, world.sealer, environment, { id, url, position, now })
    await audit(tx, world, environment, call.author, { ...named(id, url), action: 'create', after: recordOf(url) })
    const stored = await listAuditStreams(tx, world.sealer, environment)
    const shown = await shownStreams(tx, world, environment, stored)
    const made = shown.find((stream) => stream._id === id)
    if (made === undefined) throw new Error('A new stream of the audit log is missing')
    return created(made)
  })
}

export async function removeStream(
  db: Db,
  world: World,
  environment: Environment,
  call: Call & { id: string },
): Promise<Answer<null>> {
  return once(db, world, environment, call.idempotency, async (tx) => {
    const gone = await deleteAuditStream(tx, world.sealer, environment, call.id)
    if (gone === undefined) throw notFound(`Audit stream ${call.id} not found`)
    const before = recordOf(gone.url)
    await audit(tx, world, environment, call.author, { ...named(gone.id, gone.url), action: 'delete', before })
    return noContent
  })
}

/** Where calls may go at all is asked when they are made: a name may stand for another address by then. */
function goodAddress(text: string): string {
  const address = URL.canParse(text) ? new URL(text) : undefined
  if (address === undefined || !['https:', 'http:'].includes(address.protocol)) {
    throw invalidField('url', 'url must be an http(s) address')
  }
  if (address.username !== '' || address.password !== '') {
    throw invalidField('url', 'url must not hold a user or a password: calls are signed')
  }
  return address.href
}

const named = (id: string, url: string | null) => ({ kind: 'audit-stream', id, name: hostOf(url) }) as const

/** A path or a query may hold a token: the log keeps the host. */
const recordOf = (url: string | null): Recorded => ({ compared: { url }, shown: { host: hostOf(url) } })

const hostOf = (url: string | null): string => (url === null ? 'unknown' : new URL(url).host)
