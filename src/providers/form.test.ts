// The credentials form: what is required, what is well-formed, what is secret.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  baseAddress,
  choice,
  flag,
  formMistakes,
  object,
  ofBaseUrl,
  ofEmailAddress,
  ofHost,
  ofPort,
  openCredentials,
  optional,
  secret,
  text,
  withoutSecrets,
} from './form.ts'

const form = {
  apiKey: secret('API key'),
  from: text('From', { mistake: ofEmailAddress }),
  port: optional(text('Port', { mistake: ofPort })),
  region: optional(choice('Region', ['eu', 'us'])),
  secure: flag('TLS'),
  tlsOptions: object('TLS options'),
}

test('each required field that is missing or empty is named, and no optional one', () => {
  assert.deepEqual(Object.keys(formMistakes(form, { from: '' })).sort(), ['credentials.apiKey', 'credentials.from'])
  assert.deepEqual(formMistakes(form, { apiKey: 'k', from: 'a@b.c', port: '' }), {})
})

test('a field that is given must be well-formed, and what was given is not repeated', () => {
  const mistakes = formMistakes(form, { apiKey: 'hunter2\r\nX: y', from: 'hunter2', port: '99999', region: 'hunter2' })
  assert.deepEqual(Object.keys(mistakes).sort(), [
    'credentials.apiKey',
    'credentials.from',
    'credentials.port',
    'credentials.region',
  ])
  assert.doesNotMatch(JSON.stringify(mistakes), /hunter2|99999/)
})

const rules: [string, (value: string) => string | undefined, string[], string[]][] = [
  [
    'an e-mail address',
    ofEmailAddress,
    ['a@b', 'först@example.org'],
    ['a', '@b', 'a@', 'a b@c', 'a@b\r\nBcc: c@d', 'A <a@b>', 'a@b,c@d'],
  ],
  ['a port', ofPort, ['1', '465', '65535'], ['0', '65536', '-1', '25.0', '', 'smtp', '1e3']],
  [
    'a host',
    ofHost,
    ['smtp.example.org', '10.0.0.1', 'relay', '[::1]'],
    ['', 'a b', 'http://a', 'a/b', '169.254.169.254', 'metadata.google.internal', '[fd00:ec2::254]'],
  ],
  [
    'a base address',
    ofBaseUrl,
    ['https://a.example.org/x/', 'http://10.0.0.1:8080', 'a.example.org'],
    [
      'ftp://a',
      'https://u:p@a',
      'https://a?b',
      'https://a#b',
      'http://169.254.169.254',
      'http://2852039166',
      'https://',
    ],
  ],
]
for (const [what, rule, right, wrong] of rules) {
  test(`${what} is distinguished from invalid values`, () => {
    for (const value of right) assert.equal(rule(value), undefined, value)
    for (const value of wrong) assert.notEqual(rule(value), undefined, value)
  })
}

test('a base address loses its slashes and gains a scheme', () => {
  assert.equal(baseAddress(' api.example.org// '), 'https://api.example.org')
  assert.equal(baseAddress('HTTP://a/b/'), 'HTTP://a/b')
})

test('only fields of the form that hold no secret are open', () => {
  const credentials = {
    apiKey: 'k',
    from: 'a@b',
    secure: false,
    tlsOptions: { key: 'k' },
    password: 'not of this form',
  }
  assert.deepEqual(openCredentials(form, credentials), { from: 'a@b', secure: false })
})

test('a provider’s words lose every secret, however it was encoded', () => {
  const credentials = { apiKey: 'top+secret', from: 'a@b.c', tlsOptions: { key: 'inner-key', nested: ['deeper-key'] } }
  const words = `top+secret top%2Bsecret ${Buffer.from('top+secret').toString('base64')} inner-key deeper-key a@b.c`
  const r = '[redacted]'
  assert.equal(withoutSecrets(form, credentials, words), `${r} ${r} ${r} ${r} ${r} a@b.c`)
})

test('a secret that was cut in two is struck out, and so is one that Basic authentication joined to a name', () => {
  const credentials = { apiKey: 'top+secret', from: 'a@b.c' }
  assert.equal(withoutSecrets(form, credentials, 'the key top+sec…'), 'the key [redacted]…')
  assert.equal(withoutSecrets(form, credentials, 'the key is missing…'), 'the key is missing…')
  const joined = Buffer.from('a@b.c:top+secret').toString('base64')
  assert.equal(withoutSecrets(form, credentials, `Basic ${joined}`), 'Basic [redacted]')
})
