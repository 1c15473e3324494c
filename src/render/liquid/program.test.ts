// Compiled templates: the same as LiquidJS itself makes of them, whatever they are and whatever is put into them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { renderPlainly } from '../../../test/support/plain-liquid.ts'
import { createRandom, fuzzRounds, fuzzSeed } from '../../../test/support/random.ts'
import { randomPayload, randomTemplate } from '../../../test/support/random-templates.ts'
import { sceneNow, scopeWith } from '../../../test/support/render-scene.ts'
import { RenderError } from '../../domain/workflows/rendering.ts'
import { Budget } from '../limits.ts'
import { compile } from '../template.ts'

const seed = fuzzSeed()
const templatesTried = fuzzRounds(1_000)
const payloadsTried = 3

type Outcome = { readonly out: string } | { readonly message: string }

function outcomeOf(render: () => string): Outcome {
  try {
    return { out: render() }
  } catch (error) {
    if (error instanceof RenderError) return { message: error.message }
    throw error
  }
}

const budget = () => new Budget(() => sceneNow)

test('a compiled template gives what LiquidJS gives, or fails with the same words', () => {
  const random = createRandom(seed)
  let rendered = 0
  for (let count = 0; count < templatesTried; count += 1) {
    const text = randomTemplate(random)
    const mode = random.oneOf(['html', 'plain'] as const)
    let compiled: ReturnType<typeof compile>
    try {
      compiled = compile('value', text, mode)
    } catch {
      continue
    }
    for (let time = 0; time < payloadsTried; time += 1) {
      const scope = scopeWith(randomPayload(random))
      const plain = outcomeOf(() => renderPlainly(text, mode, scope, budget()))
      const fast = outcomeOf(() => compiled.render(scope, budget()))
      assert.deepEqual(fast, plain, `seed ${seed}: ${JSON.stringify({ mode, text, payload: scope.payload })}`)
      if ('out' in plain) rendered += 1
    }
  }
  assert.ok(rendered > templatesTried, `only ${rendered} were rendered`)
})
