// Schemas are compiled when they are first needed; here every one of them is needed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { routes } from '../registry.ts'
import { serializerCompiler, validatorCompiler } from './validator.ts'

const at = { method: 'GET', url: '/' }

/** Something that no schema of ours breaks on: whether it fits is not what is asked. */
const something = {}

test('every schema of every route can be compiled, those that judge and those that write', () => {
  for (const { params, query, body, replies } of routes) {
    for (const [httpPart, schema] of Object.entries({ params, querystring: query, body })) {
      if (schema === undefined) continue
      assert.equal(typeof validatorCompiler({ ...at, schema, httpPart })(structuredClone(something)), 'boolean')
    }
    for (const [httpStatus, schema] of Object.entries(replies)) {
      if (schema !== null) assertWritable(() => serializerCompiler({ ...at, schema, httpStatus })(something))
    }
  }
})

/** It was compiled, whether or not it then found what it looks for. */
function assertWritable(write: () => string): void {
  try {
    write()
  } catch (error) {
    assert.match((error as Error).message, /is required|does not match schema definition|cannot be converted/)
  }
}

test('a schema that is none is reported when it is first needed, and not before', () => {
  const validate = validatorCompiler({ ...at, httpPart: 'body', schema: { type: 'text' } })
  assert.throws(() => validate({}), /schema is invalid/)
  const serialize = serializerCompiler({ ...at, schema: { type: 'object', properties: { a: { $ref: 'nowhere#' } } } })
  assert.throws(() => serialize({ a: 1 }), /nowhere/)
})

test('a body is taken at its word, a query is read as what was meant; mistakes are named', () => {
  const schema = { type: 'object', properties: { limit: { type: 'integer', minimum: 1 } } }
  const body = validatorCompiler({ ...at, httpPart: 'body', schema }) as Judge
  const query = validatorCompiler({ ...at, httpPart: 'querystring', schema }) as Judge
  assert.equal(body({ limit: '5' }), false)
  assert.equal(body.errors?.[0]?.instancePath, '/limit')
  assert.equal(body({ limit: 5 }), true)
  assert.equal(body.errors, null)
  assert.equal(query({ limit: '5' }), true)
  assert.equal(query({ limit: '0' }), false)
})

type Judge = ((value: unknown) => boolean) & { errors: { instancePath: string }[] | null }
