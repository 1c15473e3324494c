// A page with a public inbox package on it, bundled as a page of its users is, served on an origin of its own.
import { existsSync } from 'node:fs'
import type { Server } from 'node:http'
import { createServer } from 'node:http'
import { join } from 'node:path'
import type { Loader, PluginBuild } from 'esbuild'
import { build } from 'esbuild'
import { packagesFolder } from './public-packages.ts'

/** A script of a page, with what it imports from the packages. */
export async function bundled(contents: string, loader: Loader = 'js'): Promise<string> {
  const built = await build({
    stdin: { contents, loader, resolveDir: packagesFolder },
    // What @novu/nextjs asks of its framework: where the page is, and how to leave it.
    plugins: [{ name: 'router', setup: withoutFramework }],
    ...{ bundle: true, write: false, format: 'iife', platform: 'browser', logLevel: 'error', jsx: 'automatic' },
    define: { 'process.env.NODE_ENV': '"production"', global: 'globalThis' },
  })
  return built.outputFiles?.[0]?.text ?? ''
}

function withoutFramework({ onResolve, onLoad }: PluginBuild): void {
  // Version 2 names what is for browsers in a way that only other bundlers follow.
  const client = join(packagesFolder, 'node_modules/@novu/react/dist/client/index.mjs')
  if (existsSync(client)) onResolve({ filter: /^@novu\/react$/ }, () => ({ path: client }))
  onResolve({ filter: /^next\// }, ({ path }) => ({ path, namespace: 'router' }))
  onLoad({ filter: /.*/, namespace: 'router' }, () => ({
    contents:
      'export const useRouter = () => ({ push: (url) => { location.href = url } }); export default { useRouter }',
  }))
}

export class PackagePage {
  /** What the page runs. */
  script = ''
  /** What it finds as `globalThis.options`. */
  options = {}
  readonly #server: Server = createServer((request, response) => {
    const isScript = request.url === '/page.js'
    response.setHeader('content-type', `text/${isScript ? 'javascript' : 'html'}; charset=utf-8`)
    const page = `<!doctype html><html lang="en"><body style="margin:16px"><div id="root"></div>
    <script>globalThis.options = ${JSON.stringify(this.options)}</script><script src="/page.js"></script></body></html>`
    response.end(isScript ? this.script : page)
  })

  listen(): Promise<void> {
    return new Promise((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
  }

  get url(): string {
    const place = this.#server.address()
    return `http://127.0.0.1:${typeof place === 'object' ? place?.port : ''}/`
  }

  close(): void {
    this.#server.close()
  }
}
