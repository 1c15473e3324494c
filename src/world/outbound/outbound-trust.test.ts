// Certificates of the operator's own authorities: added to what Node trusts, for every protocol.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { listenOnLoopback, makeServerCertificate, startHttp2Server } from '../../../test/support/outbound-tls.ts'
import { OutboundError } from './outbound-error.ts'
import { createOutboundFetch } from './outbound-fetch.ts'
import { readCaFiles } from './outbound-trust.ts'

const ours = makeServerCertificate()
const others = makeServerCertificate()

async function directoryOf(t: TestContext, files: Readonly<Record<string, string>>): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'posthorn-ca-'))
  t.after(() => rm(directory, { recursive: true }))
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text)
  return directory
}

test('several files make one list, and what stands around the certificates is left out', async (t) => {
  const directory = await directoryOf(t, { a: `# Ours\n${ours.ca}\n`, b: `${others.ca}${others.cert}` })
  const ca = await readCaFiles([join(directory, 'a'), join(directory, 'b')])
  assert.equal(ca?.match(/BEGIN CERTIFICATE/g)?.length, 3)
  assert.doesNotMatch(ca ?? '', /# Ours/)
  assert.equal(await readCaFiles([]), undefined)
})

test('a file that is missing, empty, broken or no certificate is reported by its name', async (t) => {
  const directory = await directoryOf(t, {
    empty: '',
    key: ours.key,
    broken: '-----BEGIN CERTIFICATE-----\nabcd\n-----END CERTIFICATE-----\n',
    large: `${ours.ca}${'x'.repeat(1024 * 1024)}`,
  })
  const words: Record<string, RegExp> = {
    missing: /cannot be read: ENOENT/,
    '.': /cannot be read: EISDIR/,
    empty: /contains no PEM certificate/,
    key: /contains no PEM certificate/,
    broken: /cannot be used/,
    large: /are more than 1048576 bytes/,
  }
  for (const [name, pattern] of Object.entries(words)) {
    const file = join(directory, name)
    await assert.rejects(readCaFiles([file]), (error: Error) => {
      assert.ok(error.message.startsWith(`The certificates in ${file} `), error.message)
      assert.match(error.message, pattern)
      assert.match(error.message, /POSTHORN_CA_FILE/)
      return true
    })
  }
})

test('a server of our authority is called, one of another is not, and the words say what is to be done', async (t) => {
  const { cert, key } = ours
  const port = await listenOnLoopback(
    t,
    createServer({ cert, key }, (_request, response) => void response.end('ok')),
  )
  const request = { url: `https://127.0.0.1:${port}/`, method: 'GET', headers: {} }
  const allow = ['127.0.0.1']
  assert.equal((await createOutboundFetch({ allow, ca: `${others.ca}${ours.ca}` })(request)).body, 'ok')
  for (const ca of [others.ca, undefined]) {
    const error = await createOutboundFetch({ allow, ca })(request).catch((thrown: unknown) => thrown)
    assert.ok(error instanceof OutboundError)
    assert.equal(error.kind, 'not-sent')
    assert.match(error.message, /its certificate is not trusted; add its certificate authority to POSTHORN_CA_FILE/)
  }
})

const sourceOf = (path: string): string => JSON.stringify(new URL(path, import.meta.url).href)

/** Calls the servers given with the settings of its environment, and ends by itself although connections are kept. */
const program = `
import { readConfig } from ${sourceOf('../../config.ts')}
import { createOutboundFetch } from ${sourceOf('./outbound-fetch.ts')}
import { readOutboundSettings } from ${sourceOf('./outbound-settings.ts')}
const fetch = createOutboundFetch(await readOutboundSettings(readConfig(process.env).config))
for (const url of process.argv.slice(1)) {
  for (const http2 of [false, true]) {
    const { status } = await fetch({ url, method: 'GET', headers: {} }, { http2 })
    process.stdout.write(status + ' ')
  }
}
`

test('NODE_EXTRA_CA_CERTS counts beside our own, and kept connections do not keep the process', async (t) => {
  const start = async (certificate: typeof ours): Promise<string> => {
    const { port } = await startHttp2Server(
      t,
      certificate,
      (server) => void server.on('request', (_request, response) => void response.end('ok')),
      { allowHTTP1: true },
    )
    return `https://127.0.0.1:${port}/`
  }
  const directory = await directoryOf(t, { ours: ours.ca, extra: others.ca })
  const addresses = [await start(ours), await start(others)]
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--import', 'tsx', '--input-type=module', '--eval', program, '--', ...addresses],
    {
      env: {
        POSTHORN_OUTBOUND_ALLOW: '127.0.0.1',
        POSTHORN_CA_FILE: join(directory, 'ours'),
        NODE_EXTRA_CA_CERTS: join(directory, 'extra'),
      },
      timeout: 60_000,
    },
  )
  assert.equal(stdout, '200 200 200 200 ')
})
