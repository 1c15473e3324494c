// The log strikes out secrets, by name and by look, however deep they lie.
import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { test } from 'node:test'
import { createLog } from './pino-log.ts'

function listen(pretty = false, level: 'debug' | 'info' | 'silent' = 'info') {
  let text = ''
  const destination = new Writable({
    write(chunk, _encoding, done) {
      text += String(chunk)
      done()
    },
  })
  return { log: createLog({ level, pretty }, destination), said: () => text }
}

test('a line is one JSON object with level, time, the facts and the sentence', () => {
  const { log, said } = listen()
  log.warn({ pid: 7, count: 3 }, 'Something happened')
  const line = JSON.parse(said())
  assert.equal(line.level, 40)
  assert.equal(line.msg, 'Something happened')
  assert.equal(line.count, 3)
  assert.equal(line.pid, 7)
  assert.equal(said().match(/"pid"/g)?.length, 1)
  assert.equal(typeof line.time, 'number')
})

test('members with a secret name are struck out at every depth, in any spelling', () => {
  const { log, said } = listen()
  const facts = {
    a: { b: [{ c: { d: { password: 'hush-1' } } }] },
    headers: { Authorization: 'hush-2', 'X-Api-Key': 'hush-3', cookie: 'hush-4' },
    credentials: { user: 'hush-5' },
    secret_key: 'hush-6',
    deviceTokens: ['hush-7'],
    encryptionKey: Buffer.from('hush-8'),
    key: 'hush-9',
    databaseUrl: 'hush-10',
    signingSecret: 'hush-11',
    subscriberId: 'shown',
  }
  log.info(facts, 'facts')
  assert.doesNotMatch(said(), /hush/)
  assert.match(said(), /\[redacted\]/)
  assert.match(said(), /"subscriberId":"shown"/)
  assert.equal(facts.a.b[0]?.c.d.password, 'hush-1', 'the facts themselves are not changed')
})

test('texts that look like a secret are struck out wherever they stand', () => {
  const { log, said } = listen()
  const key = `ph_${'a1B'.repeat(14)}x`
  log.info(
    { note: `used ${key}`, header: `ApiKey my-own-key`, url: 'postgres://user:pa55word@db/x' },
    `Bearer abc.def ${key}`,
  )
  assert.doesNotMatch(said(), /a1Ba1B|my-own-key|pa55word|abc\.def/)
  assert.match(said(), /postgres:\/\/user:\[redacted\]@db\/x/)
})

test('an error keeps its message, stack, code and cause, and loses its secrets', () => {
  const { log, said } = listen()
  const cause = Object.assign(new Error('inner'), { code: 'ECONNREFUSED', token: 'hush' })
  log.error({ err: new Error('outer of smtp://me:hush@host', { cause }) }, 'failed')
  const { err } = JSON.parse(said())
  assert.match(err.message, /^outer of/)
  assert.match(err.stack, /pino-log\.test/)
  assert.equal(err.cause.code, 'ECONNREFUSED')
  assert.doesNotMatch(said(), /hush/)
})

test('facts that contain themselves, bytes and big numbers do not break a line', () => {
  const { log, said } = listen()
  const loop: Record<string, unknown> = { big: 12n, bytes: Buffer.alloc(4) }
  loop['self'] = loop
  log.info(loop, 'round')
  const line = JSON.parse(said())
  assert.equal(line.big, '12')
  assert.equal(line.bytes, '[4 bytes]')
})

test('what lies below the level is not written, and pretty lines strike out secrets too', () => {
  const quiet = listen()
  quiet.log.debug({}, 'unheard')
  assert.equal(quiet.said(), '')
  const pretty = listen(true)
  pretty.log.info({ nested: { apiKey: 'hush' } }, 'Hello')
  assert.match(pretty.said(), /Hello/)
  assert.doesNotMatch(pretty.said(), /hush/)
  assert.throws(() => JSON.parse(pretty.said()))
})

test('what errors of the database repeat of rows and statements is struck out', () => {
  const { log, said } = listen()
  const members = { severity: 'ERROR', routine: 'x', detail: 'Key (email)=(hush@example.com) exists.', where: 'hush' }
  log.error({ err: Object.assign(new Error('duplicate key value'), { code: '23505', ...members }) }, 'no')
  const value = 'invalid input syntax for type uuid: "hush "and" more"'
  log.error({ err: Object.assign(new Error(value), { code: '22P02', ...members }) }, 'no')
  assert.doesNotMatch(said(), /hush/)
  assert.match(said(), /duplicate key value/)
  assert.match(said(), /invalid input syntax for type uuid/)
  // Errors of others keep their fields.
  log.error({ err: Object.assign(new Error('x'), { detail: 'shown' }) }, 'no')
  assert.match(said(), /shown/)
})
