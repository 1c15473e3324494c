// Makes the dump of a release that upgrades are tested against: node --import tsx test/upgrade/make-dump.ts [PostgreSQL's bin]
//
// Run it once for each release, in a checkout of its tag, with PostgreSQL 15's programs (Debian's are the default). The built
// service of the checkout runs against a server in a temporary folder. It is driven through its API to every state that
// events can be in, killed (kill -9) in the middle of its work, and started again as a node that only accepts. Beside
// <version>.sql.gz stand the keys it was made with (<version>.json), which are test data, and what that release answered
// to reads when the dump was made (<version>.answers.json.gz), and the statements it sent (<version>.statements.json.gz).
// test/upgrade/*.test.ts take every dump that is there.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { projectRoot } from '../support/project-root.ts'
import type { Service } from '../support/service.ts'
import { ServiceScene } from '../support/service.ts'
import { finished, inFlight, once, triggerOf, unstall, untouched } from './dump-events.ts'
import type { Call } from './dump-workflows.ts'
import { configure, configureProduction } from './dump-workflows.ts'
import type { Dump, DumpAnswers } from './dumps.ts'
import { dumpFolder, readPaths } from './dumps.ts'
import { outsideVariables, startOutsideWorld } from './outside-world.ts'
import { startTemporaryServer } from './temporary-server.ts'

const binaries = process.argv[2] ?? '/usr/lib/postgresql/15/bin'
const keyOf = (name: string): string => `ph_${name}${randomBytes(16).toString('hex')}`

const { version } = JSON.parse(await readFile(join(projectRoot, 'package.json'), 'utf8'))
const keys: Dump['keys'] = { development: keyOf('development'), production: keyOf('production') }
const encryptionKey = randomBytes(32).toString('hex')

const callOf =
  (service: Service, key: string): Call =>
  async (method, path, body, headers = {}) => {
    const answer = await fetch(`${service.url}${path}`, {
      method,
      headers: {
        authorization: `ApiKey ${key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${text}`)
    return text === '' ? undefined : JSON.parse(text)
  }

const services = new ServiceScene()
const world = await startOutsideWorld({ obeys: true })
const server = await startTemporaryServer(binaries)
try {
  const variables = {
    DATABASE_URL: server.url,
    POSTHORN_DATA_DIR: await services.directory(),
    POSTHORN_API_KEY: keys.development,
    POSTHORN_API_KEY_2: keys.production,
    POSTHORN_ENCRYPTION_KEY: encryptionKey,
    POSTHORN_RATE_LIMIT: 'off',
    POSTHORN_DATABASE_POOL_SIZE: '20',
    // What hangs is ended by a kill, not by a timeout.
    POSTHORN_DATABASE_STATEMENT_TIMEOUT_MS: '600000',
    POSTHORN_DATABASE_LOCK_TIMEOUT_MS: '600000',
    ...outsideVariables(world),
  }
  const node = await services.start(variables)
  const [development, production] = [callOf(node, keys.development), callOf(node, keys.production)]
  await configure(development, world.smtpPort)
  await configureProduction(production)
  await triggerOf(production)('hello', 'ada', 'done-live', { payload: { n: 1 } })
  await finished(development)
  await triggerOf(production)('later', 'ada', 'waits-live-later', { payload: { n: 1 } })
  await inFlight(development, server, world)
  node.signal('SIGKILL')
  await node.ended
  await unstall(server)
  const api = await services.start({ ...variables, POSTHORN_ROLE: 'api' })
  await untouched(callOf(api, keys.development))
  await triggerOf(callOf(api, keys.production))('hello', 'ada', 'waits-live-queued', { payload: { n: 2 } })
  const answers: DumpAnswers = {
    development: await readPaths(callOf(api, keys.development)),
    production: await readPaths(callOf(api, keys.production)),
  }
  await api.stop()
  // psql's own commands (15.14 and later write them) are of no use to a driver.
  const dumped = (await server.dump()).replaceAll(/^\\(?:un)?restrict .*\n/gm, '')
  const place = join(dumpFolder, version)
  const dump: Dump = { version, madeAt: new Date().toISOString(), encryptionKey, keys, once: once['idempotency-key'] }
  await writeFile(`${place}.sql.gz`, gzipSync(dumped, { level: 9 }))
  await writeFile(`${place}.json`, `${JSON.stringify(dump, null, 2)}\n`)
  await writeFile(`${place}.answers.json.gz`, gzipSync(JSON.stringify(answers), { level: 9 }))
  await writeFile(`${place}.statements.json.gz`, gzipSync(JSON.stringify(await server.statements()), { level: 9 }))
  console.log(`${place}.sql.gz: ${dumped.length} characters of SQL`)
} finally {
  await services.close()
  await server.stop()
  await world.close()
}
