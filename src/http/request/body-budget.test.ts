// What bodies may take: one environment has its share, and is no reason for others to be refused.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BodyBudget } from './body-budget.ts'
import { createBodyBudget, mediumBodyBytes } from './body-budget.ts'

/** Whoever has to wait is refused at once. */
const budgetWithoutPatience = (): BodyBudget => createBodyBudget({ sleep: async () => {} })

const isBusy = { name: 'Problem', status: 503 }

/** As much as it is given. */
async function hoard(take: () => Promise<unknown>): Promise<number> {
  for (let taken = 0; ; taken += 1) {
    try {
      await take()
    } catch {
      return taken
    }
  }
}

test('who announces many bodies of a mebibyte and sends nothing keeps no one else out', async () => {
  const budget = budgetWithoutPatience()
  assert.equal(await hoard(() => budget.takeBytes('greedy', mediumBodyBytes)), 8)
  await assert.rejects(budget.takeBytes('greedy', mediumBodyBytes), isBusy)
  for (let count = 0; count < 8; count += 1) await budget.takeBytes('honest', 300_000)
})

test('who has many values parsed at once keeps no one else out', async () => {
  const budget = budgetWithoutPatience()
  assert.equal(await hoard(() => budget.takeValues('greedy', 500_000)), 6)
  for (let count = 0; count < 6; count += 1) await budget.takeValues('honest', 500_000)
  await assert.rejects(budget.takeValues('third', 500_000), isBusy)
})

test('a body of as many values as any may have is parsed while no other of its environment is', async () => {
  const budget = budgetWithoutPatience()
  const giveBack = await budget.takeValues('one', 4_000_000)
  await assert.rejects(budget.takeValues('one', 500_000), isBusy)
  await budget.takeValues('other', 1_500_000)
  giveBack()
  await budget.takeValues('one', 500_000)
})
