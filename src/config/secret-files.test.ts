// Secrets that are given as files.
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Environment } from '../config.ts'
import { ConfigError, readConfig, settings } from '../config.ts'

function mistakesOf(environment: Environment): string[] {
  try {
    readConfig(environment)
    return []
  } catch (error) {
    assert.ok(error instanceof ConfigError)
    return [...error.mistakes]
  }
}

test('every secret can be given as a file', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'posthorn-secrets-'))
  const file = async (name: string, content: string): Promise<string> => {
    const path = join(folder, name)
    await writeFile(path, content)
    return path
  }
  try {
    const { config, warnings } = readConfig({
      POSTHORN_API_KEY_FILE: await file('key', 'a-key-that-is-long-enough\n'),
      POSTHORN_ENCRYPTION_KEY_FILE: await file('sealing', `${'ab'.repeat(32)}\r\n`),
      DATABASE_URL_FILE: await file('database', 'postgres://me:hush@db.example.com/posthorn'),
      POSTHORN_SMTP_URL_FILE: await file('smtp', 'smtp://me:hush@mail.example.com?from=a@example.com'),
    })
    assert.deepEqual(config.apiKeys, ['a-key-that-is-long-enough'])
    assert.deepEqual(config.encryptionKey, Buffer.alloc(32, 0xab))
    assert.equal(config.databaseUrl, 'postgres://me:hush@db.example.com/posthorn')
    assert.equal(config.smtp?.password, 'hush')
    assert.deepEqual(warnings, [])
    for (const [name, { variable, secret }] of Object.entries(settings)) {
      if (secret !== true) continue
      // Whatever is wrong with it: it was read, and is not repeated.
      const bad = { [`${variable}_FILE`]: await file(name, 'hush-hush with blanks') }
      assert.ok(!mistakesOf(bad).join().includes('hush-hush'), variable)
    }
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('a file that is not there, is empty or stands beside the value is a mistake', () => {
  const mistake = (environment: Environment): string => mistakesOf(environment).join()
  assert.match(
    mistake({ POSTHORN_API_KEY_FILE: '/nowhere/key' }),
    /POSTHORN_API_KEY refers to a file that cannot be read \(ENOENT\)/,
  )
  assert.match(mistake({ POSTHORN_API_KEY_FILE: '/dev/null' }), /an empty file/)
  const both = { POSTHORN_API_KEY: 'a-key-that-is-long-enough', POSTHORN_API_KEY_FILE: '/dev/null' }
  assert.match(mistake(both), /must not be set together with POSTHORN_API_KEY_FILE/)
  for (const { variable, secret } of Object.values(settings)) {
    if (secret !== true) continue
    const file = `${variable}_FILE`
    const expected = `${variable} must not be set together with ${file}`
    assert.ok(mistakesOf({ [variable]: 'whatever', [file]: '/dev/null' }).includes(expected), variable)
  }
  // What is no secret has no such form.
  assert.match(readConfig({ POSTHORN_ROLE_FILE: '/dev/null' }).warnings[0] ?? '', /POSTHORN_ROLE_FILE is not a setting/)
})
