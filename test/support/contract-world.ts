// A network that is a script, for the contracts of providers: what was asked, and what came of it.
import assert from 'node:assert/strict'
import type { Credentials } from '../../src/domain/delivery/integration.ts'
import type { Outcome } from '../../src/domain/delivery/outcome.ts'
import type { OutboundMessage } from '../../src/domain/messages/outbound-message.ts'
import { OutboundError } from '../../src/world/outbound/outbound-error.ts'
import type { OutboundAnswer, OutboundRequest } from '../../src/world/world.ts'
import { createFakeWorld } from './fake-world.ts'
import type { AskedRequest, ContractAnswer, ProviderContract } from './provider-contract.ts'
import { sampleMessage } from './provider-contract.ts'

interface Sending {
  readonly outcome: Outcome
  readonly asked: readonly AskedRequest[]
  readonly logged: string
}

type Answering = ContractAnswer | ((asked: AskedRequest) => ContractAnswer | Promise<OutboundAnswer>)

/** Sends through a scripted network: what was asked, and what came of it. */
export async function send(
  contract: ProviderContract,
  answering: Answering,
  {
    message = sampleMessage(contract),
    account = contract.account,
  }: { message?: OutboundMessage; account?: Credentials } = {},
): Promise<Sending> {
  const { world, asked } = scriptedWorld(contract, answering)
  const outcome = await contract.provider.send?.(world, message, { ...account })
  assert.ok(outcome, `${contract.provider.id} cannot send`)
  return { outcome, asked, logged: JSON.stringify(world.logged) }
}

export function scriptedWorld(contract: ProviderContract, answering: Answering) {
  const asked: AskedRequest[] = []
  const world = createFakeWorld()
  world.fetch = async (request, { mayLeave } = {}) => {
    const plain = await askedOf(request)
    if (mayLeave !== undefined && !(await mayLeave())) throw new OutboundError('withheld', 'the call was withheld')
    asked.push(plain)
    const before = contract.before?.(plain)
    if (before !== undefined) return answerOf(before)
    const answer = typeof answering === 'function' ? await answering(plain) : answering
    return 'text' in answer || answer.headers instanceof Headers
      ? (answer as OutboundAnswer)
      : answerOf(answer as ContractAnswer)
  }
  return { world, asked }
}

export async function askedOf(request: Request | OutboundRequest): Promise<AskedRequest> {
  if (request instanceof Request) {
    const { url, method, headers } = request
    return { url, method, headers: Object.fromEntries(headers), body: await request.text() }
  }
  const { url, method, headers, body = '' } = request
  return { url, method, headers, body: body.toString() }
}

export function answerOf({ status, headers = {}, body = '' }: ContractAnswer): OutboundAnswer {
  return { status, headers: new Headers(headers), body: typeof body === 'string' ? body : JSON.stringify(body) }
}
