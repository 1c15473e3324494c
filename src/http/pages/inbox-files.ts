// What pages load: /inbox.js, the element <posthorn-inbox>; /inbox/client.js, the client without an interface.
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Problem } from '../../domain/problem.ts'
import { anyOrigin } from '../access/inbox-origins.ts'

const compress = promisify(gzip)

const files: Readonly<Record<string, string>> = { '/inbox.js': 'inbox.js', '/inbox/client.js': 'client.js' }

interface Served {
  readonly plain: Buffer
  readonly zipped: Buffer
  readonly etag: string
}

export function installInboxFiles(app: FastifyInstance): void {
  for (const [path, name] of Object.entries(files)) {
    let loaded: Promise<Served> | undefined
    app.get(path, { config: { cors: anyOrigin } }, (request, reply) => {
      loaded ??= load(name).catch((error: unknown) => {
        loaded = undefined
        throw error
      })
      return loaded.then((served) => send(request, reply, served))
    })
  }
}

function send(request: FastifyRequest, reply: FastifyReply, { plain, zipped, etag }: Served): FastifyReply {
  reply.headers({
    etag,
    vary: 'accept-encoding',
    // A new release is seen with the next visit, and costs an answer without a body until then.
    'cache-control': 'public, no-cache',
    'cross-origin-resource-policy': 'cross-origin',
    'content-type': 'text/javascript; charset=utf-8',
  })
  if (request.headers['if-none-match'] === etag) return reply.code(304).send()
  if (!/\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''))) return reply.send(plain)
  return reply.header('content-encoding', 'gzip').send(zipped)
}

async function load(name: string): Promise<Served> {
  const folder = builtFolder()
  if (folder === undefined) throw new Problem(404, 'The files of the inbox are not built; run npm run build')
  const plain = await readFile(join(folder, name))
  const etag = `"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`
  return { plain, zipped: await compress(plain), etag }
}

/** Beside the built service, or below the project that this file is a source of. */
function builtFolder(): string | undefined {
  for (let at = dirname(fileURLToPath(import.meta.url)); dirname(at) !== at; at = dirname(at)) {
    const found = [join(at, 'inbox'), join(at, 'dist', 'inbox')].find((one) => existsSync(join(one, 'inbox.js')))
    if (found !== undefined) return found
  }
  return undefined
}
