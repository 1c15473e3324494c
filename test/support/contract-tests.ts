// The tests that every provider's contract is held to.
import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { Outcome } from '../../src/domain/delivery/outcome.ts'
import { fieldsOf, formMistakes, isSecret } from '../../src/providers/form.ts'
import { OutboundError } from '../../src/world/outbound/outbound-error.ts'
import { createOutboundFetch } from '../../src/world/outbound/outbound-fetch.ts'
import { bytesAnswers, fuzzedAnswers, strangeAnswers } from './contract-answers.ts'
import { readsReceipts, readsReplies } from './contract-inbound.ts'
import { asksBeforeItLeaves } from './contract-leaving.ts'
import { askedOf, scriptedWorld, send } from './contract-world.ts'
import { createFakeWorld } from './fake-world.ts'
import { textsOf, writtenRequest } from './golden-request.ts'
import { startVendor } from './integration-scene.ts'
import { bodyOf } from './outbound-scene.ts'
import { projectRoot } from './project-root.ts'
import type { AskedRequest, ContractAnswer, ProviderContract } from './provider-contract.ts'
import { leastMessage, sampleMessage } from './provider-contract.ts'
import { kindOf } from './provider-scene.ts'
import { fuzzRounds } from './random.ts'

/** Set to write the golden files again; read what changed before it is kept. */
const writesGolden = process.env['WRITE_GOLDEN'] === '1'
const goldenDirectory = pathToFileURL(join(projectRoot, 'test/providers/golden/'))

export function holdToContract(
  contract: ProviderContract,
  golden = new URL(`${contract.provider.id}.txt`, goldenDirectory),
): void {
  const { provider } = contract
  const rule = (name: string, body: () => void | Promise<void>): void => void test(`${provider.id}: ${name}`, body)

  rule('the account of the contract is a good one, and every required field is asked for', () => {
    assert.deepEqual(formMistakes(provider.form, contract.account), {})
    for (const [key, field] of fieldsOf(provider.form)) {
      const { [key]: _left, ...rest } = contract.account
      const isNamed = `credentials.${key}` in formMistakes(provider.form, rest)
      assert.equal(isNamed, field.required, `${key} is ${field.required ? 'required' : 'optional'}`)
    }
    assert.deepEqual(
      Object.keys(contract.account).filter((key) => !(key in provider.form)),
      [],
      'unknown to the form',
    )
  })
  rule('its requests are those of the golden file', () => comparesGolden(contract, golden))
  rule('a success is sent, with the vendor’s id, over a real connection', () => sendsOverTheWire(contract))
  rule('every documented answer is read as it is meant', () => readsAnswers(contract))
  rule('401, 429 with Retry-After and 500 mean what they mean anywhere', () => readsStatuses(contract))
  rule('it asks once before the request that sends, and nothing leaves where the answer is no', () =>
    asksBeforeItLeaves(contract),
  )
  rule('no answer, a late one and one that is cut off are distinguished', () => tellsFailures(contract))
  rule('an answer that is empty, HTML, huge or broken never throws and is never repeated blindly', () =>
    bearsStrangeAnswers(contract),
  )
  rule('fuzzed answers never throw', () => bearsFuzz(contract))
  rule('no secret is reported, whatever the vendor repeats', () => keepsSecrets(contract))
  rule('what it says arrives whole: Unicode, quotes, a thousand characters', () => carriesContent(contract))
  rule('a passthrough adds to the request, and not to the recipients', () => takesPassthrough(contract))
  if (contract.check !== undefined) rule('the check reports good accounts from bad ones', () => checks(contract))
  if (contract.batch !== undefined)
    rule('many messages go in one request, each with its own outcome', () => sendsTogether(contract))
  if (contract.receipts !== undefined)
    rule('receipts are read, and believed only when proven', () => readsReceipts(contract))
  if (contract.replies !== undefined)
    rule('answers to e-mails are read, and believed only when proven', () => readsReplies(contract))
}

async function comparesGolden(contract: ProviderContract, golden: URL): Promise<void> {
  const { provider, success, variants = [], batch } = contract
  const least = Object.fromEntries(
    fieldsOf(provider.form).flatMap(([key, field]) =>
      field.required && contract.account[key] !== undefined ? [[key, contract.account[key]]] : [],
    ),
  )
  const cases = [
    { name: 'a message with everything', message: sampleMessage(contract), account: contract.account },
    { name: 'a message with the least, by an account with the least', message: leastMessage(contract), account: least },
    ...variants.map((variant) => ({
      name: variant.name,
      message: sampleMessage(contract, variant.message),
      account: variant.account ?? contract.account,
    })),
  ]
  const sections: string[] = []
  for (const { name, message, account } of cases) {
    const { asked, outcome } = await send(contract, success.answer, { message, account })
    assert.notEqual(asked.length, 0, `${name}: nothing was asked: ${JSON.stringify(outcome)}`)
    sections.push([`### ${name}`, ...asked.map((one) => writtenRequest(one, contract.volatile))].join('\n\n'))
  }
  if (batch !== undefined) {
    const { world, asked } = scriptedWorld(contract, batch.answer)
    await provider.sendMany?.(
      world,
      batch.messages.map((message) => sampleMessage(contract, message)),
      { ...contract.account },
    )
    sections.push(['### many messages', ...asked.map((one) => writtenRequest(one, contract.volatile))].join('\n\n'))
  }
  const text = `${sections.join('\n\n')}\n`
  if (writesGolden) writeFileSync(golden, text)
  assert.ok(existsSync(golden), `there is no golden file ${golden.pathname}: run with WRITE_GOLDEN=1, and read it`)
  assert.equal(text, readFileSync(golden, 'utf8'))
}

async function sendsOverTheWire(contract: ProviderContract): Promise<void> {
  const closers: (() => Promise<void>)[] = []
  const context = { after: (close: () => Promise<void>) => void closers.push(close) }
  let cuts = false
  const address = await startVendor(context as never, async (request, response) => {
    const body = await bodyOf(request)
    if (cuts) return void request.socket.destroy()
    const url = String(request.headers['x-asked-url'])
    const headers = request.headers as Record<string, string>
    const answer = contract.before?.({ url, method: request.method ?? '', headers, body }) ?? contract.success.answer
    const { status, headers: given = {}, body: said = '' } = answer
    response.writeHead(status, given).end(typeof said === 'string' ? said : JSON.stringify(said))
  })
  const fetch = createOutboundFetch({ allow: ['127.0.0.1'] })
  const world = createFakeWorld()
  world.fetch = async (request, options = {}) => {
    const plain = request instanceof Request ? { ...(await askedOf(request)) } : request
    const { pathname, search } = new URL(plain.url)
    const { http2: _http2, ...rest } = options
    const headers = { ...plain.headers, 'x-asked-url': plain.url }
    cuts = cutsNext && contract.before?.(await askedOf(plain)) === undefined
    return fetch({ ...plain, url: `${address}${pathname}${search}`, headers }, rest)
  }
  let cutsNext = false
  try {
    const sent = await contract.provider.send?.(world, sampleMessage(contract), { ...contract.account })
    assert.equal(sent?.kind, 'sent', JSON.stringify(sent))
    assert.equal(sent?.kind === 'sent' && sent.providerMessageId, contract.success.id)
    cutsNext = true
    const cut = await contract.provider.send?.(world, sampleMessage(contract), { ...contract.account })
    assert.equal(cut?.kind, 'unsure', 'a connection that is cut leaves us unsure')
  } finally {
    for (const close of closers) await close()
  }
}

async function readsAnswers(contract: ProviderContract): Promise<void> {
  for (const [name, answer, id] of contract.successes ?? []) {
    const { outcome } = await send(contract, answer)
    assert.equal(outcome.kind === 'sent' ? outcome.providerMessageId : JSON.stringify(outcome), id, name)
  }
  for (const [name, answer, kind, retryAfterMs] of contract.errors) {
    const { outcome, logged } = await send(contract, answer)
    assert.equal(kindOf(outcome), kind, `${name}: ${JSON.stringify(outcome)}`)
    assert.notEqual('detail' in outcome && outcome.detail, '', `${name}: in words`)
    if (retryAfterMs !== undefined) assert.equal(outcome.kind === 'busy' && outcome.retryAfterMs, retryAfterMs, name)
    assert.doesNotMatch(logged, /failed without/, name)
  }
  assert.notEqual(contract.errors.length, 0, 'every vendor documents some failure')
}

async function readsStatuses(contract: ProviderContract): Promise<void> {
  const usual: Record<number, string> = { 401: 'misconfigured', 429: 'busy', 500: 'busy', ...contract.statuses }
  for (const [status, kind] of Object.entries(usual)) {
    const { outcome } = await send(contract, { status: Number(status), headers: { 'retry-after': '7' } })
    assert.equal(kindOf(outcome), kind, `${status}: ${JSON.stringify(outcome)}`)
    if (status === '429' && kind === 'busy') assert.equal(outcome.kind === 'busy' && outcome.retryAfterMs, 7_000)
    if (isWaiting(outcome)) assert.equal(outcome.down, Number(status) < 500 ? undefined : downOf(contract), status)
  }
}

const isWaiting = (outcome: Outcome): outcome is Outcome & { kind: 'busy' | 'unsure' } =>
  outcome.kind === 'busy' || outcome.kind === 'unsure'

/** Whether the vendor's trouble is that of all messages, or of the one whose recipient is called. */
const downOf = ({ callsRecipient }: ProviderContract): true | undefined => (callsRecipient === true ? undefined : true)

async function tellsFailures(contract: ProviderContract): Promise<void> {
  for (const [kind, expected] of [
    ['not-sent', 'busy'],
    ['unsure', 'unsure'],
  ] as const) {
    const fails = async (): Promise<never> => {
      throw new OutboundError(kind, 'the vendor did not respond within 19000 ms')
    }
    const { outcome } = await send(contract, fails)
    assert.equal(outcome.kind, expected, kind)
    assert.equal(isWaiting(outcome) && outcome.down, downOf(contract), `${kind} speaks against the vendor`)
  }
}

async function bearsStrangeAnswers(contract: ProviderContract): Promise<void> {
  for (const status of [200, 201, 202, 400, 500]) {
    for (const [name, body] of Object.entries(strangeAnswers)) {
      const { outcome, logged } = await send(contract, { status, body })
      assert.doesNotMatch(logged, /failed without/, `${status} ${name}`)
      if (status >= 300) continue
      // A success that cannot be read was perhaps sent: repeating it blindly would say it twice.
      assert.notEqual(outcome.kind, 'busy', `${status} ${name}`)
      const isSent = outcome.kind === 'sent'
      assert.ok(
        !isSent || contract.bodyIsIgnored === true,
        `${status} ${name}: ${JSON.stringify(outcome)} is no success`,
      )
    }
  }
}

async function bearsFuzz(contract: ProviderContract): Promise<void> {
  const { answer } = contract.success
  const samples = [
    answer,
    ...contract.errors.map(([, one]) => one),
    ...(contract.successes ?? []).map(([, one]) => one),
  ]
  for (const fuzzed of fuzzedAnswers(samples, fuzzRounds(contract.signs === true ? 100 : 500))) {
    const { outcome, logged } = await send(contract, fuzzed)
    assert.doesNotMatch(logged, /failed without/, JSON.stringify(fuzzed))
    assert.match(outcome.kind, /^(sent|refused|misconfigured|busy|unsure)$/)
    if (outcome.kind === 'sent') assert.notEqual(outcome.providerMessageId, '', JSON.stringify(fuzzed))
  }
}

async function keepsSecrets(contract: ProviderContract): Promise<void> {
  const secrets = fieldsOf(contract.provider.form).flatMap(([key, field]) => {
    const value = contract.account[key]
    return isSecret(field) && typeof value === 'string' ? [value] : []
  })
  const echoes =
    (status: number) =>
    (asked: AskedRequest): ContractAnswer => ({
      status,
      body: {
        message: JSON.stringify(asked),
        error: { message: `${asked.url} ${Object.values(asked.headers).join(' ')} ${asked.body}` },
      },
    })
  for (const status of [200, 400, 401, 500]) {
    for (const answering of [echoes(status), (asked: AskedRequest) => ({ status, body: JSON.stringify(asked) })]) {
      const { outcome, logged } = await send(contract, answering)
      for (const secret of secrets) {
        assert.equal(JSON.stringify(outcome).includes(secret), false, `${status}: an outcome tells a secret`)
        assert.equal(logged.includes(secret), false, `${status}: the log tells a secret`)
      }
    }
  }
}

async function carriesContent(contract: ProviderContract): Promise<void> {
  const texts = ['Grüße, “Zoë” 👋🏽 & <b>مرحبا</b> \\ 100 % 你好', `${'x'.repeat(998)}é!`]
  for (const text of texts) {
    const change =
      contract.provider.channel === 'email'
        ? { text, html: `<p>${text}</p>`, subject: text.slice(0, 60) }
        : { content: text }
    const { outcome, asked } = await send(contract, contract.success.answer, {
      message: sampleMessage(contract, change),
    })
    if (outcome.kind === 'refused' && asked.length === 0) {
      assert.equal(outcome.reason, 'bad-content', 'a text that is too long is refused in words')
      continue
    }
    assert.equal(outcome.kind, 'sent', JSON.stringify(outcome))
    const said = asked.flatMap(textsOf)
    assert.ok(
      said.some((one) => one.includes(text)),
      `${text.slice(0, 40)} is not in the request`,
    )
  }
}

async function takesPassthrough(contract: ProviderContract): Promise<void> {
  const { provider, success } = contract
  const passthrough = { headers: { 'x-posthorn-probe': 'yes' }, query: { probe: 'asked' } }
  const body = contract.withoutBody === undefined ? { body: { posthornProbe: 'said' } } : {}
  const { outcome, asked } = await send(contract, success.answer, {
    message: sampleMessage(contract, { passthrough: { ...passthrough, ...body } }),
  })
  assert.equal(outcome.kind, 'sent', JSON.stringify(outcome))
  const last = asked.at(-1)
  assert.equal(last?.headers['x-posthorn-probe'], 'yes')
  assert.match(last?.url ?? '', /[?&]probe=asked\b/)
  if (contract.withoutBody === undefined) assert.match(last?.body ?? '', /posthornProbe/)
  const [member] = provider.recipientMembers ?? []
  if (member === undefined || contract.withoutBody !== undefined) return
  const nested = member.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), 'somebody-else')
  const redirected = await send(contract, success.answer, {
    message: sampleMessage(contract, { passthrough: { body: nested } }),
  })
  assert.equal(kindOf(redirected.outcome), 'refused: bad-content', 'a passthrough must not say where a message goes')
}

async function checks(contract: ProviderContract): Promise<void> {
  const { provider, account, check = [] } = contract
  for (const [name, answer, expected] of check) {
    const { world } = scriptedWorld(contract, answer)
    const result = await provider.check?.(world, { ...account })
    const reported = result?.kind === 'bad' && result.field !== undefined ? `bad: ${result.field}` : result?.kind
    assert.equal(reported, expected, `${name}: ${JSON.stringify(result)}`)
  }
  const { world } = scriptedWorld({ ...contract, before: () => undefined }, async () => {
    throw new OutboundError('not-sent', 'no one is there')
  })
  assert.equal((await provider.check?.(world, { ...account }))?.kind, 'bad', 'a vendor that is away')
}

async function sendsTogether(contract: ProviderContract): Promise<void> {
  const { provider, account, batch } = contract
  assert.ok(batch && provider.batching && provider.sendMany)
  const messages = batch.messages.map((message) => sampleMessage(contract, message))
  const keys = new Set(messages.map((message) => provider.batching?.key(message as never, account)))
  assert.equal(keys.size, 1, 'these may share a request')
  assert.equal(keys.has(undefined), false, 'these may share a request')
  const { world, asked } = scriptedWorld(contract, batch.answer)
  const outcomes = await provider.sendMany(world, messages, { ...account })
  assert.equal(asked.filter((one) => contract.before?.(one) === undefined).length, 1)
  assert.deepEqual(outcomes.map(kindOf), batch.kinds)
  for (const [status, kind] of [
    [401, 'misconfigured'],
    [429, 'busy'],
    [500, 'busy'],
  ] as const) {
    const whole = scriptedWorld(contract, { status })
    const all = await provider.sendMany(whole.world, messages, { ...account })
    const expected = contract.statuses?.[status] ?? kind
    assert.deepEqual(
      all.map(kindOf),
      messages.map(() => expected),
      String(status),
    )
  }
  for (const answer of bytesAnswers(batch.answer)) {
    const fuzzed = scriptedWorld(contract, answer)
    const all = await provider.sendMany(fuzzed.world, messages, { ...account })
    assert.equal(all.length, messages.length, 'as many outcomes as messages, whatever the vendor says')
    assert.doesNotMatch(JSON.stringify(fuzzed.world.logged), /failed without/)
  }
}
