// The page of all shared parts: complete and accessible while one develops, and absent from what is built.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Json } from '../../support/app.ts'
import { projectRoot } from '../../support/project-root.ts'
import { close, heading, scene, skip } from '../story.ts'

const dashboard = join(projectRoot, 'dashboard')
const files = (folder: string): string[] => readdirSync(folder).filter((name) => /\.tsx?$/.test(name))
/** Shown by another part, and never by itself. */
const inner = new Set(['bulk-dialog.tsx', 'chart-parts.tsx', 'table-head.tsx', 'template-editor.tsx'])

test('every shared part has a story', () => {
  const folder = join(dashboard, 'src', 'dev')
  const stories = files(folder).map((name) => readFileSync(join(folder, name), 'utf8'))
  const parts = files(join(dashboard, 'src', 'ui')).filter((name) => name.endsWith('.tsx') && !inner.has(name))
  assert.ok(parts.length > 15)
  assert.deepEqual(
    parts.filter((name) => !stories.some((text) => text.includes(`'../ui/${name}'`))),
    [],
  )
})

test('nothing of the stories is in what is built', { skip }, () => {
  const assets = join(dashboard, 'dist', 'assets')
  const built = readdirSync(assets)
    .filter((name) => /\.(?:js|css|html)$/.test(name))
    .map((name) => readFileSync(join(assets, name), 'utf8'))
  const has = (words: string) => built.some((text) => text.includes(words))
  assert.ok(has('Captured messages'), 'words of a page are found')
  const text = readFileSync(join(dashboard, 'src', 'dev', 'ui-page.tsx'), 'utf8')
  for (const words of ['dev/ui', 'Shared parts', 'A part without a story here']) {
    assert.ok(text.includes(words) || words === 'dev/ui', `${words} is what the page of parts says`)
    assert.ok(!has(words), `${words} is in what is built`)
  }
})

test('an address of the stories is no page of a service', { skip }, async () => {
  const visitor = await scene.visitor()
  await visitor.goto('dev/ui')
  await visitor.getByText('There is no such page').waitFor()
  assert.equal(await visitor.getByText('Shared parts').count(), 0)
  await close(visitor)
})

/** As `npm run dev` serves the pages: from their sources, on a port of their own. */
async function servePages(): Promise<{ url: string; stop: () => Promise<void> }> {
  const free = createServer().listen(0, '127.0.0.1')
  await once(free, 'listening')
  const { port } = free.address() as { port: number }
  free.close()
  await once(free, 'close')
  const child = spawn(
    process.execPath,
    [
      join(dashboard, 'node_modules', 'vite', 'bin', 'vite.js'),
      '--port',
      String(port),
      '--strictPort',
      '--host',
      '127.0.0.1',
    ],
    { cwd: dashboard, env: { ...process.env, POSTHORN_URL: scene.url }, stdio: ['ignore', 'pipe', 'inherit'] },
  )
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (text: Buffer) => text.toString().includes('127.0.0.1') && resolve())
    child.once('exit', () => reject(new Error('Vite ended')))
  })
  const stop = async () => {
    const ended = once(child, 'exit')
    child.kill()
    await ended
  }
  return { url: `http://127.0.0.1:${port}`, stop }
}

test('while one develops, all parts are on one page, accessible in both themes and on a phone', { skip }, async () => {
  const pages = await servePages()
  scene.friends.push(pages.url)
  try {
    for (const [width, dark] of [
      [1280, false],
      [360, true],
    ] as const) {
      const visitor: Json = await scene.visitor({ width, dark })
      await visitor.goto(`${pages.url}/dev/ui`)
      await heading(visitor, /^Shared parts/)
      await visitor.getByRole('figure', { name: 'Lines' }).waitFor()
      assert.ok((await visitor.getByRole('region').count()) > 15)
      // A skeleton that never becomes anything is one of the states.
      assert.deepEqual(await scene.violations(visitor), [])
      assert.equal(
        await visitor.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth'),
        0,
      )
      await visitor
        .getByRole('table', { name: 'Few things' })
        .getByRole('checkbox', { name: /Select all/ })
        .check()
      // A phone has them in a menu.
      if (width === 360) await visitor.getByRole('button', { name: 'Actions', exact: true }).click()
      await visitor.getByRole(width === 360 ? 'menuitem' : 'button', { name: 'Try', exact: true }).click()
      await visitor.getByRole('dialog').getByRole('button', { name: 'Try' }).click()
      await visitor.getByText('4 done, 2 failed').waitFor()
      await visitor.getByText('Thing 3 cannot be tried.').waitFor()
      await close(visitor)
    }
  } finally {
    await pages.stop()
  }
})
