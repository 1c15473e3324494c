// Slack: the webhook of a subscriber, the bot that posts to a channel, and what their answers mean.
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import type { ChatMessage } from '../../src/domain/messages/outbound-message.ts'
import { slack } from '../../src/providers/chat/slack.ts'
import { formMistakes } from '../../src/providers/form.ts'
import type { VendorAnswer } from '../support/provider-scene.ts'
import { chatMessage, kindOf, sendWith, vendorAnswering } from '../support/provider-scene.ts'

const webhookUrl = 'https://hooks.slack.com/services/T00000000/B00000000/FAKEFAKEFAKE'
const bot = { token: 'xoxb-top-secret' }
const ok: VendorAnswer = { status: 200, body: 'ok' }
const posted: VendorAnswer = { status: 200, body: { ok: true, channel: 'C0123456789', ts: '1503435956.000247' } }

async function send(t: TestContext, change: Partial<ChatMessage>, answer: VendorAnswer = ok, credentials: object = {}) {
  const vendor = await vendorAnswering(t, answer)
  const outcome = await sendWith(vendor, slack, { ...chatMessage, ...change }, credentials)
  const [call] = vendor.seen
  return { outcome, asked: vendor.asked, call, body: JSON.parse(call?.body ?? 'null') }
}

test('a subscriber’s webhook gets the text, without any credentials', async (t) => {
  const { outcome, asked, call, body } = await send(
    t,
    { webhookUrl, channel: 'slack' },
    { ...ok, headers: { 'x-slack-req-id': 'trace-1' } },
    bot,
  )
  assert.deepEqual(outcome, { kind: 'sent', providerMessageId: 'trace-1' })
  assert.deepEqual(asked, [`POST ${webhookUrl}`])
  assert.equal(call?.headers.authorization, undefined)
  assert.equal(call?.headers['content-type'], 'application/json; charset=utf-8')
  assert.deepEqual(body, { text: 'Order *#42* shipped' })
})

test('a workflow’s webhook answers JSON, and without an id of Slack’s ours stands for it', async (t) => {
  const { outcome } = await send(
    t,
    { webhookUrl: 'https://hooks.slack-gov.com/triggers/T0/1/x' },
    { status: 200, body: { ok: true } },
  )
  assert.deepEqual(outcome, { kind: 'sent', providerMessageId: chatMessage.id })
})

test('settings such as blocks travel with the text, and do not say where it goes', async (t) => {
  const customData = { blocks: [{ type: 'divider' }], unfurl_links: false, channel: '#other', webhookUrl: 'https://x' }
  const hook = await send(t, { webhookUrl, customData })
  assert.deepEqual(hook.body, { text: 'Order *#42* shipped', blocks: [{ type: 'divider' }], unfurl_links: false })
  const posting = await send(t, { channel: 'C1', customData }, posted, bot)
  assert.deepEqual(posting.body, { ...hook.body, channel: 'C1' })
  const silent = await send(t, { webhookUrl, content: '', customData })
  assert.deepEqual(silent.body, { blocks: [{ type: 'divider' }], unfurl_links: false })
})

test('a passthrough adds to the message, and does not say where it goes', async (t) => {
  const added = await send(t, { channel: 'C1', passthrough: { body: { thread_ts: '1' } } }, posted, bot)
  assert.deepEqual([added.body.channel, added.body.thread_ts], ['C1', '1'])
  for (const passthrough of [
    { body: { channel: '#other' } },
    { body: { token: 'xoxb-mine' } },
    { query: { channel: '#other' } },
  ]) {
    for (const to of [{ webhookUrl }, { channel: 'C1' }]) {
      const { outcome, asked } = await send(t, { ...to, passthrough }, posted, bot)
      assert.deepEqual([kindOf(outcome), asked], ['refused: bad-content', []], JSON.stringify(passthrough))
    }
  }
})

test('a message that says nothing is not sent', async (t) => {
  for (const customData of [{}, { blocks: [] }, { text: '' }]) {
    const { outcome, asked } = await send(t, { webhookUrl, content: '', customData })
    assert.deepEqual([kindOf(outcome), asked.length], ['refused: bad-content', 0])
  }
})

test('an address that is not Slack’s own is not called, and not repeated in words', async (t) => {
  const wrong = [
    'http://hooks.slack.com/services/T/B/secret-part',
    'https://hooks.slack.com.evil.example/services/T/B/secret-part',
    'https://evil.example/services/T/B/secret-part',
    'https://hooks.slack.com:8443/services/T/B/secret-part',
    'https://user:secret-part@hooks.slack.com/services/T/B/x',
    'https://hooks.slack.com/api/secret-part',
    'https://hooks.slack.com/services/',
    'http://127.0.0.1/services/secret-part',
    'http://169.254.169.254/services/secret-part',
    'secret-part',
  ]
  for (const address of wrong) {
    const { outcome, asked } = await send(t, { webhookUrl: address }, ok, { ...bot, channelId: 'C1' })
    assert.deepEqual([kindOf(outcome), asked.length], ['refused: bad-recipient', 0], address)
    assert.doesNotMatch(JSON.stringify(outcome), /secret-part/)
  }
})

const webhookAnswers: [number, string, string][] = [
  [400, 'invalid_payload', 'refused: bad-content'],
  [400, 'no_text', 'refused: bad-content'],
  [400, 'too_many_attachments', 'refused: bad-content'],
  [400, 'user_not_found', 'refused: bad-recipient'],
  [403, 'action_prohibited', 'refused: bad-recipient'],
  [403, 'invalid_token', 'refused: bad-recipient'],
  [404, 'no_service', 'refused: bad-recipient'],
  [404, 'channel_not_found', 'refused: bad-recipient'],
  [410, 'channel_is_archived', 'refused: bad-recipient'],
  [302, '', 'refused: bad-recipient'],
  [429, 'rate_limited', 'busy'],
  [500, 'rollup_error', 'busy'],
  [503, '', 'busy'],
  [504, '', 'unsure'],
  [200, '<html>', 'unsure'],
  [413, '', 'refused: other'],
]
for (const [status, words, kind] of webhookAnswers) {
  test(`a webhook that answers ${status} ${words}: ${kind}`, async (t) => {
    const { outcome } = await send(t, { webhookUrl }, { status, body: words })
    assert.equal(kindOf(outcome), kind)
    const detail = `Slack answered ${status}${words === '' ? '' : `: ${words}`}`
    assert.equal('detail' in outcome && outcome.detail, detail)
  })
}

test('a webhook’s address does not come back in words, and Retry-After is respected', async (t) => {
  const echo = await send(t, { webhookUrl }, { status: 404, body: `no hook at ${new URL(webhookUrl).pathname}` })
  assert.deepEqual(echo.outcome, {
    kind: 'refused',
    reason: 'bad-recipient',
    detail: 'Slack answered 404: no hook at [redacted]',
  })
  const limited = await send(t, { webhookUrl }, { status: 429, headers: { 'retry-after': '3' }, body: 'rate_limited' })
  assert.equal(limited.outcome.kind === 'busy' && limited.outcome.retryAfterMs, 3_000)
})

test('without a webhook the bot posts to the subscriber’s channel, and its id is channel and time', async (t) => {
  const { outcome, asked, call, body } = await send(t, { channel: 'C9' }, posted, { ...bot, channelId: 'C1' })
  assert.deepEqual(outcome, { kind: 'sent', providerMessageId: 'C0123456789:1503435956.000247' })
  assert.deepEqual(asked, ['POST https://slack.com/api/chat.postMessage'])
  assert.equal(call?.headers.authorization, 'Bearer xoxb-top-secret')
  assert.equal(call?.headers['content-type'], 'application/json; charset=utf-8')
  assert.deepEqual(body, { text: 'Order *#42* shipped', channel: 'C9' })
})

test('the account’s channel serves those who have none, and those whose entry holds the provider’s name', async (t) => {
  for (const channel of [undefined, '', 'slack']) {
    const change = channel === undefined ? {} : { channel }
    const { body } = await send(t, change, posted, { ...bot, channelId: 'C1' })
    assert.equal(body.channel, 'C1')
  }
})

test('an empty webhook address is as good as none', async (t) => {
  const { outcome, asked } = await send(t, { webhookUrl: '', channel: 'C1' }, posted, bot)
  assert.deepEqual([outcome.kind, asked], ['sent', ['POST https://slack.com/api/chat.postMessage']])
})

test('with neither webhook nor bot and channel, no one is asked', async (t) => {
  for (const [change, credentials] of [
    [{}, bot],
    [{ channel: 'C1' }, {}],
    [{ channel: 'slack' }, bot],
  ] as const) {
    const { outcome, asked } = await send(t, change, posted, credentials)
    assert.deepEqual([kindOf(outcome), asked.length], ['refused: bad-recipient', 0])
  }
})

test('another base of the Web API is used by the bot alone', async (t) => {
  const credentials = { ...bot, baseUrl: 'https://slack-gov.com/api/' }
  const posting = await send(t, { channel: 'C1' }, posted, credentials)
  assert.deepEqual(posting.asked, ['POST https://slack-gov.com/api/chat.postMessage'])
  const hook = await send(t, { webhookUrl }, ok, credentials)
  assert.deepEqual(hook.asked, [`POST ${webhookUrl}`])
})

test('a subscriber’s address is guarded even where the account reaches its own network', async (t) => {
  const { world } = await vendorAnswering(t, ok)
  const reaches: unknown[] = []
  const passOn = world.onFetch
  world.onFetch = (request, options) => {
    reaches.push(options.isTheirs === true ? 'theirs' : options.reach)
    return passOn?.(request, options) ?? Promise.reject(new Error('no network'))
  }
  const credentials = { ...bot, baseUrl: 'http://10.0.0.1/api' }
  await sendWith({ world }, slack, { ...chatMessage, webhookUrl }, credentials)
  await sendWith({ world }, slack, { ...chatMessage, channel: 'C1' }, credentials)
  await sendWith({ world }, slack, { ...chatMessage, channel: 'C1' }, bot)
  assert.deepEqual(reaches, ['theirs', 'operator', 'guarded'])
})

const botErrors: [string, string][] = [
  ['ratelimited', 'busy'],
  ['rate_limited', 'busy'],
  ['message_limit_exceeded', 'busy'],
  ['service_unavailable', 'busy'],
  ['request_timeout', 'busy'],
  ['internal_error', 'unsure'],
  ['fatal_error', 'unsure'],
  ['channel_not_found', 'refused: bad-recipient'],
  ['is_archived', 'refused: bad-recipient'],
  ['user_not_found', 'refused: bad-recipient'],
  ['not_in_channel', 'refused: bad-recipient'],
  ['restricted_action', 'refused: other'],
  ['ekm_access_denied', 'refused: other'],
  ['something_new', 'refused: other'],
  ['not_authed', 'misconfigured'],
  ['invalid_auth', 'misconfigured'],
  ['token_revoked', 'misconfigured'],
  ['missing_scope', 'misconfigured'],
  ['no_text', 'refused: bad-content'],
  ['msg_too_long', 'refused: bad-content'],
  ['invalid_blocks', 'refused: bad-content'],
  ['metadata_too_large', 'refused: bad-content'],
]
test('the Web API’s errors come with 200 and are distinguished by name', async (t) => {
  for (const [error, kind] of botErrors) {
    const { outcome } = await send(t, { channel: 'C1' }, { status: 200, body: { ok: false, error } }, bot)
    assert.equal(kindOf(outcome), kind, error)
    assert.equal('detail' in outcome && outcome.detail, `Slack answered 200: ${error}`)
  }
  const scope = await send(
    t,
    { channel: 'C1' },
    { status: 200, body: { ok: false, error: 'missing_scope', needed: 'chat:write' } },
    bot,
  )
  assert.match(JSON.stringify(scope.outcome), /missing_scope \(needed: chat:write\)/)
})

test('a rate limit waits as long as Slack says, or half a minute', async (t) => {
  const waits = async (answer: VendorAnswer) => {
    const { outcome } = await send(t, { channel: 'C1' }, answer, bot)
    return outcome.kind === 'busy' ? outcome.retryAfterMs : outcome.kind
  }
  const limited = { ok: false, error: 'ratelimited' }
  assert.equal(await waits({ status: 429, headers: { 'retry-after': '5' }, body: limited }), 5_000)
  assert.equal(await waits({ status: 429, body: limited }), 30_000)
  assert.equal(await waits({ status: 200, body: limited }), 30_000)
})

test('an answer of the Web API that is none leaves us unsure, and a bot’s token is never shown', async (t) => {
  for (const body of ['<html>', {}, { ok: true }, { ok: 'true', ts: '1', channel: 'C' }]) {
    const { outcome } = await send(t, { channel: 'C1' }, { status: 200, body }, bot)
    assert.equal(outcome.kind, 'unsure', JSON.stringify(body))
  }
  const { outcome } = await send(t, { channel: 'C1' }, { status: 401, body: 'no xoxb-top-secret here' }, bot)
  assert.deepEqual(outcome, { kind: 'misconfigured', detail: 'Slack answered 401: no [redacted] here' })
})

test('the check asks about the token and its scope, and about nothing where there is none', async (t) => {
  const check = async (answer: VendorAnswer, credentials: object = bot) => {
    const vendor = await vendorAnswering(t, answer)
    return { result: await slack.check?.(vendor.world, credentials), asked: vendor.asked, seen: vendor.seen }
  }
  const none = await check(ok, {})
  assert.deepEqual([none.result, none.asked], [{ kind: 'good' }, []])
  const scopes = { 'x-oauth-scopes': 'incoming-webhook, chat:write' }
  const right = await check({ status: 200, headers: scopes, body: { ok: true } })
  assert.deepEqual([right.result, right.asked], [{ kind: 'good' }, ['POST https://slack.com/api/auth.test']])
  assert.equal(right.seen[0]?.headers.authorization, 'Bearer xoxb-top-secret')
  const narrow = await check({ status: 200, headers: { 'x-oauth-scopes': 'chat:write.public' }, body: { ok: true } })
  assert.equal(narrow.result?.kind === 'bad' && narrow.result.field, 'token')
  const wrong = await check({ status: 200, body: { ok: false, error: 'invalid_auth' } })
  assert.deepEqual(wrong.result, { kind: 'bad', words: 'Slack answered 200: invalid_auth', field: 'token' })
  assert.equal((await check({ status: 503 })).result?.kind, 'bad')
})

test('an account may be empty, and what is ill-formed is reported by its field', () => {
  const mistakes = (credentials: object) => Object.keys(formMistakes(slack.form, credentials))
  assert.deepEqual(mistakes({}), [])
  assert.deepEqual(mistakes({ token: 'xoxb a' }), ['credentials.token'])
  assert.deepEqual(mistakes({ baseUrl: 'http://169.254.169.254/api' }), ['credentials.baseUrl'])
  assert.deepEqual(mistakes({ redirectUrl: 'app' }), ['credentials.redirectUrl'])
})
