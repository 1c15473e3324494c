// Secrets planted over HTTP, then searched in what leaves the service as a file: a backup and exports.
import assert from 'node:assert/strict'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import type { Running } from '../../src/main.ts'
import { BackupScene, call, well } from '../support/backup-scene.ts'
import { runCommand } from '../support/cli-scene.ts'

const ownKey = 'test-key-of-development'
const account = 'hush-account-of-sendgrid'
const variable = 'hush-variable'
const device = 'hush-device-token'
const address = 'https://hooks.slack.com/services/T0/B0/hush-address'
/** Not secret, and in every one of the files: what is searched can be found. */
const inClear = 'Found-In-Every-File'

let scene: BackupScene
let place: string
let service: Running
/** Shown once, by the answers that made them. */
let shownOnce: string[]
let environmentId: string

before(async () => {
  scene = await BackupScene.open()
  place = await scene.place('planted')
  service = await scene.start(place)
  ;({ _id: environmentId } = await well(service, 'GET', '/v1/environments/me'))
  await well(service, 'POST', '/v1/environment-variables', {
    key: 'PLANTED',
    isSecret: true,
    values: [{ _environmentId: environmentId, value: variable }],
  })
  const credentials = { apiKey: account, from: 'shop@example.com', senderName: 'Shop' }
  const mail = { providerId: 'sendgrid', channel: 'email', active: true, credentials }
  await well(service, 'POST', '/v1/integrations', mail)
  await well(service, 'POST', '/v2/subscribers', { subscriberId: 'ada', firstName: inClear })
  for (const [providerId, channel] of [
    ['fcm', 'push'],
    ['slack', 'chat'],
  ]) {
    await call(service, 'POST', '/v1/integrations', { providerId, channel, active: true, credentials: {} })
  }
  await well(service, 'PUT', '/v1/subscribers/ada/credentials', {
    providerId: 'fcm',
    credentials: { deviceTokens: [device] },
  })
  await well(service, 'PUT', '/v1/subscribers/ada/credentials', {
    providerId: 'slack',
    credentials: { webhookUrl: address },
  })
  const endpoint = await well(service, 'POST', '/v1/webhook-endpoints', { url: 'https://hooks.example.com/in' })
  const key = await well(service, 'POST', '/v1/environments/api-keys', { name: 'other', scopes: ['full'] })
  shownOnce = [endpoint.secret, key.key]
  for (const secret of shownOnce) assert.ok(typeof secret === 'string' && secret.length > 20)
})
after(() => scene.close())

/** The encryption key in every form in which it might be written down. */
async function formsOfTheKey(): Promise<Buffer[]> {
  const text = (await readFile(join(place, 'encryption.key'), 'utf8')).trim()
  const bytes = Buffer.from(text, 'base64')
  assert.equal(bytes.length, 32)
  return [bytes, ...[text, bytes.toString('hex'), bytes.toString('base64url')].map((one) => Buffer.from(one))]
}

test('a backup holds sealed values only, and the encryption key in no form', async () => {
  const file = join(scene.root, 'planted.tar.gz')
  const ran = await scene.run(place, 'backup', file)
  assert.equal(ran.code, 0, ran.stderr)
  const archive = gunzipSync(await readFile(file))
  assert.ok(archive.includes(inClear), 'the search finds what is not secret')
  const secrets = [account, variable, device, address, ownKey, ...shownOnce].map((one) => Buffer.from(one))
  for (const secret of [...secrets, ...(await formsOfTheKey())]) {
    assert.ok(!archive.includes(secret), `the backup holds ${secret.toString()}`)
    assert.ok(!`${ran.stdout}${ran.stderr}`.includes(secret.toString()), 'what the command prints')
  }
  // Names in the archive, the manifest among them: no file of the data directory but the database's.
  assert.ok(!archive.includes('encryption.key'))
  assert.ok(!archive.includes('server.log'))
})

async function exported(name: string, ...more: string[]): Promise<string> {
  const file = join(scene.root, name)
  const env = { POSTHORN_URL: service.url, POSTHORN_API_KEY: ownKey, POSTHORN_PROFILES: '/nonexistent/profiles.json' }
  const ran = await runCommand(['export', file, ...more], { env })
  assert.equal(ran.code, 0, ran.stderr)
  assert.equal((await stat(file)).mode & 0o777, 0o600)
  const report = await readFile(`${file}.report.jsonl`, 'utf8').catch(() => '')
  return [await readFile(file, 'utf8'), report, ran.stdout, ran.stderr].join('\n')
}

test('lines of an export hold what the documentation says: credentials of accounts only if they are asked for', async () => {
  const never = [variable, ownKey, ...shownOnce, ...(await formsOfTheKey()).map((one) => one.toString())]
  const plain = await exported('plain.jsonl')
  const withSecrets = await exported('secrets.jsonl', '--secrets')
  const withoutPeople = await exported('configuration.jsonl', '--no-people')
  for (const text of [plain, withSecrets, withoutPeople]) {
    for (const secret of never) assert.ok(!text.includes(secret), secret)
  }
  assert.ok(!plain.includes(account) && withSecrets.includes(account))
  // Channels are people's, as the table of the documentation says.
  for (const text of [plain, withSecrets]) assert.ok([inClear, device, address].every((one) => text.includes(one)))
  for (const one of [inClear, device, address, account]) assert.ok(!withoutPeople.includes(one), one)
})
