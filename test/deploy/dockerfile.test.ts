// The Dockerfile and what its build sees: two stages, an ordinary user, a health check, nothing secret, and order that keeps layers.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { projectRoot } from '../support/project-root.ts'
import { readProjectFile } from '../tidy/rules/sources.ts'

interface Instruction {
  readonly name: string
  readonly rest: string
}

/** Without comments, with continued lines as one. */
function instructionsOf(text: string): Instruction[] {
  const lines = text.replace(/^\s*#.*\n/gm, '').replace(/\\\n\s*/g, ' ')
  return lines.split('\n').flatMap((line) => {
    const [, name, rest] = /^([A-Z]+) (.*)$/.exec(line) ?? []
    assert.ok(name !== undefined || line.trim() === '', `not an instruction: ${line}`)
    return name === undefined ? [] : [{ name, rest: rest ?? '' }]
  })
}

/** What is wrong with it, each in a sentence. */
function mistakesOf(text: string): string[] {
  const all = instructionsOf(text)
  const named = (name: string) => all.filter((one) => one.name === name).map(({ rest }) => rest)
  const last = all.slice(all.map(({ name }) => name).lastIndexOf('FROM'))
  const mistakes: string[] = []
  const must = (isSo: boolean, sentence: string) => isSo || mistakes.push(sentence)
  const images = [
    ...named('ARG').filter((one) => /IMAGE/.test(one)),
    ...named('FROM').filter((one) => !one.startsWith('$')),
  ]
  must(
    images.length > 0 && images.every((one) => /:\d[\w.-]*@sha256:[0-9a-f]{64}(?: AS \w+)?$/.test(one)),
    'an image without a version and its digest',
  )
  must(named('FROM').length > 1, 'one stage: what builds is in the image')
  must(
    last.some(({ name, rest }) => name === 'USER' && /^[1-9]\d*:[1-9]\d*$/.test(rest)),
    'no ordinary user, by number',
  )
  must(
    last.some(({ name }) => name === 'HEALTHCHECK'),
    'no health check',
  )
  must(
    last.some(({ name, rest }) => name === 'ENTRYPOINT' && rest.startsWith('["')),
    'no entry point in the exec form',
  )
  must(
    !last.some(({ name, rest }) => name === 'COPY' && !rest.startsWith('--from=')),
    'the last stage copies from the clone',
  )
  must(named('ADD').length === 0, 'ADD unpacks and downloads: COPY does what it says')
  must(
    !all.some(({ name, rest }) => /^(?:ENV|ARG)$/.test(name) && /key|secret|password|token/i.test(rest)),
    'a secret in a layer',
  )
  must(
    !named('RUN').some((one) => /curl|wget|sudo|apt-get upgrade|--unsafe-perm/.test(one)),
    'a RUN that fetches by itself',
  )
  must(
    named('RUN').every((one) => !/npm (?:ci|install|prune)/.test(one) || one.includes('--ignore-scripts')),
    'install scripts are run',
  )
  const install = all.findIndex(({ name, rest }) => name === 'RUN' && rest.startsWith('npm ci'))
  const sources = all.findIndex(({ name, rest }) => name === 'COPY' && /\bsrc\b/.test(rest))
  must(install !== -1 && install < sources, 'sources are copied before what is installed: each change installs again')
  return mistakes
}

const dockerfile = readProjectFile('Dockerfile')

test('the Dockerfile has none of the usual mistakes', () => {
  assert.deepEqual(mistakesOf(dockerfile), [])
})

test('each of those mistakes is found', () => {
  const cases: readonly (readonly [string | RegExp, string, RegExp])[] = [
    [/NODE_IMAGE=\S+\nFROM/, 'NODE_IMAGE=node:latest\nFROM', /without a version/],
    [/(NODE_IMAGE=[^@\s]+)@\S+\nFROM/, '$1\nFROM', /without a version and its digest/],
    ['USER 1000:1000', 'USER node', /ordinary user/],
    ['USER 1000:1000\n', '', /ordinary user/],
    [/HEALTHCHECK[^\n]*\\\n[^\n]*\n/, '', /health check/],
    [/ENTRYPOINT.*/, 'ENTRYPOINT node scripts/posthorn.mjs', /exec form/],
    ['COPY --from=build /app/dist', 'COPY dist', /copies from the clone/],
    ['COPY tsconfig.json', 'ADD tsconfig.json', /ADD/],
    ['NODE_ENV=production', 'API_TOKEN=x NODE_ENV=production', /secret/],
    ['npm ci --ignore-scripts', 'npm ci', /install scripts/],
    ['COPY package.json', 'COPY src ./src\nCOPY package.json', /installs again/],
    ['RUN node scripts/build.mjs', 'RUN curl x | sh && node scripts/build.mjs', /fetches/],
  ]
  for (const [from, to, expected] of cases) {
    const changed = dockerfile.replace(from, to)
    assert.notEqual(changed, dockerfile, String(from))
    assert.match(mistakesOf(changed).join('\n'), expected)
  }
})

test('the build sees every file that it copies, and neither data, keys nor tests', () => {
  const rules = readProjectFile('.dockerignore')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
  assert.equal(rules[0], '*')
  const allowed = new Set(rules.filter((line) => line.startsWith('!')).map((line) => line.slice(1)))
  const copied = instructionsOf(dockerfile)
    .filter(({ name, rest }) => name === 'COPY' && !rest.startsWith('--'))
    .flatMap(({ rest }) => rest.split(' ').slice(0, -1))
  assert.deepEqual(
    copied.filter((path) => !allowed.has(path) || !existsSync(join(projectRoot, path))),
    [],
  )
  assert.deepEqual(
    [...allowed].filter((path) => !copied.includes(path)),
    [],
  )
  for (const rule of ['**/*.test.ts', 'dashboard/node_modules', 'dashboard/dist']) assert.ok(rules.includes(rule), rule)
})
