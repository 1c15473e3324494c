// Reading the configuration: defaults, every setting's bad values, and all mistakes at once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Environment } from './config.ts'
import { ConfigError, readConfig, settings } from './config.ts'

const base64Key = Buffer.alloc(32, 1).toString('base64')

function mistakesOf(environment: Environment): readonly string[] {
  try {
    readConfig(environment)
  } catch (error) {
    assert.ok(error instanceof ConfigError)
    return error.mistakes
  }
  return []
}

test('without variables every setting has its default, and so it has with empty ones', () => {
  const { config, warnings } = readConfig({})
  assert.equal(config.port, 3000)
  assert.equal(config.host, '127.0.0.1')
  assert.equal(config.databaseUrl, undefined)
  assert.equal(config.dataDirectory, '.posthorn')
  assert.deepEqual(warnings, [])
  const empty = Object.fromEntries(Object.values(settings).map((setting) => [setting.variable, '']))
  assert.deepEqual(readConfig(empty).config, config)
})

test('good values are read', () => {
  const { config } = readConfig({
    PORT: '0',
    HOST: '0.0.0.0',
    POSTHORN_BASE_URL: 'https://notify.example.com/',
    DATABASE_URL: 'postgresql://u:p@db:5432/x?sslmode=verify-full',
    POSTHORN_DATABASE_POOL_SIZE: '3',
    POSTHORN_API_KEY: 'a-key-of-sixteen',
    POSTHORN_ENCRYPTION_KEY: base64Key,
    POSTHORN_ENCRYPTION_KEY_PREVIOUS: 'ab'.repeat(32),
    POSTHORN_OUTBOUND_ALLOW:
      ' 10.1.0.0/16, smtp.internal , https://10.1.2.3:8443,accounts+http://[fd00::1]/64, smtp://mail',
    POSTHORN_CORS_ORIGINS: 'https://app.example.com,*',
    POSTHORN_RATE_LIMIT: 'off',
  })
  assert.equal(config.port, 0)
  assert.equal(config.baseUrl, 'https://notify.example.com')
  assert.equal(config.databasePoolSize, 3)
  assert.deepEqual(config.encryptionKey, Buffer.alloc(32, 1))
  assert.deepEqual(config.previousEncryptionKey, Buffer.alloc(32, 0xab))
  assert.deepEqual(config.outboundAllow, [
    { host: '10.1.0.0/16', accountsOnly: false },
    { host: 'smtp.internal', accountsOnly: false },
    { host: '10.1.2.3', way: { scheme: 'https', port: 8443 }, accountsOnly: false },
    { host: 'fd00::1/64', way: { scheme: 'http', port: 80 }, accountsOnly: true },
    { host: 'mail', way: { scheme: 'smtp', port: 25 }, accountsOnly: false },
  ])
  assert.deepEqual(config.corsOrigins, ['https://app.example.com', '*'])
  assert.equal(config.rateLimit, 'off')
})

test('an entry that opens every port to everyone is warned of, one with a scheme is not', () => {
  const warningsOf = (allow: string) => readConfig({ POSTHORN_OUTBOUND_ALLOW: allow }).warnings
  assert.match(warningsOf('10.1.0.0/16')[0] ?? '', /opens every port of 10\.1\.0\.0\/16/)
  assert.deepEqual(warningsOf('https://10.1.0.0/16,accounts+relay.internal'), [])
})

test('the operator’s mail server is read into an account', () => {
  const smtpOf = (url: string) => readConfig({ POSTHORN_SMTP_URL: url }).config.smtp
  assert.deepEqual(smtpOf('smtp://mail.example.com?from=hello@example.com'), {
    host: 'mail.example.com',
    port: '587',
    from: 'hello@example.com',
    secure: false,
  })
  const full =
    'smtps://me%40example.com:p%3Ass%2Fw%C3%B6rd@[::1]:2465/?from=hello%2Bx@example.com&senderName=Acme+Inc&requireTls=true&rejectUnauthorized=false'
  assert.deepEqual(smtpOf(full), {
    host: '[::1]',
    port: '2465',
    from: 'hello+x@example.com',
    senderName: 'Acme Inc',
    user: 'me@example.com',
    password: 'p:ss/wörd',
    secure: true,
    requireTls: true,
    tlsOptions: { rejectUnauthorized: false },
  })
  assert.equal(smtpOf('smtps://mail.example.com?from=a@b.c&ignoreTls=true&rejectUnauthorized=true')?.port, '465')
  assert.equal(smtpOf('smtp://mail.example.com?from=a@b.c&rejectUnauthorized=true')?.tlsOptions, undefined)
  assert.equal(readConfig({}).config.smtp, undefined)
})

test('proxies are read by both of their names, and the password of a bad one is not repeated', () => {
  const upper = readConfig({
    HTTPS_PROXY: 'http://me:p%40ss@proxy.example.com:3128',
    HTTP_PROXY: 'https://proxy.example.com/',
    NO_PROXY: 'localhost, .internal *.local,10.0.0.0/8 fd00::/8,example.com:8443,[::1]:443,::1,*',
  }).config
  assert.equal(upper.httpsProxy, 'http://me:p%40ss@proxy.example.com:3128')
  assert.equal(upper.httpProxy, 'https://proxy.example.com/')
  assert.deepEqual(upper.noProxy.slice(0, 3), ['localhost', '.internal', '*.local'])
  assert.equal(upper.noProxy.length, 9)
  const lower = readConfig({ https_proxy: 'proxy:3128', http_proxy: 'a', HTTP_PROXY: 'b', no_proxy: '*' }).config
  assert.deepEqual([lower.httpsProxy, lower.httpProxy, lower.noProxy], ['http://proxy:3128', 'http://b', ['*']])
  assert.doesNotMatch(mistakesOf({ HTTPS_PROXY: 'ftp://me:very-secret@proxy' }).join(), /very-secret/)
})

test('a node does everything unless it is reported its part', () => {
  assert.equal(readConfig({}).config.role, 'all')
  for (const role of ['api', 'worker', 'all']) assert.equal(readConfig({ POSTHORN_ROLE: role }).config.role, role)
})

test('the collector of traces is read by OpenTelemetry’s own names', () => {
  const { config } = readConfig({
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/',
    OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Basic%20abc=, x-team = a%2Cb',
    OTEL_SERVICE_NAME: 'notify',
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0.25',
  })
  assert.equal(config.tracesEndpoint, 'http://collector:4318')
  assert.deepEqual(config.tracesHeaders, { authorization: 'Basic abc=', 'x-team': 'a,b' })
  assert.deepEqual(
    [config.tracesServiceName, config.tracesSampler, config.tracesRatio],
    ['notify', 'parentbased_traceidratio', 0.25],
  )
  assert.equal(readConfig({}).config.tracesEndpoint, undefined)
  assert.doesNotMatch(mistakesOf({ OTEL_EXPORTER_OTLP_HEADERS: 'very-secret' }).join(), /very-secret/)
})

test('a pooler is read, and refused where there is none to go through', () => {
  const DATABASE_URL = 'postgres://posthorn@pooler:6432/posthorn'
  const direct = 'postgres://posthorn@server:5432/posthorn'
  const { config } = readConfig({
    DATABASE_URL,
    POSTHORN_DATABASE_POOLER: 'transaction',
    POSTHORN_DATABASE_DIRECT_URL: direct,
  })
  assert.equal(config.databasePooler, 'transaction')
  assert.equal(config.databaseDirectUrl, direct)
  assert.equal(readConfig({ DATABASE_URL }).config.databasePooler, 'none')
  assert.deepEqual(readConfig({ POSTHORN_DATABASE_POOLER: 'none' }).config.databaseDirectUrl, undefined)
  const mistakes = mistakesOf({ POSTHORN_DATABASE_POOLER: 'transaction', POSTHORN_DATABASE_DIRECT_URL: direct })
  assert.match(mistakes[0] ?? '', /^POSTHORN_DATABASE_POOLER needs DATABASE_URL/)
  assert.match(mistakes[1] ?? '', /^POSTHORN_DATABASE_DIRECT_URL needs DATABASE_URL/)
  assert.doesNotMatch(mistakes.join(), /server:5432/)
})

const badValues: Record<string, readonly string[]> = {
  OTEL_EXPORTER_OTLP_ENDPOINT: ['collector:4318', 'grpc://collector:4317', 'http://', 'http://me:secret@collector'],
  OTEL_EXPORTER_OTLP_HEADERS: ['authorization', '=x', 'a b=c', 'a=%0d', 'a=%'],
  OTEL_TRACES_SAMPLER: ['sometimes', 'ALWAYS_ON'],
  OTEL_TRACES_SAMPLER_ARG: ['1.1', '-1', 'half', '.', '0.1.2'],
  PORT: ['abc', '-1', '65536', '3000.5', ' 80', '1e3', '0x50'],
  POSTHORN_BASE_URL: ['notify.example.com', 'ftp://x', 'http://'],
  POSTHORN_URL: ['notify.example.com', 'ftp://x', 'http://'],
  DATABASE_URL: ['mysql://db/x', 'db', 'postgres://', 'postgres://db/x?sslmode=prefer', 'postgres://db/x?sslmode='],
  POSTHORN_DATABASE_POOLER: ['session', 'Transaction', 'pgbouncer'],
  POSTHORN_DATABASE_DIRECT_URL: ['mysql://db/x', 'db', 'postgres://db/x?sslmode=prefer'],
  POSTHORN_PROCESSES: ['0', '65', '-1', '1.5', 'all', 'AUTO'],
  POSTHORN_DATABASE_POOL_SIZE: ['2', '0', '501', 'many'],
  POSTHORN_DATABASE_WAIT_MS: ['-1', '3600001', 'long'],
  POSTHORN_DATABASE_STATEMENT_TIMEOUT_MS: ['99', '600001', '0'],
  POSTHORN_DATABASE_LOCK_TIMEOUT_MS: ['99', '600001', '0'],
  POSTHORN_API_KEY: [
    'short',
    'with space in the middle',
    'a-key-of-sixteen a-key-of-sixteen',
    'a-key-of-sixteen a-key-of-sixteen2 a-key-of-sixteen3',
    'x'.repeat(256),
    'ümlaut-ümlaut-ümlaut',
  ],
  POSTHORN_API_KEY_2: ['short'],
  POSTHORN_ENCRYPTION_KEY: [
    'secret',
    'ab'.repeat(31),
    Buffer.alloc(31).toString('base64'),
    `${base64Key.slice(0, 20)}!${base64Key.slice(20)}`,
  ],
  POSTHORN_ENCRYPTION_KEY_PREVIOUS: ['secret'],
  POSTHORN_RATE_LIMIT: ['no', 'ON', 'true'],
  POSTHORN_RATE_LIMIT_TRIGGER: ['0', '-5', '1000001'],
  POSTHORN_RATE_LIMIT_CONFIGURATION: ['0'],
  POSTHORN_RATE_LIMIT_GLOBAL: ['0'],
  POSTHORN_RATE_LIMIT_INBOX: ['0', '-1', 'many'],
  POSTHORN_RETENTION_DAYS: ['0', '-1', '36501', '1.5', 'never', 'OFF', '90d'],
  POSTHORN_ROLE: ['both', 'API', 'worker,api'],
  POSTHORN_SMTP_URL: [
    'mail.example.com',
    'http://mail.example.com?from=a@b.c',
    'smtp://?from=a@b.c',
    'smtp://mail.example.com',
    'smtp://mail.example.com?from=',
    'smtp://mail.example.com?from=Acme <a@b.c>',
    'smtp://mail.example.com?from=a@b.c%0d%0aBcc:%20d@e.f',
    'smtp://mail.example.com:99999?from=a@b.c',
    'smtp://mail.example.com/inbox?from=a@b.c',
    'smtp://mail.example.com?from=a@b.c#x',
    'smtp://me@mail.example.com?from=a@b.c',
    'smtp://me:100%@mail.example.com?from=a@b.c',
    'smtp://mail.example.com?from=a@b.c&requireTls=yes',
    'smtp://mail.example.com?from=a@b.c&requireTls=true&ignoreTls=true',
    'smtp://mail.example.com?from=a@b.c&tls=true',
    'smtp://mail.example.com?from=a@b.c&senderName=a%0db',
    'smtp://mail%20example?from=a@b.c',
  ],
  POSTHORN_OPERATOR_REACH: ['no', 'ON'],
  POSTHORN_REVEAL_SECRETS: ['no', 'OFF'],
  POSTHORN_UNKNOWN_MEMBERS: ['ignore', 'REFUSE'],
  POSTHORN_TRUSTED_PROXIES: ['proxy', '10.0.0.0/33', '10.0.0.1/8/8', 'true'],
  POSTHORN_METRICS_KEY: ['short', 'with blanks in it, so it is no key'],
  POSTHORN_DOCS: ['no', 'ON'],
  POSTHORN_DASHBOARD: ['no', 'ON'],
  POSTHORN_OIDC_ISSUER: ['accounts', 'http://accounts.example.com', 'https://a.example?x', 'https://u:p@a.example'],
  POSTHORN_OIDC_DEFAULT_ROLE: ['root', 'Owner'],
  POSTHORN_OIDC_DOMAINS: ['@example.com', 'localhost', 'a.example;b.example'],
  POSTHORN_VENDOR: ['Novu', 'other'],
  POSTHORN_CORS_ORIGINS: ['app.example.com', 'https://app.example.com/path', 'https://a.example.com,b'],
  POSTHORN_OUTBOUND_ALLOW: [
    '10.0.0.0/33',
    'fd00::/129',
    'ftp://relay',
    '10.1.0.0/16,two words',
    '-x',
    'https://relay:70000',
    'https://relay/x',
    'accounts+',
    'https://',
  ],
  HTTPS_PROXY: [
    'socks5://proxy.example.com:1080',
    'http://',
    'http://proxy.example.com:99999',
    'http://proxy.example.com/path',
    'http://proxy.example.com?a=b',
    'http://me:100%@proxy.example.com',
    'http://me:a%0d%0ab@proxy.example.com',
    'two words',
  ],
  HTTP_PROXY: ['ftp://proxy.example.com'],
  NO_PROXY: ['http://example.com', '10.0.0.0/33', 'fd00::/129', '10.0.0.0/8/8', 'a*b', 'example.com/8', '-x', 'a,/'],
  POSTHORN_PROXY_TARGET: ['both', 'Name'],
  POSTHORN_CA_FILE: [',', ' , '],
  POSTHORN_INBOX_DEMO: ['yes', 'LOCAL'],
  POSTHORN_INBOX_ORIGINS: ['app.example.com', 'https://app.example.com/path', 'https://*.example.com/'],
  POSTHORN_INBOX_SESSION_DAYS: ['0', '366', '1.5', 'never'],
  POSTHORN_LOG_LEVEL: ['trace', 'INFO'],
  POSTHORN_LOG_FORMAT: ['xml'],
}

for (const [variable, values] of Object.entries(badValues)) {
  test(`a bad ${variable} is refused by its name`, () => {
    for (const value of values) {
      const mistakes = mistakesOf({ [variable]: value })
      assert.equal(mistakes.length, 1, `${value} should be refused`)
      assert.match(mistakes[0] ?? '', new RegExp(`^${variable} must `))
    }
  })
}

test('a setting that can be wrong has bad values in this test', () => {
  const anyTextIsGood = [
    'HOST',
    'POSTHORN_DATA_DIR',
    'POSTHORN_PROVIDERS_DIR',
    'XDG_STATE_HOME',
    'NODE_EXTRA_CA_CERTS',
    'OTEL_SERVICE_NAME',
    'POSTHORN_OIDC_CLIENT_ID',
    'POSTHORN_OIDC_CLIENT_SECRET',
    'POSTHORN_OIDC_NAME',
  ]
  const variables = Object.values(settings).map((setting) => setting.variable)
  const untested = variables.filter((name) => !anyTextIsGood.includes(name) && badValues[name] === undefined)
  assert.ok(
    untested.length === 0 || untested.every((name) => mistakesOf({ [name]: '\u0000' }).length === 0),
    untested.join(),
  )
})

test('all mistakes are reported at once, and no secret is repeated', () => {
  const secret = 'hush hush hush hush'
  const mistakes = mistakesOf({
    PORT: 'x',
    DATABASE_URL: secret,
    POSTHORN_API_KEY: secret,
    POSTHORN_ENCRYPTION_KEY: secret,
    POSTHORN_SMTP_URL: 'smtp://hush:hush@hush.example/hush?from=hush&hush=hush',
    POSTHORN_LOG_LEVEL: 'loud',
  })
  assert.deepEqual(
    mistakes.map((mistake) => mistake.split(' ')[0]),
    ['PORT', 'DATABASE_URL', 'POSTHORN_API_KEY', 'POSTHORN_ENCRYPTION_KEY', 'POSTHORN_SMTP_URL', 'POSTHORN_LOG_LEVEL'],
  )
  assert.doesNotMatch(mistakes.join('\n'), /hush/)
})

test('one key cannot open two environments', () => {
  const mistakes = mistakesOf({ POSTHORN_API_KEY: 'the-same-key-twice', POSTHORN_API_KEY_2: 'the-same-key-twice' })
  assert.equal(mistakes.length, 1)
  assert.match(mistakes[0] ?? '', /^POSTHORN_API_KEY_2 must differ/)
})

test('a variable holds two keys while one replaces the other, and neither may open the other environment', () => {
  const both = { POSTHORN_API_KEY: ' the-new-key-of-all \n the-old-key-of-all\n' }
  assert.deepEqual(readConfig(both).config.apiKeys, ['the-new-key-of-all', 'the-old-key-of-all'])
  const mistakes = mistakesOf({ ...both, POSTHORN_API_KEY_2: 'the-old-key-of-all' })
  assert.match(mistakes.join(), /^POSTHORN_API_KEY_2 must differ/)
})

test('an unknown POSTHORN_ variable is warned of, others are not ours', () => {
  const { warnings } = readConfig({ POSTHORN_APIKEY: 'x', PATH: '/bin', PGHOST: 'db' })
  assert.deepEqual(warnings, ['POSTHORN_APIKEY is not a setting of Posthorn and is ignored'])
})

test('an identity provider needs a client and the address that people come back to', () => {
  const whole = {
    POSTHORN_OIDC_ISSUER: 'https://accounts.example.com/',
    POSTHORN_OIDC_CLIENT_ID: 'posthorn',
    POSTHORN_OIDC_CLIENT_SECRET: 'hush',
    POSTHORN_OIDC_DOMAINS: 'Example.com, corp.example.org',
    POSTHORN_BASE_URL: 'https://posthorn.example.com',
  }
  const { config } = readConfig(whole)
  assert.equal(config.oidcIssuer, 'https://accounts.example.com/')
  assert.equal(config.oidcDefaultRole, 'none')
  assert.deepEqual(config.oidcDomains, ['example.com', 'corp.example.org'])
  assert.deepEqual(mistakesOf({ ...whole, POSTHORN_OIDC_ISSUER: 'http://127.0.0.1:9000' }), [])
  for (const [variable, bad] of [
    ['POSTHORN_OIDC_ISSUER', 'http://accounts.example.com'],
    ['POSTHORN_OIDC_ISSUER', 'https://user:hush@accounts.example.com'],
    ['POSTHORN_OIDC_DOMAINS', '@example.com'],
    ['POSTHORN_OIDC_DEFAULT_ROLE', 'root'],
    ['POSTHORN_OIDC_CLIENT_ID', ''],
    ['POSTHORN_BASE_URL', ''],
  ] as const) {
    const [mistake = '', ...more] = mistakesOf({ ...whole, [variable]: bad })
    assert.ok(mistake.startsWith(variable) && more.length === 0, `${variable}: ${mistake}`)
    assert.ok(!mistake.includes('hush'))
  }
})
