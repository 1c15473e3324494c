// Part of every provider's contract: what is asked before a message leaves.
import assert from 'node:assert/strict'
import type { Outcome } from '../../src/domain/delivery/outcome.ts'
import { leavingWorld } from '../../src/world/outbound/may-leave.ts'
import type { World } from '../../src/world/world.ts'
import { scriptedWorld } from './contract-world.ts'
import type { AskedRequest, ContractAnswer, ProviderContract } from './provider-contract.ts'
import { sampleMessage } from './provider-contract.ts'

export async function asksBeforeItLeaves(contract: ProviderContract): Promise<void> {
  const { provider, account, success, batch } = contract
  const sendOne = async (world: World): Promise<readonly (Outcome | undefined)[]> => [
    await provider.send?.(world, sampleMessage(contract), { ...account }),
  ]
  const sendMany = async (world: World): Promise<readonly (Outcome | undefined)[]> =>
    (await provider.sendMany?.(
      world,
      (batch?.messages ?? []).map((message) => sampleMessage(contract, message)),
      { ...account },
    )) ?? []
  await asksOnce(contract, success.answer, sendOne)
  if (batch !== undefined) await asksOnce(contract, batch.answer, sendMany)
}

async function asksOnce(
  contract: ProviderContract,
  answer: ContractAnswer,
  send: (world: World) => Promise<readonly (Outcome | undefined)[]>,
): Promise<void> {
  for (const isAllowed of [true, false]) {
    const order: string[] = []
    const answering = (_asked: AskedRequest): ContractAnswer => {
      order.push('send')
      return answer
    }
    const { world, asked } = scriptedWorld(contract, answering)
    const mayLeave = (): boolean => {
      order.push('asked')
      return isAllowed
    }
    const outcomes = await send(leavingWorld(world, mayLeave))
    assert.deepEqual(order, isAllowed ? ['asked', 'send'] : ['asked'])
    if (!isAllowed) {
      assert.deepEqual(new Set(outcomes.map((outcome) => outcome?.kind)), new Set(['withheld']))
      assert.deepEqual(
        asked.filter((one) => contract.before?.(one) === undefined),
        [],
      )
    }
  }
}
